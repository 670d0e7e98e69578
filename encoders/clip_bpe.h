// Byte-level byte pair encoding of openai/CLIP (simple_tokenizer.py), which EVA-CLIP and
// open_clip share.
#pragma once

#include <filesystem>
#include <memory>

#include "encoders/tokenizer.h"

namespace probe {

// `file`: merges, one "left right" a line after a first line that holds "#version", as
// text or gzip, at most 48,894 of them (the rest of openai's file is not used, as there).
// Ids: 256 bytes, 256 bytes that end a word, one a merge, start mark, end mark; 49,408 in
// all with the full file. Throws Error(model) naming the file if a line is no merge of
// known symbols, or if `spec` numbers the marks otherwise.
std::unique_ptr<Tokenizer> load_clip_bpe(const std::filesystem::path& file,
                                         const TokenizerSpec& spec);

}  // namespace probe

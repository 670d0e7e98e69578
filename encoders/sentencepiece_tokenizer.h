// SentencePiece as the text towers of SigLIP and SigLIP 2 use it.
#pragma once

#include <filesystem>
#include <memory>

#include "encoders/tokenizer.h"

namespace probe {

// `file`: a SentencePiece model (spiece.model, tokenizer.model). Ids are the pieces of the
// cleaned text and the end mark; no mask, the pad id fills up (fit_to_context).
// Throws Error(model) naming the file if it is no such model or lacks the ids of `spec`.
std::unique_ptr<Tokenizer> load_sentencepiece(const std::filesystem::path& file,
                                              const TokenizerSpec& spec);

}  // namespace probe

// Text to token ids, equal to the reference tokenizers (openai/CLIP with ftfy;
// SentencePiece as SigLIP uses it).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "encoders/spec.h"

namespace probe {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Ids of `text` (UTF-8; invalid bytes become U+FFFD), start and end marks included,
  // neither cut nor padded.
  virtual std::vector<std::int64_t> encode(const std::string& text) const = 0;
};

// Loads the tokenizer file of a bundle folder.
// Throws Error(model) naming the file if it is damaged or of another kind.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder,
                                          const TokenizerSpec& spec);

// Exactly `context_length` ids: cut so that the end mark stays last, or padded.
// `was_cut` (may be null) says whether text was lost.
std::vector<std::int64_t> fit_to_context(std::vector<std::int64_t> ids,
                                         const TokenizerSpec& spec, int context_length,
                                         bool* was_cut);

}  // namespace probe

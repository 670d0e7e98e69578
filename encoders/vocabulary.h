// Texts to the ids a text tower takes, and what is lost on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "encoders/tokenizer.h"

namespace probe {

class Vocabulary {
 public:
  // Loads the tokenizer and the list of known ids of a bundle with a text tower.
  // Throws Error(model) naming the file that is damaged.
  explicit Vocabulary(const EncoderSpec& spec);

  // Exactly context_length ids. Appends to `warnings` if the text has words the tower
  // never learnt, or is cut.
  std::vector<std::int64_t> check(const std::string& text,
                                  std::vector<std::string>& warnings) const;

 private:
  std::string encoder_;
  TextSpec text_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unordered_set<std::int64_t> known_ids_;  // empty: every id is known
};

}  // namespace probe

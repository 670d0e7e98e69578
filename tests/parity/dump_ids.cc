// Parity tool: texts in, token ids out, so that a script can compare them with the
// reference tokenizers.
//
// dump_ids TYPE FOLDER FILE START END PAD CLEAN CANONICALIZE LOWERCASE < texts > ids
//   TYPE clip_bpe or sentencepiece; START, END and PAD are ids; CLEAN ftfy or none;
//   CANONICALIZE siglip or none; LOWERCASE 1 or 0.
//   texts: each "bytes\n" and then so many bytes. ids: one line a text.
// dump_ids clean < texts: the text as clean_as_clip leaves it, in the same framing.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "encoders/text_cleaning.h"
#include "encoders/tokenizer.h"
#include "encoders/unicode_text.h"

namespace {

bool next_text(std::string& text) {
  std::string line;
  if (!std::getline(std::cin, line)) return false;
  text.resize(std::stoul(line));
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!std::cin) throw std::runtime_error("too few bytes");
  return true;
}

void dump_clean_texts() {
  for (std::string text; next_text(text);) {
    const std::string clean =
        probe::encode_utf8(probe::clean_as_clip(probe::decode_utf8(text)));
    std::cout << clean.size() << '\n' << clean;
  }
}

void dump_ids(char** words) {
  probe::TokenizerSpec spec;
  spec.type = std::string(words[1]) == "clip_bpe" ? probe::TokenizerType::clip_bpe
                                                  : probe::TokenizerType::sentencepiece;
  spec.file = words[3];
  spec.start_id = std::atoll(words[4]);
  spec.end_id = std::atoll(words[5]);
  spec.pad_id = std::atoll(words[6]);
  spec.clean_ftfy = std::string(words[7]) == "ftfy";
  spec.canonicalize_siglip = std::string(words[8]) == "siglip";
  spec.lowercase = std::string(words[9]) == "1";
  const auto tokenizer = probe::load_tokenizer(words[2], spec);
  for (std::string text; next_text(text);) {
    std::string line;
    for (const std::int64_t id : tokenizer->encode(text)) line += std::to_string(id) + ' ';
    line.back() = '\n';
    std::cout << line;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string(argv[1]) == "clean") {
      dump_clean_texts();
    } else if (argc == 10) {
      dump_ids(argv);
    } else {
      throw std::runtime_error("expected 1 or 9 arguments; see the head of dump_ids.cc");
    }
  } catch (const std::exception& error) {
    std::cerr << "dump_ids: " << error.what() << '\n';
    return 1;
  }
}

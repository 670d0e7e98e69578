#include "encoders/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <cstddef>

#include "encoders/text_cleaning.h"
#include "encoders/unicode_text.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"

namespace probe {
namespace {

constexpr std::size_t kMaxModelBytes = std::size_t{64} << 20;

class SentencePiece : public Tokenizer {
 public:
  SentencePiece(const std::filesystem::path& file, const TokenizerSpec& spec) : spec_(spec) {
    const std::string model = read_file(file, kMaxModelBytes);
    const auto status = processor_.LoadFromSerializedProto(model);
    if (!status.ok() || processor_.GetPieceSize() < 1) {
      throw Error(ErrorKind::model,
                  file.string() + ": expected a SentencePiece model, got " +
                      (status.ok() ? "no pieces" : first_line(status.ToString())));
    }
    const std::int64_t most = std::max({spec.start_id, spec.end_id, spec.pad_id});
    if (most >= processor_.GetPieceSize()) {
      throw Error(ErrorKind::model,
                  file.string() + ": expected a piece for every id of encoder.json up to " +
                      std::to_string(most) + ", got " +
                      std::to_string(processor_.GetPieceSize()) + " pieces");
    }
  }

  std::vector<std::int64_t> encode(const std::string& text) const override {
    std::u32string clean = decode_utf8(text);
    if (spec_.clean_ftfy) clean = clean_as_clip(clean);
    if (spec_.canonicalize_siglip) clean = canonicalize_as_siglip(clean);
    if (spec_.lowercase) clean = to_lower(clean);
    std::vector<int> pieces;
    const auto status = processor_.Encode(encode_utf8(clean), &pieces);
    if (!status.ok()) {
      throw Error(ErrorKind::model,
                  "SentencePiece: expected ids, got " + first_line(status.ToString()));
    }
    std::vector<std::int64_t> ids;
    if (spec_.start_id >= 0) ids.push_back(spec_.start_id);
    ids.insert(ids.end(), pieces.begin(), pieces.end());
    ids.push_back(spec_.end_id);
    return ids;
  }

 private:
  TokenizerSpec spec_;
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace

std::unique_ptr<Tokenizer> load_sentencepiece(const std::filesystem::path& file,
                                              const TokenizerSpec& spec) {
  return std::make_unique<SentencePiece>(file, spec);
}

}  // namespace probe

// Text cleaning and both tokenizers, with the vocabularies of tests/data. First byte: which
// options of the specification.
#include <algorithm>
#include <vector>

#include "encoders/text_cleaning.h"
#include "encoders/tokenizer.h"
#include "encoders/unicode_text.h"
#include "probe/core/utf8.h"
#include "tests/fuzz/fuzz_input.h"

namespace probe {
namespace {

constexpr int kContextLength = 77;

struct Vocabulary {
  TokenizerSpec spec;
  std::int64_t size = 0;
  std::unique_ptr<Tokenizer> tokenizer;
};

Vocabulary load(TokenizerSpec spec, const std::string& folder, std::int64_t size) {
  return {spec, size, load_tokenizer(std::string(PROBE_SOURCE_DIR) + "/tests/data/" + folder, spec)};
}

std::vector<Vocabulary> load_all() {
  TokenizerSpec clip{TokenizerType::clip_bpe, "merges.txt.gz", true, true, false, 49406, 49407, 0};
  TokenizerSpec plain = clip;
  plain.clean_ftfy = plain.lowercase = false;
  TokenizerSpec siglip{TokenizerType::sentencepiece, "test_model.model", true, false, true, -1, 2, 2};
  TokenizerSpec raw = siglip;
  raw.canonicalize_siglip = raw.lowercase = false;
  std::vector<Vocabulary> all;
  all.push_back(load(clip, "clip_bpe", 49408));
  all.push_back(load(plain, "clip_bpe", 49408));
  all.push_back(load(siglip, "sentencepiece", 1000));
  all.push_back(load(raw, "sentencepiece", 1000));
  return all;
}

void check_ids(const Vocabulary& vocabulary, const std::string& text) {
  const std::vector<std::int64_t> ids = vocabulary.tokenizer->encode(text);
  const TokenizerSpec& spec = vocabulary.spec;
  for (const std::int64_t id : ids) FUZZ_EXPECT(id >= 0 && id < vocabulary.size);
  FUZZ_EXPECT(!ids.empty() && ids.back() == spec.end_id);
  FUZZ_EXPECT(spec.start_id < 0 || ids.front() == spec.start_id);
  bool was_cut = false;
  const std::vector<std::int64_t> row = fit_to_context(ids, spec, kContextLength, &was_cut);
  FUZZ_EXPECT(row.size() == kContextLength);
  FUZZ_EXPECT(was_cut == (ids.size() > kContextLength));
  FUZZ_EXPECT(std::find(row.begin(), row.end(), spec.end_id) != row.end());
}

void check_cleaning(const std::string& text) {
  const std::u32string points = decode_utf8(text);
  for (const std::u32string& clean :
       {points, fix_text(points), clean_as_clip(points), canonicalize_as_siglip(points)}) {
    const std::string bytes = encode_utf8(clean);
    FUZZ_EXPECT(!first_invalid_utf8(bytes));
    FUZZ_EXPECT(decode_utf8(bytes) == clean);
  }
  const std::u32string canonical = canonicalize_as_siglip(points);
  FUZZ_EXPECT(canonicalize_as_siglip(canonical) == canonical);
}

}  // namespace
}  // namespace probe

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probe;
  static const std::vector<Vocabulary> vocabularies = load_all();
  const fuzz::Input input(data, size);
  const std::string text(input.rest);
  fuzz::accept_error([&] {
    const unsigned which = input.choice % 5;
    which < vocabularies.size() ? check_ids(vocabularies[which], text) : check_cleaning(text);
  });
  return 0;
}

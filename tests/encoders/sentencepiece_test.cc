// Against sentencepiece in Python: golden/siglip_ids.json, made by tests/parity/make_ids.py
// with the 1,000-piece model of tests/data/sentencepiece.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "encoders/sentencepiece_tokenizer.h"
#include "tests/encoders/golden_json.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using Ids = std::vector<std::int64_t>;

const std::filesystem::path kFolder =
    std::string(PROBE_SOURCE_DIR) + "/tests/data/sentencepiece";

// As for SigLIP, but with the numbers of the test model: 2 ends and pads.
TokenizerSpec siglip_spec() {
  TokenizerSpec spec;
  spec.type = TokenizerType::sentencepiece;
  spec.file = "test_model.model";
  spec.clean_ftfy = false;
  spec.canonicalize_siglip = true;
  spec.end_id = spec.pad_id = 2;
  return spec;
}

const Tokenizer& siglip() {
  static const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(kFolder, siglip_spec());
  return *tokenizer;
}

TEST(SentencePiece, GivesTheIdsOfTheReference) {
  const nlohmann::json golden = read_golden("siglip_ids.json");
  ASSERT_GT(golden["rows"].size(), 300u);
  for (const nlohmann::json& row : golden["rows"]) {
    Ids want = row[2].get<Ids>();
    want.push_back(2);
    EXPECT_EQ(siglip().encode(row[0]), want) << row[0];
  }
}

TEST(Bugcase11, RawAndCanonicalTextHaveTheSameIds) {
  EXPECT_EQ(siglip().encode("A photo of a Red-Fox, sitting_on the MAT."),
            siglip().encode("a photo of a redfox sitting on the mat"));
  EXPECT_EQ(siglip().encode("RED FOX"), siglip().encode("red fox"));
  EXPECT_NE(siglip().encode("red foxes"), siglip().encode("red fox"));
}

TEST(Bugcase11, TheSpecDecidesWhetherToCanonicalize) {
  TokenizerSpec spec = siglip_spec();
  spec.canonicalize_siglip = false;
  spec.lowercase = false;
  const auto plain = load_tokenizer(kFolder, spec);
  EXPECT_NE(plain->encode("Red Fox."), plain->encode("red fox"));
  spec.lowercase = true;
  const auto lower = load_tokenizer(kFolder, spec);
  EXPECT_EQ(lower->encode("Red Fox"), lower->encode("red fox"));
  EXPECT_NE(lower->encode("red fox."), lower->encode("red fox"));
}

// A text's ids do not depend on what else is encoded, and there are always 64.
TEST(Bugcase13, EveryRowHas64IdsAndPadsWithItsEnd) {
  std::string caption;
  for (int i = 0; i < 100; ++i) caption += "the quick brown fox ";
  for (const std::string& text : {std::string("fox"), std::string(), caption}) {
    bool cut = false;
    const Ids ids = fit_to_context(siglip().encode(text), siglip_spec(), 64, &cut);
    ASSERT_EQ(ids.size(), 64u);
    EXPECT_EQ(ids.back(), 2);
    EXPECT_EQ(cut, text == caption);
  }
  const Ids empty = fit_to_context(siglip().encode(""), siglip_spec(), 64, nullptr);
  EXPECT_EQ(empty, Ids(64, 2));
  const Ids fox = fit_to_context(siglip().encode("fox"), siglip_spec(), 64, nullptr);
  EXPECT_GT(std::count(fox.begin(), fox.end(), 2), 55);
  EXPECT_NE(fox[0], 2);
}

TEST(SentencePiece, RefusesWhatIsNoModelByName) {
  const test::TempDir temp;
  TokenizerSpec spec = siglip_spec();
  temp.write(spec.file, "#version: 0.2\ni n\n");
  EXPECT_PROBE_ERROR(load_tokenizer(temp.path(), spec), ErrorKind::model,
                     "test_model.model: expected a SentencePiece model");
  const std::string whole = test::slurp(kFolder / spec.file);
  temp.write(spec.file, whole.substr(0, whole.size() / 2));
  EXPECT_PROBE_ERROR(load_tokenizer(temp.path(), spec), ErrorKind::model,
                     "test_model.model: expected a SentencePiece model");
  temp.write(spec.file, "");
  EXPECT_PROBE_ERROR(load_tokenizer(temp.path(), spec), ErrorKind::model,
                     "test_model.model: expected a SentencePiece model");
  spec.end_id = 1000;
  EXPECT_PROBE_ERROR(
      load_tokenizer(kFolder, spec), ErrorKind::model,
      "expected a piece for every id of encoder.json up to 1000, got 1000 pieces");
}

}  // namespace
}  // namespace probe

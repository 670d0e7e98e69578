// Against openai/CLIP's simple_tokenizer with ftfy: the ids of BUGCASES section b, and
// golden/clip_ids.json, made by tests/parity/make_ids.py.
#include "encoders/clip_bpe.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "encoders/clip_words.h"
#include "encoders/unicode_text.h"
#include "tests/encoders/golden_json.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using Ids = std::vector<std::int64_t>;

const std::filesystem::path kFolder = std::string(PROBE_SOURCE_DIR) + "/tests/data/clip_bpe";

TokenizerSpec clip_spec() {
  TokenizerSpec spec;
  spec.file = "merges.txt.gz";
  spec.start_id = 49406;
  spec.end_id = 49407;
  return spec;
}

const Tokenizer& clip() {
  static const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(kFolder, clip_spec());
  return *tokenizer;
}

// Ids between the start and the end mark.
Ids inner(const std::string& text) {
  Ids ids = clip().encode(text);
  EXPECT_GE(ids.size(), 2u);
  EXPECT_EQ(ids.front(), 49406);
  EXPECT_EQ(ids.back(), 49407);
  return {ids.begin() + 1, ids.end() - 1};
}

TEST(ClipBpe, GivesTheIdsOfTheReference) {
  const nlohmann::json golden = read_golden("clip_ids.json");
  ASSERT_GT(golden["rows"].size(), 300u);
  for (const nlohmann::json& row : golden["rows"]) {
    EXPECT_EQ(inner(row[0]), row[1].get<Ids>()) << row[0];
  }
}

TEST(Bugcase10, TextIsCleanedAsInOpenaiClip) {
  const std::pair<const char*, Ids> cases[] = {
      {"We could've seen it", {649, 1510, 1200, 2041, 585}},
      {"We could\u2019ve seen it", {649, 1510, 1200, 2041, 585}},
      {"cr\u00E8me br\u00FBl\u00E9e", {1075, 12138, 614, 711, 127, 119, 75, 13489}},
      {"cre\u0300me bru\u0302le\u0301e", {1075, 12138, 614, 711, 127, 119, 75, 13489}},
      {"salt &amp;amp; pepper", {6611, 261, 8253}},
      {"salt & pepper", {6611, 261, 8253}},
      {"M\u00C3\u00BCnchen at night", {41235, 8983, 536, 930}},
      {"M\u00FCnchen at night", {41235, 8983, 536, 930}},
      {" Red\u00A0\u3000 Fox \n", {736, 3240}},
      {"\uFF32\uFF25\uFF24 fox", {736, 3240}},
      {"a red \uFB02ag", {320, 736, 4859}},
      {"31 415", {274, 272, 275, 272, 276}},
      {"314 15", {274, 272, 275, 272, 276}},
      {"a photo of a \U0001F98A", {320, 1125, 539, 320, 6040, 488}},
      {"&#129418; cub", {6040, 488, 19972}},
      {"\u0130zmir", {328, 16384, 89, 6585}},
      {"two\u200Bfoxes", {1237, 9844, 24145}},
  };
  for (const auto& [text, ids] : cases) EXPECT_EQ(inner(text), ids) << text;
  EXPECT_EQ(inner(std::string("x\0y", 3)), (Ids{11443}));
}

TEST(Bugcase14, WordStartsSpecialTokensAndEmptyTexts) {
  EXPECT_EQ(inner("red fox"), (Ids{736, 3240}));
  EXPECT_EQ(inner("<|endoftext|> red fox"), (Ids{49407, 736, 3240}));
  EXPECT_EQ(clip().encode(""), (Ids{49406, 49407}));
  EXPECT_EQ(clip().encode("   "), (Ids{49406, 49407}));
  EXPECT_EQ(inner("!"), (Ids{256}));
  EXPECT_EQ(inner("fox_den"), (Ids{3240, 318, 1181}));
  EXPECT_EQ(inner("\u72D0\u72F8 photo"), (Ids{163, 233, 238, 163, 233, 372, 1125}));
}

TEST(Bugcase14, ZerosAfterTheEndMarkArePadding) {
  bool cut = true;
  const Ids ids = fit_to_context(clip().encode("!"), clip_spec(), 77, &cut);
  ASSERT_EQ(ids.size(), 77u);
  EXPECT_FALSE(cut);
  EXPECT_EQ(Ids(ids.begin(), ids.begin() + 4), (Ids{49406, 256, 49407, 0}));
  EXPECT_EQ(ids.back(), 0);
}

TEST(FitToContext, KeepsTheEndMarkLast) {
  bool cut = false;
  const Ids ids = fit_to_context({1, 2, 3, 4, 49407}, clip_spec(), 4, &cut);
  EXPECT_EQ(ids, (Ids{1, 2, 3, 49407}));
  EXPECT_TRUE(cut);
  EXPECT_EQ(fit_to_context({1, 2, 49407}, clip_spec(), 3, &cut), (Ids{1, 2, 49407}));
  EXPECT_FALSE(cut);
  EXPECT_EQ(fit_to_context({1, 2, 49407}, clip_spec(), 2, nullptr), (Ids{1, 49407}));
}

TEST(ClipBpe, FollowsTheSwitchesOfTheSpec) {
  TokenizerSpec spec = clip_spec();
  spec.lowercase = false;
  spec.clean_ftfy = false;
  spec.start_id = -1;
  const auto tokenizer = load_tokenizer(kFolder, spec);
  EXPECT_EQ(tokenizer->encode("red fox"), (Ids{736, 3240, 49407}));
  EXPECT_NE(tokenizer->encode("RED fox"), (Ids{736, 3240, 49407}));
  EXPECT_NE(tokenizer->encode("salt &amp; pepper"), (Ids{6611, 261, 8253, 49407}));
}

TEST(ClipBpe, InvalidBytesBecomeTheReplacementCharacter) {
  EXPECT_EQ(inner("fox \xFF\xC3( den"), inner("fox \uFFFD\uFFFD( den"));
}

TEST(ClipBpe, LongWordsTakeTimeInProportion) {
  std::string word;
  for (int i = 0; i < 100'000; ++i) word += static_cast<char>('a' + i * 7 % 26);
  const Ids ids = inner(word);
  EXPECT_GT(ids.size(), 20'000u);
}

TEST(SplitClipWords, FollowsThePattern) {
  const auto split = [](std::u32string_view text) {
    std::string joined;
    for (const std::u32string& word : split_clip_words(std::u32string(text))) {
      joined += encode_utf8(word) + "|";
    }
    return joined;
  };
  EXPECT_EQ(split(U"it's we'RE they'LLama"), "it|'s|we|'RE|they|'LL|ama|");
  EXPECT_EQ(split(U"a1b22!? x"), "a|1|b|2|2|!?|x|");
  EXPECT_EQ(split(U"<|endoftext|>x<|StartOfText|>"), "<|endoftext|>|x|<|StartOfText|>|");
  EXPECT_EQ(split(U"it'\u017F"), "it|'\u017F|");
  EXPECT_EQ(split(U"a\u0345b"), "a|b|");
  EXPECT_EQ(split(U"\u00BD\u0664\u4E8C"), "\u00BD|\u0664|\u4E8C|");
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(ClipBpe, RefusesDamagedFilesByName) {
  const test::TempDir temp;
  TokenizerSpec spec = clip_spec();
  const auto expect = [&](const std::string& content, const std::string& message) {
    temp.write(spec.file, content);
    EXPECT_PROBE_ERROR(load_tokenizer(temp.path(), spec), ErrorKind::model, message);
  };
  const std::string whole = test::slurp(kFolder / "merges.txt.gz");
  expect(whole.substr(0, whole.size() / 2), "expected a whole gzip file, got a damaged one");
  expect("\x1f\x8b garbage", "expected a whole gzip file");
  expect("{\"a\": 1}", "expected BPE merges with #version in the first line");
  expect("#version: 0.2\ni n\nt\n", "line 3: expected two known symbols that make a new one");
  expect("#version: 0.2\ni n\ni n\n", "line 3: expected two known symbols");
  expect("#version: 0.2\ni nn\n", "line 2: expected two known symbols");
  expect("#version: 0.2\ni n\n",
         "expected merges that number the start and end marks 49406 and 49407 as "
         "encoder.json says, got 513 and 514");
  expect(gzip(std::string(65 << 20, 'x')), "expected at most 67108864 bytes unpacked");
  std::filesystem::remove(temp.path() / spec.file);
  EXPECT_PROBE_ERROR(load_tokenizer(temp.path(), spec), ErrorKind::model, spec.file);
}

TEST(ClipBpe, ReadsPlainTextMergesOfAnyNumber) {
  const test::TempDir temp;
  temp.write("merges.txt", "#version: 0.2\r\ni n\r\nin g</w>\r\n");
  TokenizerSpec spec = clip_spec();
  spec.file = "merges.txt";
  spec.start_id = 514;
  spec.end_id = 515;
  // Bytes count from '!' = 0; 'n' is 77 and 'g' at a word's end 70 + 256.
  EXPECT_EQ(load_tokenizer(temp.path(), spec)->encode("in ing"),
            (Ids{514, 72, 77 + 256, 513, 515}));
}

}  // namespace
}  // namespace probe

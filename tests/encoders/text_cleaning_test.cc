// Against Python: golden/clean_texts.json (openai/CLIP's basic_clean and whitespace_clean
// with ftfy 6.3.1, by tests/parity/make_ids.py), html.unescape, and BUGCASES section b.
#include "encoders/text_cleaning.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "encoders/html_entities.h"
#include "encoders/mojibake.h"
#include "encoders/unicode_text.h"
#include "tests/encoders/golden_json.h"

namespace probe {
namespace {

std::string cleaned(const std::string& text) {
  return encode_utf8(clean_as_clip(decode_utf8(text)));
}

std::string canonical(const std::string& text) {
  return encode_utf8(canonicalize_as_siglip(decode_utf8(text)));
}

TEST(CleanAsClip, GivesTheTextsOfTheReference) {
  const nlohmann::json golden = read_golden("clean_texts.json");
  ASSERT_GT(golden["rows"].size(), 300u);
  for (const nlohmann::json& row : golden["rows"]) {
    EXPECT_EQ(cleaned(row[0]), row[1].get<std::string>()) << row[0];
  }
}

// Examples from ftfy's documentation.
TEST(FixText, RepairsFtfysOwnExamples) {
  const auto fixed = [](std::u32string_view text) {
    return encode_utf8(fix_text(std::u32string(text)));
  };
  EXPECT_EQ(fixed(U"\u00E2\u0153\u201D No problems"), "\u2714 No problems");
  EXPECT_EQ(fixed(U"&macr;\\_(\u00E3\u0083\u0084)_/&macr;"), "\u00AF\\_(\u30C4)_/\u00AF");
  EXPECT_EQ(fixed(U"Broken text&hellip; it&#x2019;s \uFB02ubberi\uFB01c!"),
            "Broken text\u2026 it's flubberific!");
  EXPECT_EQ(fixed(U"\uFF2C\uFF2F\uFF35\uFF24\u3000\uFF2E\uFF2F\uFF29\uFF33\uFF25\uFF33"),
            "LOUD NOISES");
  EXPECT_EQ(fixed(U"voil\u00C3 le travail"), "voil\u00E0 le travail");
  EXPECT_EQ(fixed(U"P&EACUTE;REZ"), "P\u00C9REZ");
  EXPECT_EQ(fixed(U"\033[36;44mI'm blue\033[0m"), "I'm blue");
}

TEST(FixText, KeepsReferencesAfterALessThanSign) {
  EXPECT_EQ(encode_utf8(fix_text(U"&lt;\n<b>\n&lt;")), "<\n<b>\n&lt;");
}

TEST(FixMojibake, LeavesRightTextAlone) {
  for (const char* text : {"M\u00FCnchen", "cr\u00E8me br\u00FBl\u00E9e", "\u4F60\u597D",
                           "\u041C\u043E\u0441\u043A\u0432\u0430", "100 \u20AC", "\u00A9 2020",
                           "\u00C5land", "na\u00EFve caf\u00E9"}) {
    EXPECT_EQ(encode_utf8(fix_mojibake(decode_utf8(text))), text);
  }
}

// Values from Python 3.11's html.unescape.
TEST(UnescapeHtml, FollowsPython) {
  const std::pair<const char32_t*, const char*> cases[] = {
      {U"&lt;b&gt; &amp;lt;", "<b> &lt;"},
      {U"&notin; &notit; &not", "\u2209 \u00ACit; \u00AC"},
      {U"&copy2024", "\u00A92024"},
      {U"&NoSuchName; &; & &#; &#x;", "&NoSuchName; &; & &#; &#x;"},
      {U"&#65;&#x41;&#X41 &#65x", "AAA Ax"},
      {U"&#0;&#xD800;&#x110000;&#99999999999999;", "\uFFFD\uFFFD\uFFFD\uFFFD"},
      {U"&#128;&#150;&#129;", "\u20AC\u2013\u0081"},
      {U"[&#1;&#11;&#127;&#xFFFE;&#xFDD0;]", "[]"},
      {U"&#13;&#10;", "\r\n"},
      {U"&acE;", "\u223E\u0333"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(encode_utf8(unescape_html(text)), want);
}

TEST(UnescapeHtml, CarefulFormNeedsTheSemicolon) {
  const auto careful = [](const char32_t* text) {
    return encode_utf8(unescape_html_carefully(text));
  };
  EXPECT_EQ(careful(U"&amp &amp; this&not that"), "&amp & this&not that");
  EXPECT_EQ(careful(U"&ntilde; &Ntilde; &NTILDE; &nTILDE;"), "\u00F1 \u00D1 \u00D1 &nTILDE;");
  EXPECT_EQ(careful(U"BUNDESSTRA&SZLIG;E"), "BUNDESSTRASSE");
  EXPECT_EQ(careful(U"&#38; &#12ab; &#59; &#x26;"), "& &#12ab; &#59; &");
}

TEST(UnicodeText, LowersAsPythonDoes) {
  EXPECT_EQ(encode_utf8(to_lower(U"\u0130ZM\u0130R")), "i\u0307zmi\u0307r");
  EXPECT_EQ(encode_utf8(to_lower(U"\u039F\u0394\u039F\u03A3 \u03A3\u0391")),
            "\u03BF\u03B4\u03BF\u03C2 \u03C3\u03B1");
  EXPECT_EQ(encode_utf8(to_lower(U"STRASSE \u1E9E")), "strasse \u00DF");
}

TEST(UnicodeText, DecodesAsPythonDoesWithReplacement) {
  EXPECT_EQ(encode_utf8(decode_utf8("a\xF0\x9F\x98z\xED\xA0\x80\xC0\x80")),
            "a\uFFFDz\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decode_utf8("\xF0\x9F\xA6\x8A"), U"\U0001F98A");
}

TEST(Bugcase11, SiglipCanonicalForm) {
  EXPECT_EQ(canonical("A photo of a Red-Fox, sitting_on the MAT."),
            "a photo of a redfox sitting on the mat");
  EXPECT_EQ(canonical("Wait...  what?"), "wait what");
  EXPECT_EQ(canonical("It's"), "its");
  EXPECT_EQ(canonical("\u201CFox\u2019s\u201D den!"), "\u201Cfox\u2019s\u201D den");
}

}  // namespace
}  // namespace probe

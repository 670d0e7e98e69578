#include "probe/core/utf8.h"

#include <gtest/gtest.h>

namespace probe {
namespace {

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(first_invalid_utf8("plain é 狐 🦊"), std::nullopt);
  EXPECT_EQ(first_invalid_utf8("caf\xE9!"), 3u);                // Latin-1
  EXPECT_EQ(first_invalid_utf8("\xC0\xAF"), 0u);                // overlong '/'
  EXPECT_EQ(first_invalid_utf8("a\xED\xA0\x80"), 1u);           // surrogate
  EXPECT_EQ(first_invalid_utf8("ab\xF4\x90\x80\x80"), 2u);      // above U+10FFFF
  EXPECT_EQ(first_invalid_utf8("ab\xE2\x82"), 2u);              // cut off
}

TEST(Utf8, PrintableHidesControlCharacters) {
  EXPECT_EQ(printable("a\nb\x1b[31m\xFFz"), "a\\nb\\x1b[31m\\xffz");
  EXPECT_EQ(printable("狐.jpg"), "狐.jpg");
}

TEST(Utf8, WidthCountsCodePoints) { EXPECT_EQ(display_width("é狐a"), 3u); }

}  // namespace
}  // namespace probe

#include "probe/core/sha256.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

// FIPS 180-4 examples, and the empty message.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, FileEqualsBytes) {
  const test::TempDir folder;
  const std::string content(3 << 20, 'x');
  EXPECT_EQ(sha256_file(folder.write("x", content)), sha256_hex(content));
  EXPECT_PROBE_ERROR(sha256_file(folder.path() / "none"), ErrorKind::io,
                     "none: cannot open: No such file or directory");
}

}  // namespace
}  // namespace probe

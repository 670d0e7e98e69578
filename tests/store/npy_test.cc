#include "probe/store/npy.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

// numpy.lib.format, version 1.0: what np.save writes for the same array.
TEST(Npy, SameBytesAsNumpy) {
  RowMatrix rows(2, 2);
  rows << 1, 2, 3, 4;
  const std::string bytes = npy_bytes(rows, 0);
  const std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(bytes.substr(10, header.size()), header);
  EXPECT_EQ(bytes.size(), 128u + 16u);
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_NE(npy_bytes(rows, 2).find("(2, 2, 1)"), std::string::npos);
}

// A file as np.save writes it, but with any header.
std::string npy_file(std::string header, const std::string& data, char version = 1) {
  header += "\n";
  std::string bytes = std::string("\x93NUMPY", 6) + version + '\0';
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + header + data;
}

std::string header_of(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

template <typename Value>
std::string bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

class NpyFile : public testing::Test {
 protected:
  test::TempDir folder_;
  RowMatrix read(const std::string& bytes) const { return read_npy(folder_.write("v.npy", bytes)); }
  void refuse(const std::string& bytes, const std::string& message) const {
    EXPECT_PROBE_ERROR(read(bytes), ErrorKind::input, message);
  }
};

TEST_F(NpyFile, WhatIsWrittenIsRead) {
  const RowMatrix rows = RowMatrix::Random(300, 1000);  // more than a block
  EXPECT_EQ(read(npy_bytes(rows, 0)), rows);
}

TEST_F(NpyFile, ThreeTypesAndThreeVersions) {
  RowMatrix wanted(2, 2);
  wanted << 1, -2, 0.5f, 65504;
  const std::string halves = bytes_of(std::vector<std::uint16_t>{0x3C00, 0xC000, 0x3800, 0x7BFF});
  const std::string doubles = bytes_of(std::vector<double>{1, -2, 0.5, 65504});
  EXPECT_EQ(read(npy_file(header_of("<f2", "(2, 2)"), halves)), wanted);
  EXPECT_EQ(read(npy_file(header_of("<f8", "(2, 2)"), doubles, 2)), wanted);
  EXPECT_EQ(read(npy_file("{\"shape\":(2,2,),\"fortran_order\":False,\"descr\":\"<f2\"}", halves, 3)),
            wanted);
}

TEST_F(NpyFile, OtherArraysAreRefused) {
  const std::string four(16, '\0');
  refuse(npy_file(header_of("<f4", "(4,)"), four), "v.npy: expected two dimensions [items, width], got [4]");
  refuse(npy_file(header_of("<f4", "(1, 2, 2)"), four), "got [1, 2, 2]");
  refuse(npy_file(header_of("<f4", "()"), four), "got []");
  refuse(npy_file(header_of("<f4", "(0, 4)"), ""), "expected at least one row and one column, got [0, 4]");
  refuse(npy_file(header_of("|O", "(2, 2)"), four), "got pickled Python objects");
  refuse(npy_file(header_of(">f4", "(2, 2)"), four), "got \">f4\"; in Python: array.astype(\"<f4\")");
  refuse(npy_file(header_of("<i8", "(2, 1)"), four), "got \"<i8\"");
  refuse(npy_file("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (4, 1), }", four),
         "got an array of structures");
  refuse(npy_file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", four),
         "expected C order, got Fortran order");
}

// The header is somebody else's: memory is asked for only when the file is as long as it says.
TEST_F(NpyFile, SizesAreCheckedAgainstTheFile) {
  const std::string four(16, '\0');
  refuse(npy_file(header_of("<f4", "(3, 2)"), four),
         "expected 24 bytes for [3, 2] of 4 bytes each, got 16");
  refuse(npy_file(header_of("<f4", "(1, 2)"), four), "expected 8 bytes");
  refuse(npy_file(header_of("<f4", "(4611686018427387904, 4611686018427387904)"), four), "absurd size");
  refuse(npy_file(header_of("<f4", "(99999999999999999999, 2)"), four), "expected the header of an .npy file");
  refuse(npy_file(header_of("<f4", "(-2, 2)"), four), "expected the header of an .npy file");
  const std::string whole = npy_file(header_of("<f4", "(2, 2)"), four);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(read(whole.substr(0, length)), Error) << length;
  }
  std::string version = whole;
  version[6] = 4;
  refuse(version, "expected an .npy file of version 1, 2 or 3, got 4.0");
  std::string longer = whole;
  longer[9] = '\x7F';
  refuse(longer, "expected a header of at most 10000 bytes");
}

TEST_F(NpyFile, BrokenHeadersAreRefused) {
  const std::string good = header_of("<f4", "(2, 2)"), four(16, '\0');
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (good[i] == ' ') continue;
    std::string bad = good;
    bad[i] = '~';
    EXPECT_THROW(read(npy_file(bad, four)), Error) << bad;
  }
  refuse(npy_file("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", four),
         "expected the header of an .npy file, got \"{'descr'");
  refuse(npy_file(good + "x", four), "expected the header of an .npy file");
}

TEST_F(NpyFile, OtherFormatsAreNamed) {
  refuse("PK\x03\x04 and more", "expected an .npy file, got a zip archive (.npz or .pt)");
  refuse("version https://git-lfs.github.com/spec/v1\n", "got a pointer of Git LFS");
  refuse("", "expected an .npy file, got another format");
  EXPECT_PROBE_ERROR(read_npy(folder_.path()), ErrorKind::io, "expected a regular file");
  EXPECT_PROBE_ERROR(read_npy(folder_.path() / "none.npy"), ErrorKind::io, "none.npy: cannot open");
}

TEST_F(NpyFile, ValuesMustFitFloat32) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string message = "v.npy: row 1: expected finite values, got NaN";
  refuse(npy_file(header_of("<f4", "(2, 1)"), bytes_of(std::vector<float>{1, nan})), message);
  refuse(npy_file(header_of("<f8", "(2, 1)"), bytes_of(std::vector<double>{1, 1e300})), message);
  refuse(npy_file(header_of("<f2", "(2, 1)"), bytes_of(std::vector<std::uint16_t>{0, 0x7C00})), message);
}

}  // namespace
}  // namespace probe

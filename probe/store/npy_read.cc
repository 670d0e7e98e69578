#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/store/half.h"
#include "probe/store/npy.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

// Headers of matrices have 118 bytes; NumPy itself refuses more than 10,000.
constexpr std::size_t kLargestHeader = 10'000;
constexpr std::int64_t kMostValues = std::int64_t{1} << 44;
constexpr std::int64_t kBlockValues = 1 << 18;  // read at a time

[[noreturn]] void fail(const fs::path& path, const std::string& message) {
  throw Error(ErrorKind::input, path.string() + ": " + message);
}

// The header's three fields, as they are written: the type, the order and the lengths.
struct HeaderFields {
  std::optional<std::string> type;
  std::optional<bool> fortran;
  std::optional<std::vector<std::int64_t>> shape;
};

// Reads the one Python literal that a header may be:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const fs::path& path) : text_(text), path_(path) {}

  HeaderFields parse() {
    HeaderFields fields;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !fields.type) {
        if (peek() == '[') fail(path_, "expected numbers, got an array of structures");
        fields.type = quoted();
      } else if (key == "fortran_order" && !fields.fortran) {
        fields.fortran = boolean();
      } else if (key == "shape" && !fields.shape) {
        fields.shape = lengths();
      } else {
        broken();
      }
      if (take(',')) continue;
      expect('}');
      break;
    }
    if (peek() != '\0' || !fields.type || !fields.fortran || !fields.shape) broken();
    return fields;
  }

 private:
  [[noreturn]] void broken() const {
    fail(path_, "expected the header of an .npy file, got \"" +
                    printable(text_.substr(0, text_.find_last_not_of(" \n") + 1).substr(0, 80)) +
                    "\"");
  }

  // The next byte that is not white space; NUL at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) broken();
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') broken();
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) broken();
    const std::string word(text_.substr(at_, end - at_));
    at_ = end + 1;
    return word;
  }
  bool boolean() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    broken();
  }
  std::vector<std::int64_t> lengths() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!take(')')) {
      peek();
      std::int64_t value = 0;
      const char* const end = text_.data() + text_.size();
      const auto [stop, code] = std::from_chars(text_.data() + at_, end, value);
      if (code != std::errc() || value < 0) broken();
      at_ = static_cast<std::size_t>(stop - text_.data());
      values.push_back(value);
      if (take(',')) continue;
      expect(')');
      break;
    }
    return values;
  }

  std::string_view text_;
  const fs::path& path_;
  std::size_t at_ = 0;
};

int bytes_of_type(const std::string& type, const fs::path& path) {
  if (type == "<f2") return 2;
  if (type == "<f4") return 4;
  if (type == "<f8") return 8;
  const std::string wanted = "expected little-endian float16, float32 or float64, got ";
  if (type.find('O') != std::string::npos) fail(path, wanted + "pickled Python objects");
  fail(path, wanted + "\"" + printable(type) + "\"; in Python: array.astype(\"<f4\")");
}

// Why a file without NumPy's magic bytes is none.
std::string other_format(std::string_view start) {
  if (start.starts_with("PK")) return "a zip archive (.npz or .pt); save one array with np.save";
  if (start.starts_with("version https://git-lfs")) return "a pointer of Git LFS; run git lfs pull";
  return "another format";
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t length : shape) {
    text += (text.empty() ? "" : ", ") + std::to_string(length);
  }
  return "[" + text + "]";
}

std::int64_t regular_size(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    throw Error(ErrorKind::io, path.string() + ": cannot open: " + std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) throw Error(ErrorKind::io, path.string() + ": expected a regular file");
  return info.st_size;
}

std::ifstream open_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::io, path.string() + ": cannot open: " + std::strerror(errno));
  return file;
}

// The header's text; *data_offset is where it ends.
std::string header_text(std::ifstream& file, const fs::path& path, std::int64_t* data_offset) {
  std::string start(12, '\0');
  file.read(start.data(), std::ssize(start));
  start.resize(static_cast<std::size_t>(file.gcount()));
  file.clear();
  if (!start.starts_with("\x93NUMPY")) {
    start.resize(24);
    file.seekg(0).read(start.data(), std::ssize(start));
    start.resize(static_cast<std::size_t>(file.gcount()));
    fail(path, "expected an .npy file, got " + other_format(start));
  }
  const auto byte = [&](std::size_t i) {
    return i < start.size() ? static_cast<std::size_t>(static_cast<unsigned char>(start[i])) : 0;
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) {
    fail(path, "expected an .npy file of version 1, 2 or 3, got " + std::to_string(version) + "." +
                   std::to_string(byte(7)));
  }
  const std::size_t offset = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > kLargestHeader) {
    fail(path, "expected a header of at most " + std::to_string(kLargestHeader) + " bytes, got " +
                   std::to_string(length));
  }
  std::string text(length, '\0');
  file.seekg(static_cast<std::streamoff>(offset)).read(text.data(), std::ssize(text));
  if (static_cast<std::size_t>(file.gcount()) != length) {
    fail(path, "expected a header of " + std::to_string(length) + " bytes, got the end of the file");
  }
  *data_offset = static_cast<std::int64_t>(offset + length);
  return text;
}

// `count` stored values to float32. What float32 cannot hold becomes infinity here.
void to_floats(const std::string& bytes, int value_bytes, float* out, std::size_t count) {
  if (value_bytes == 4) {
    std::memcpy(out, bytes.data(), count * 4);
  } else if (value_bytes == 2) {
    std::vector<std::uint16_t> halves(count);
    std::memcpy(halves.data(), bytes.data(), count * 2);
    halves_to_floats(halves.data(), out, count);
  } else {
    std::vector<double> doubles(count);
    std::memcpy(doubles.data(), bytes.data(), count * 8);
    std::transform(doubles.begin(), doubles.end(), out,
                   [](double value) {
                     return std::abs(value) <= std::numeric_limits<float>::max()
                                ? static_cast<float>(value)
                                : std::numeric_limits<float>::infinity();
                   });
  }
}

}  // namespace

NpyHeader read_npy_header(const fs::path& path) {
  const std::int64_t size = regular_size(path);
  std::ifstream file = open_file(path);
  NpyHeader header;
  const std::string text = header_text(file, path, &header.data_offset);
  const HeaderFields fields = HeaderParser(text, path).parse();
  header.value_bytes = bytes_of_type(*fields.type, path);
  const std::vector<std::int64_t>& shape = *fields.shape;
  if (shape.size() != 2) {
    fail(path, "expected two dimensions [items, width], got " + shape_text(shape));
  }
  if (*fields.fortran) {
    fail(path, "expected C order, got Fortran order; in Python: np.ascontiguousarray(array)");
  }
  if (shape[0] == 0 || shape[1] == 0) {
    fail(path, "expected at least one row and one column, got " + shape_text(shape));
  }
  if (shape[0] > kMostValues / shape[1]) fail(path, "absurd size " + shape_text(shape));
  header.rows = shape[0];
  header.columns = shape[1];
  const std::int64_t wanted = header.rows * header.columns * header.value_bytes;
  const std::int64_t stored = size - header.data_offset;
  if (stored != wanted) {
    fail(path, "expected " + std::to_string(wanted) + " bytes for " + shape_text(shape) + " of " +
                   std::to_string(header.value_bytes) + " bytes each, got " +
                   std::to_string(stored));
  }
  return header;
}

RowMatrix read_npy(const fs::path& path) {
  const NpyHeader header = read_npy_header(path);
  std::ifstream file = open_file(path);
  file.seekg(header.data_offset);
  RowMatrix rows(header.rows, header.columns);
  std::string block;
  for (std::int64_t done = 0; done < rows.size();) {
    const std::int64_t count = std::min<std::int64_t>(kBlockValues, rows.size() - done);
    block.resize(static_cast<std::size_t>(count * header.value_bytes));
    file.read(block.data(), std::ssize(block));
    if (file.gcount() != std::ssize(block)) {
      throw Error(ErrorKind::io, path.string() + ": cannot read: the file ended early");
    }
    to_floats(block, header.value_bytes, rows.data() + done, static_cast<std::size_t>(count));
    done += count;
  }
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    if (!rows.row(i).allFinite()) {
      fail(path, "row " + std::to_string(i) +
                     ": expected finite values, got NaN, infinity or more than float32 holds");
    }
  }
  return rows;
}

}  // namespace probe

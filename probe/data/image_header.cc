// Sizes of pictures from their first bytes, so that bombs are refused before memory is
// asked for. Layouts: ISO 10918-1 (JPEG markers), PNG specification 11.2.2, RFC 9649
// (WebP), BITMAPINFOHEADER, TIFF 6.0 section 2.
#include <cstdint>
#include <string_view>

#include "probe/data/image_file.h"

namespace probe {
namespace {

// Reads numbers inside `bytes`; anything outside reads as 0.
struct ByteReader {
  std::string_view bytes;

  std::uint32_t byte(std::size_t at) const {
    return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0;
  }
  std::uint32_t big16(std::size_t at) const { return byte(at) << 8 | byte(at + 1); }
  std::uint32_t big32(std::size_t at) const { return big16(at) << 16 | big16(at + 2); }
  std::uint32_t little16(std::size_t at) const { return byte(at + 1) << 8 | byte(at); }
  std::uint32_t little24(std::size_t at) const { return byte(at + 2) << 16 | little16(at); }
  std::uint32_t little32(std::size_t at) const {
    return little16(at + 2) << 16 | little16(at);
  }
};

ImageHeader jpeg_header(const ByteReader& in) {
  ImageHeader header{ImageFormat::jpeg, 0, 0};
  std::size_t at = 2;
  while (at + 9 < in.bytes.size()) {
    if (in.byte(at) != 0xFF) break;
    const std::uint32_t marker = in.byte(at + 1);
    if (marker == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {  // no length
      at += 2;
      continue;
    }
    const bool frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 &&
                       marker != 0xC8 && marker != 0xCC;
    if (frame) {
      header.height = in.big16(at + 5);
      header.width = in.big16(at + 7);
      break;
    }
    at += 2 + in.big16(at + 2);
  }
  return header;
}

ImageHeader webp_header(const ByteReader& in) {
  ImageHeader header{ImageFormat::webp, 0, 0};
  const std::string_view chunk = in.bytes.substr(12, 4);
  if (chunk == "VP8 ") {
    header.width = in.little16(26) & 0x3FFF;
    header.height = in.little16(28) & 0x3FFF;
  } else if (chunk == "VP8L") {
    const std::uint32_t bits = in.little32(21);
    header.width = (bits & 0x3FFF) + 1;
    header.height = ((bits >> 14) & 0x3FFF) + 1;
  } else if (chunk == "VP8X") {
    header.width = in.little24(24) + 1;
    header.height = in.little24(27) + 1;
  }
  return header;
}

ImageHeader bmp_header(const ByteReader& in) {
  ImageHeader header{ImageFormat::bmp, 0, 0};
  if (in.little32(14) == 12) {  // OS/2 core header
    header.width = in.little16(18);
    header.height = in.little16(20);
    return header;
  }
  const auto height = static_cast<std::int32_t>(in.little32(22));
  header.width = static_cast<std::int32_t>(in.little32(18));
  header.height = height < 0 ? -std::int64_t{height} : height;  // negative: top-down
  return header;
}

ImageHeader tiff_header(const ByteReader& in, bool big_endian) {
  ImageHeader header{ImageFormat::tiff, 0, 0};
  const auto read16 = [&](std::size_t at) { return big_endian ? in.big16(at) : in.little16(at); };
  const auto read32 = [&](std::size_t at) { return big_endian ? in.big32(at) : in.little32(at); };
  const std::size_t directory = read32(4);
  const std::uint32_t entries = read16(directory);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + std::size_t{12} * i;
    if (at + 12 > in.bytes.size()) break;
    const std::uint32_t tag = read16(at), type = read16(at + 2);
    if ((tag != 256 && tag != 257) || read32(at + 4) != 1) continue;
    std::int64_t& side = tag == 256 ? header.width : header.height;
    if (side != 0) continue;  // libtiff takes the first of several
    if (type == 3) side = read16(at + 8);
    if (type == 4) side = read32(at + 8);
  }
  return header;
}

}  // namespace

ImageHeader read_image_header(std::string_view bytes) {
  const ByteReader in{bytes};
  if (bytes.starts_with("\xFF\xD8\xFF")) return jpeg_header(in);
  if (bytes.starts_with("\x89PNG\r\n\x1A\n")) {
    return {ImageFormat::png, in.big32(16), in.big32(20)};
  }
  if (bytes.size() >= 30 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") {
    return webp_header(in);
  }
  if (bytes.starts_with("BM")) return bmp_header(in);
  if (bytes.starts_with(std::string_view("II*\0", 4))) return tiff_header(in, false);
  if (bytes.starts_with(std::string_view("MM\0*", 4))) return tiff_header(in, true);
  return {};
}

}  // namespace probe

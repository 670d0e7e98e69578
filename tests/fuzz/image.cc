// Image headers and decoding. What is larger than a thousand pixels a side by its header is not
// decoded here, to keep runs short; pictures of the largest size are tests of their own.
#include "probe/data/image_file.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probe;
  constexpr std::int64_t kDecodedPixels = 1 << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ImageHeader header = read_image_header(bytes);
  if (header.width > 0 && header.height > kDecodedPixels / header.width) return 0;
  fuzz::accept_error([&] {
    const RgbImage image = decode_image(bytes);
    FUZZ_EXPECT(header.format != ImageFormat::unknown);
    FUZZ_EXPECT(image.width == header.width && image.height == header.height);
    FUZZ_EXPECT(image.pixels.size() == std::size_t{3} * image.width * image.height);
  });
  return 0;
}

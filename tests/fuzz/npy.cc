// NumPy arrays made elsewhere, as `probe import` reads them.
#include "probe/store/npy.h"

#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probe;
  const std::filesystem::path path =
      fuzz::write_file("rows.npy", {reinterpret_cast<const char*>(data), size});
  fuzz::accept_error([&] {
    const NpyHeader header = read_npy_header(path);
    FUZZ_EXPECT(header.rows > 0 && header.columns > 0);
    FUZZ_EXPECT(header.data_offset + header.rows * header.columns * header.value_bytes ==
                static_cast<std::int64_t>(size));
    const RowMatrix rows = read_npy(path);
    FUZZ_EXPECT(rows.rows() == header.rows && rows.cols() == header.columns);
    FUZZ_EXPECT(rows.allFinite());
  });
  return 0;
}

// What is read of an encoder bundle before any of it runs. First byte: its specification, or one
// file of code of its archives.
#include "encoders/spec.h"
#include "encoders/torchscript_code.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probe;
  const fuzz::Input input(data, size);
  fuzz::accept_error([&] {
    if (input.choice % 2 == 0) return check_torchscript_code(input.rest, "code.py");
    const EncoderSpec spec =
        read_spec(fuzz::write_file("encoder.json", input.rest).parent_path());
    FUZZ_EXPECT(spec.embedding_dim >= 0 && spec.image.size > 0);
    FUZZ_EXPECT(!spec.image_file.empty() && spec.image_file.find('/') == std::string::npos);
    find_layer(spec, "");
    preprocessing_json(spec.image);
  });
  return 0;
}

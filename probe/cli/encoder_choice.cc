#include "probe/cli/encoder_choice.h"

#include <fmt/core.h>

#include <cstdio>

#include "encoders/bundle_search.h"

namespace probe {

std::string identity_line(const EncoderSpec& spec) {
  return fmt::format("{}: {}, bundle sha256 {}", spec.name, spec.architecture,
                     spec.bundle_sha256);
}

EncoderSpec choose_encoder(const EncoderArguments& arguments, bool quiet) {
  const BundleEntry entry =
      find_bundle(arguments.encoder, list_bundles(bundle_folders(arguments.encoder_dir)));
  EncoderSpec spec = read_spec(entry.folder);
  if (!quiet) fmt::print(stderr, "encoder {}\n", identity_line(spec));
  return spec;
}

}  // namespace probe

#include "probe/cli/encoder_choice.h"

#include <fmt/core.h>

#include <cstdio>

#include "encoders/bundle_search.h"
#include "encoders/faster_dtype.h"

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

void resolve_dtype(const EncoderSpec& spec, EncoderOptions& options, bool quiet) {
  if (options.dtype != "auto") return;
  const DtypeChoice choice = faster_dtype(spec, options);
  options.dtype = choice.dtype;
  if (!quiet) fmt::print(stderr, "dtype auto: {}; {}\n", choice.dtype, choice.reason);
}

}  // namespace probe

// From `--encoder NAME` to a bundle's specification.
#pragma once

#include <string>

#include "encoders/spec.h"
#include "probe/cli/common_options.h"

namespace probe {

// Finds and reads the bundle; says on stderr which one a name stands for, unless quiet.
EncoderSpec choose_encoder(const EncoderArguments& arguments, bool quiet);

// "demo: <architecture>, bundle sha256 0123456789ab..."
std::string identity_line(const EncoderSpec& spec);

// `--dtype auto` replaced by what is faster here, which is said on stderr unless `quiet`.
void resolve_dtype(const EncoderSpec& spec, EncoderOptions& options, bool quiet);

}  // namespace probe

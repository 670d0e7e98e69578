// The golden self-test: a bundle must answer what its exporter's reference library said.
#pragma once

#include "analysis/table.h"
#include "encoders/encoder.h"

namespace probe {

// One row a check: pixels, token ids, image embedding, mean tokens of each layer, text
// embeddings; failed checks are also listed as failures.
// Throws Error(model) if golden.json is damaged or of another shape than the spec.
Report verify_bundle(const EncoderSpec& spec, const EncoderOptions& options);

}  // namespace probe

// `probe encoders pull`: fetches and exports an encoder with the Python package
// probe-export (encoders/export), checks the bundle here, and puts it where `--encoder`
// finds it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/table.h"

namespace probe {

struct PullOptions {
  std::string model;   // short name, hub id, open_clip:ARCHITECTURE/TAG, or a folder
  std::string name;    // of the bundle; empty: from the model
  std::string python;  // empty: PROBE_PYTHON, then .venv* of the checkout, then python3
  std::string layers;  // empty: the exporter's choice
  std::string dtype = "float32";      // how the weights are stored
  std::filesystem::path encoder_dir;  // empty: ~/.cache/probe/encoders
  bool force = false;
  bool quiet = false;
};

// The bundle's name for a model: a short name stays, "google/siglip-base-patch16-224@main"
// becomes "siglip-base-patch16-224", "open_clip:EVA02-L-14/merged2b_s4b_b131k"
// "eva02-l-14", a folder its own name; lower case. Throws Error(usage) with the nearest
// short name for a word that is none of these.
std::string bundle_name_of(const std::string& model);

// Leaves the bundle alone if it is there already, unless `force`. A new one is written
// beside its place, verified, and only then renamed into it; on any failure nothing
// changes. Throws Error(usage) for a name that cannot be, Error(model) with the exporter's
// own line if it fails (offline: what is missing and how to bring it), Error(io) without
// Python or exporter.
Report pull_encoder(const PullOptions& options);

}  // namespace probe

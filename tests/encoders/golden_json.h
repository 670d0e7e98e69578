// The golden files of tests/encoders/golden, made by the scripts of tests/parity.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace probe {

inline nlohmann::json read_golden(const std::string& name) {
  std::ifstream file(std::string(PROBE_SOURCE_DIR) + "/tests/encoders/golden/" + name);
  if (!file) throw std::runtime_error("no golden file " + name);
  return nlohmann::json::parse(file);
}

}  // namespace probe

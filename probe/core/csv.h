#pragma once

#include <string>

namespace probe {

// One field as RFC 4180 CSV, quoted only when needed.
std::string csv_field(const std::string& value);

}  // namespace probe

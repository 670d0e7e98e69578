// Standard base64 (RFC 4648, section 4), padded, without line breaks.
#pragma once

#include <string>
#include <string_view>

namespace probe {

std::string encode_base64(std::string_view bytes);

}  // namespace probe

// SHA-256 (OpenSSL) of bytes and files, as 64 lower-case hex digits.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace probe {

std::string sha256_hex(std::string_view bytes);

// Streams the file. Throws Error(io) if it cannot be read.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace probe

// SHA-256 (OpenSSL) of bytes and files, as 64 lower-case hex digits.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace probe {

// Of what comes in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  // The text and a NUL, so that the ends of strings count.
  void add_string(std::string_view text);
  std::string finish();  // 64 hex digits; the object must not be used afterwards

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view bytes);

// Streams the file. Throws Error(io) if it cannot be read.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace probe

// Reading whole files and writing them so that no half-written file ever stands
// under its final name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace probe {

// Whole content of a regular file. Throws Error(io) if it is missing, not a regular
// file (folders, fifos), unreadable, or larger than `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes);

// Writes aside ("<path>.partial-<pid>"), flushes to disk, renames. Throws Error(io) with
// the system's reason; the earlier file of that name is then untouched.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace probe

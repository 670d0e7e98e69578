// Names of embedding files as they are typed: several files, folders and patterns.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace probe {

// Files as they are; of a folder, those whose names end in one of `suffixes`, sorted; of a
// pattern (*, ?, [...]) that names no file, what it matches, sorted. None twice.
// Throws Error(io) for a name that stands for nothing.
std::vector<std::filesystem::path> find_embedding_paths(
    const std::vector<std::filesystem::path>& names, const std::vector<std::string>& suffixes);

}  // namespace probe

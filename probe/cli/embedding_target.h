// Embedding files that a command is going to write, and the word for what one does not say.
#pragma once

#include <filesystem>
#include <string>

#include "probe/store/embedding_file.h"

namespace CLI {
class App;
}

namespace probe {

// In every field of the provenance of imported vectors.
inline constexpr const char* kUnknown = "unknown";

// Declares -o, required.
void add_embedding_target(CLI::App& command, std::filesystem::path& file);

// Declares --store; `dtype` begins as "float32".
void add_store_option(CLI::App& command, std::string& dtype);
StoredType parse_stored_type(const std::string& dtype);

// Throws Error(io) if nothing can be written there, Error(usage) if another kind of file
// stands there. To be asked before work begins, not after it (BUGCASES 35).
void check_embedding_target(const std::filesystem::path& path);

}  // namespace probe

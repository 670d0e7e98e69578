// Embedding files that a command is going to write, and the word for what one does not say.
#pragma once

#include <filesystem>

namespace probe {

// In every field of the provenance of imported vectors.
inline constexpr const char* kUnknown = "unknown";

// Throws Error(io) if nothing can be written there, Error(usage) if another kind of file
// stands there. To be asked before work begins, not after it (BUGCASES 35).
void check_embedding_target(const std::filesystem::path& path);

}  // namespace probe

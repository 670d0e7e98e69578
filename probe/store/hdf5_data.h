// Datasets and attributes of the types FORMAT.md uses. Private to probe/store.
// `where` begins every message: "<file>:<object>".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "probe/core/matrix.h"
#include "probe/store/embedding_file.h"
#include "probe/store/hdf5_handle.h"

namespace probe {

void write_strings(hid_t parent, const std::string& name, const std::vector<std::string>& values,
                   const std::string& where);
void write_attribute(hid_t object, const std::string& name, const std::string& value,
                     const std::string& where);

// Writes `rows` [n, w] as [n, w], or as [n, tokens, w/tokens] if `tokens` > 0.
// Throws Error(input) for a value that is not finite, or too large for float16.
void write_rows(hid_t parent, const std::string& name, const RowMatrix& rows, int tokens,
                StoredType type, const std::string& where);

// True if `parent` has a hard link `name`. Throws Error(input) for a soft or external
// link: a file from elsewhere must not make us open another.
bool has_object(hid_t parent, const std::string& name, const std::string& where);

std::string read_attribute(hid_t object, const std::string& name, const std::string& where);
std::vector<std::string> read_strings(hid_t parent, const std::string& name,
                                      const std::string& where);

// Reads [n, w] or [n, t, w]; the latter comes as [n, t*w] with *tokens = t (0 otherwise).
// Sizes are checked against the bytes the file really stores before memory is asked for.
// Throws Error(input) naming the first row that has NaN or infinity.
RowMatrix read_rows(hid_t parent, const std::string& name, int rank, int* tokens,
                    const std::string& where);

}  // namespace probe

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
// One of them; `row` must be there.
std::string read_string(hid_t parent, const std::string& name, hsize_t row,
                        const std::string& where);

// The dataset, whose data must lie in the same file unless it is virtual.
Hdf5Handle open_dataset(hid_t parent, const std::string& name, const std::string& where);
bool is_virtual(hid_t dataset, const std::string& where);

// Throws Error(input) for another rank.
std::vector<hsize_t> dimensions(hid_t dataset, std::size_t rank, const std::string& where);
std::string shape_text(const std::vector<hsize_t>& dims);

// Bytes that the dimensions ask for. Throws Error(input) for absurd ones.
hsize_t check_size(const std::vector<hsize_t>& dims, hsize_t element_bytes,
                   const std::string& where);
// Throws Error(input) for dimensions that the stored bytes cannot hold.
void check_storage(hid_t dataset, const std::vector<hsize_t>& dims, hsize_t element_bytes,
                   const std::string& where);

// IEEE binary16, which HDF5 1.10 has no name for; h5py reads it as float16.
Hdf5Handle half_type(const std::string& where);
// float32 or float16, little-endian.
Hdf5Handle stored_type(StoredType type, const std::string& where);

// An empty dataset [rows] of strings, or of rows as write_rows makes them, to be filled with
// write_string_block and H5Dwrite.
Hdf5Handle create_strings(hid_t parent, const std::string& name, hsize_t size,
                          const std::string& where);
Hdf5Handle create_rows(hid_t parent, const std::string& name, const std::vector<hsize_t>& dims,
                       StoredType type, const std::string& where);
void write_string_block(hid_t dataset, hsize_t first, const std::vector<std::string>& values,
                        const std::string& where);

// What create_rows makes has this many rows a chunk.
hsize_t chunk_rows(hsize_t rows, hsize_t row_bytes);

// Properties of a new dataset: without times, so that the same vectors give the same bytes.
Hdf5Handle dataset_properties(const std::string& where);

}  // namespace probe

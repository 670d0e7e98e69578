#include "probe/store/hdf5_data.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/store/half.h"

namespace probe {
namespace {

constexpr hsize_t kLargestAttribute = 1 << 20;
// Deflate cannot shrink by more; a larger ratio means dimensions that are a lie.
constexpr hsize_t kLargestRatio = 1100;
constexpr hsize_t kLargestDataset = hsize_t{1} << 46;  // bytes
constexpr hsize_t kLargestChunk = hsize_t{1} << 29;    // bytes; HDF5 holds one as a whole
constexpr hsize_t kMostTokens = 1 << 20;               // of an image

Hdf5Handle string_type(const std::string& where) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, where);
  check_hdf5(H5Tset_size(type.id(), H5T_VARIABLE), where);
  check_hdf5(H5Tset_cset(type.id(), H5T_CSET_UTF8), where);
  return type;
}

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::input, where + ": " + message);
}

std::vector<std::uint16_t> to_halves(const RowMatrix& rows, const std::string& where) {
  std::vector<std::uint16_t> halves(static_cast<std::size_t>(rows.size()));
  floats_to_halves(rows.data(), halves.data(), halves.size());
  constexpr std::uint16_t kHalfExponent = 0x7C00;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    if ((halves[i] & kHalfExponent) == kHalfExponent) {
      fail(where, "row " + std::to_string(i / rows.cols()) + ": " +
                      std::to_string(rows.data()[i]) + " does not fit float16");
    }
  }
  return halves;
}

}  // namespace

Hdf5Handle half_type(const std::string& where) {
  Hdf5Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose, where);
  check_hdf5(H5Tset_fields(type.id(), 15, 10, 5, 0, 10), where);
  check_hdf5(H5Tset_size(type.id(), 2), where);
  check_hdf5(H5Tset_ebias(type.id(), 15), where);
  return type;
}

Hdf5Handle stored_type(StoredType type, const std::string& where) {
  return type == StoredType::float16 ? half_type(where)
                                     : Hdf5Handle(H5Tcopy(H5T_IEEE_F32LE), H5Tclose, where);
}

Hdf5Handle dataset_properties(const std::string& where) {
  Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, where);
  check_hdf5(H5Pset_obj_track_times(properties.id(), false), where);
  return properties;
}

// 64 to 256 rows a chunk, at most about 1 MiB where a row allows it, never more than
// there are rows.
hsize_t chunk_rows(hsize_t rows, hsize_t row_bytes) {
  const hsize_t wanted = std::clamp<hsize_t>((1 << 20) / std::max<hsize_t>(row_bytes, 1), 1, 256);
  return std::max<hsize_t>(1, std::min(rows, wanted));
}

Hdf5Handle open_dataset(hid_t parent, const std::string& name, const std::string& where) {
  if (!has_object(parent, name, where)) fail(where, "expected a dataset, got nothing");
  Hdf5Handle dataset(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose, where);
  const Hdf5Handle properties(H5Dget_create_plist(dataset.id()), H5Pclose, where);
  if (H5Pget_external_count(properties.id()) > 0) {
    fail(where, "stores its data in another file, which is refused");
  }
  return dataset;
}

bool is_virtual(hid_t dataset, const std::string& where) {
  const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose, where);
  return H5Pget_layout(properties.id()) == H5D_VIRTUAL;
}

std::vector<hsize_t> dimensions(hid_t dataset, std::size_t rank, const std::string& where) {
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose, where);
  const int found = H5Sget_simple_extent_ndims(space.id());
  if (found != static_cast<int>(rank)) {
    fail(where, "expected " + std::to_string(rank) + " dimensions, got " + std::to_string(found));
  }
  std::vector<hsize_t> dims(rank);
  H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr);
  return dims;
}

std::string shape_text(const std::vector<hsize_t>& dims) {
  std::string text;
  for (const hsize_t dim : dims) text += (text.empty() ? "[" : ", ") + std::to_string(dim);
  return text + "]";
}

hsize_t check_size(const std::vector<hsize_t>& dims, hsize_t element_bytes,
                   const std::string& where) {
  if (dims.size() == 3 && dims[1] > kMostTokens) fail(where, "absurd size " + shape_text(dims));
  hsize_t needed = element_bytes;
  for (const hsize_t dim : dims) {  // also where another is 0 and nothing is stored
    if (needed > kLargestDataset / std::max<hsize_t>(dim, 1)) {
      fail(where, "absurd size " + shape_text(dims));
    }
    needed *= std::max<hsize_t>(dim, 1);
  }
  return std::count(dims.begin(), dims.end(), hsize_t{0}) > 0 ? 0 : needed;
}

void check_storage(hid_t dataset, const std::vector<hsize_t>& dims, hsize_t element_bytes,
                   const std::string& where) {
  const hsize_t stored = H5Dget_storage_size(dataset);
  const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose, where);
  const hsize_t ratio = H5Pget_nfilters(properties.id()) > 0 ? kLargestRatio : 1;
  const hsize_t needed = check_size(dims, element_bytes, where);
  if (needed == 0) return;
  if (H5Pget_layout(properties.id()) == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(dims.size());
    check_hdf5(H5Pget_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data()), where);
    hsize_t bytes = element_bytes;
    for (const hsize_t side : chunk) {
      if (side == 0 || bytes > kLargestChunk / side) {
        fail(where, "absurd size of a chunk " + shape_text(chunk));
      }
      bytes *= side;
    }
  }
  if (needed / ratio > stored) {
    fail(where, "expected " + std::to_string(needed) + " bytes for " + shape_text(dims) +
                    ", got " + std::to_string(stored));
  }
}

Hdf5Handle create_strings(hid_t parent, const std::string& name, hsize_t size,
                          const std::string& where) {
  const Hdf5Handle type = string_type(where);
  const Hdf5Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, where);
  const Hdf5Handle properties = dataset_properties(where);
  return Hdf5Handle(H5Dcreate2(parent, name.c_str(), type.id(), space.id(), H5P_DEFAULT,
                               properties.id(), H5P_DEFAULT),
                    H5Dclose, where);
}

void write_string_block(hid_t dataset, hsize_t first, const std::vector<std::string>& values,
                        const std::string& where) {
  std::vector<const char*> pointers;
  for (const std::string& value : values) {
    if (value.find('\0') != std::string::npos || first_invalid_utf8(value)) {
      fail(where, "expected UTF-8 without NUL, got \"" + printable(value) + "\"");
    }
    pointers.push_back(value.c_str());
  }
  if (values.empty()) return;
  const hsize_t size = values.size();
  const Hdf5Handle type = string_type(where);
  const Hdf5Handle memory(H5Screate_simple(1, &size, nullptr), H5Sclose, where);
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose, where);
  check_hdf5(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &first, nullptr, &size, nullptr),
             where);
  check_hdf5(H5Dwrite(dataset, type.id(), memory.id(), space.id(), H5P_DEFAULT, pointers.data()),
             where);
}

Hdf5Handle create_rows(hid_t parent, const std::string& name, const std::vector<hsize_t>& dims,
                       StoredType type, const std::string& where) {
  const Hdf5Handle space(
      H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose, where);
  const Hdf5Handle stored = stored_type(type, where);
  const Hdf5Handle properties = dataset_properties(where);
  hsize_t row_bytes = H5Tget_size(stored.id());
  for (std::size_t i = 1; i < dims.size(); ++i) row_bytes *= dims[i];
  if (dims[0] > 0 && row_bytes > 0) {
    std::vector<hsize_t> chunk = dims;
    chunk[0] = chunk_rows(dims[0], row_bytes);
    check_hdf5(H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data()), where);
  }
  return Hdf5Handle(H5Dcreate2(parent, name.c_str(), stored.id(), space.id(), H5P_DEFAULT,
                               properties.id(), H5P_DEFAULT),
                    H5Dclose, where);
}

void write_strings(hid_t parent, const std::string& name, const std::vector<std::string>& values,
                   const std::string& where) {
  Hdf5Handle dataset = create_strings(parent, name, values.size(), where);
  write_string_block(dataset.id(), 0, values, where);
  dataset.close(where);
}

void write_attribute(hid_t object, const std::string& name, const std::string& value,
                     const std::string& where) {
  const Hdf5Handle type = string_type(where);
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose, where);
  Hdf5Handle attribute(
      H5Acreate2(object, name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      where);
  const char* pointer = value.c_str();
  check_hdf5(H5Awrite(attribute.id(), type.id(), &pointer), where);
  attribute.close(where);
}

void write_rows(hid_t parent, const std::string& name, const RowMatrix& rows, int tokens,
                StoredType type, const std::string& where) {
  if (!all_finite(rows.data(), rows.size())) fail(where, "expected finite values, got NaN or infinity");
  const hsize_t n = static_cast<hsize_t>(rows.rows()), w = static_cast<hsize_t>(rows.cols());
  std::vector<hsize_t> dims{n, w};
  if (tokens > 0) dims = {n, static_cast<hsize_t>(tokens), w / static_cast<hsize_t>(tokens)};
  const bool half = type == StoredType::float16;
  Hdf5Handle dataset = create_rows(parent, name, dims, type, where);
  if (rows.size() > 0) {
    const std::vector<std::uint16_t> halves =
        half ? to_halves(rows, where) : std::vector<std::uint16_t>{};
    const void* data = half ? static_cast<const void*>(halves.data()) : rows.data();
    const Hdf5Handle stored = stored_type(type, where);
    check_hdf5(H5Dwrite(dataset.id(), stored.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data), where);
  }
  dataset.close(where);
}

bool has_object(hid_t parent, const std::string& name, const std::string& where) {
  if (H5Lexists(parent, name.c_str(), H5P_DEFAULT) <= 0) {
    H5Eclear2(H5E_DEFAULT);
    return false;
  }
  H5L_info_t info;
  check_hdf5(H5Lget_info(parent, name.c_str(), &info, H5P_DEFAULT), where);
  if (info.type != H5L_TYPE_HARD) fail(where, "is a soft or external link, which is refused");
  return true;
}

std::string read_attribute(hid_t object, const std::string& name, const std::string& where) {
  if (H5Aexists(object, name.c_str()) <= 0) {
    fail(where, "attribute \"" + name + "\" is missing");
  }
  const Hdf5Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, where);
  const Hdf5Handle found(H5Aget_type(attribute.id()), H5Tclose, where);
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose, where);
  if (H5Tget_class(found.id()) != H5T_STRING ||
      H5Sget_simple_extent_type(space.id()) != H5S_SCALAR) {
    fail(where, "attribute \"" + name + "\": expected a string");
  }
  if (H5Tis_variable_str(found.id()) > 0) {
    char* value = nullptr;
    check_hdf5(H5Aread(attribute.id(), found.id(), &value), where);
    std::string text = value == nullptr ? "" : value;
    H5free_memory(value);
    return text;
  }
  const std::size_t size = H5Tget_size(found.id());
  if (size > kLargestAttribute) fail(where, "attribute \"" + name + "\" is too long");
  std::string text(size, '\0');
  check_hdf5(H5Aread(attribute.id(), found.id(), text.data()), where);
  return text.substr(0, text.find('\0'));
}

namespace {

Hdf5Handle open_strings(hid_t parent, const std::string& name, const std::string& where) {
  Hdf5Handle dataset = open_dataset(parent, name, where);
  if (is_virtual(dataset.id(), where)) fail(where, "is a virtual dataset, which is refused");
  const Hdf5Handle found(H5Dget_type(dataset.id()), H5Tclose, where);
  if (H5Tget_class(found.id()) != H5T_STRING || H5Tis_variable_str(found.id()) <= 0) {
    fail(where, "expected variable-length strings");
  }
  check_storage(dataset.id(), dimensions(dataset.id(), 1, where), H5Tget_size(found.id()), where);
  return dataset;
}

std::vector<std::string> read_string_block(hid_t dataset, hsize_t first, hsize_t count,
                                           const std::string& where) {
  std::vector<std::string> values;
  if (count == 0) return values;
  const Hdf5Handle found(H5Dget_type(dataset), H5Tclose, where);
  const Hdf5Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, where);
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose, where);
  check_hdf5(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &first, nullptr, &count, nullptr),
             where);
  std::vector<char*> pointers(count);
  check_hdf5(
      H5Dread(dataset, found.id(), memory.id(), space.id(), H5P_DEFAULT, pointers.data()), where);
  values.reserve(pointers.size());
  for (const char* pointer : pointers) values.emplace_back(pointer == nullptr ? "" : pointer);
  H5Dvlen_reclaim(found.id(), memory.id(), H5P_DEFAULT, pointers.data());
  for (const std::string& value : values) {
    if (first_invalid_utf8(value)) fail(where, "expected UTF-8, got \"" + printable(value) + "\"");
  }
  return values;
}

}  // namespace

std::vector<std::string> read_strings(hid_t parent, const std::string& name,
                                      const std::string& where) {
  const Hdf5Handle dataset = open_strings(parent, name, where);
  return read_string_block(dataset.id(), 0, dimensions(dataset.id(), 1, where)[0], where);
}

std::string read_string(hid_t parent, const std::string& name, hsize_t row,
                        const std::string& where) {
  const Hdf5Handle dataset = open_strings(parent, name, where);
  return read_string_block(dataset.id(), row, 1, where).front();
}

}  // namespace probe

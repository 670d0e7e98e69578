#include "probe/store/row_source.h"

#include <algorithm>
#include <cmath>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/store/apart.h"
#include "probe/store/embedding_content.h"
#include "probe/store/half.h"
#include "probe/store/hdf5_data.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::input, where + ": " + message);
}

StoredType found_type(hid_t dataset, const std::string& where) {
  const Hdf5Handle found(H5Dget_type(dataset), H5Tclose, where);
  for (const StoredType type : {StoredType::float32, StoredType::float16}) {
    if (H5Tequal(found.id(), stored_type(type, where).id()) > 0) return type;
  }
  fail(where, "expected little-endian float32 or float16");
}

// The name of part `index`, or of the dataset in it.
template <typename Get>
std::string part_name(const Get& get, hid_t properties, std::size_t index,
                      const std::string& where) {
  const ssize_t size = get(properties, index, nullptr, 0);
  if (size < 0 || size > 1 << 16) fail(where, "its parts cannot be read");
  std::string name(static_cast<std::size_t>(size) + 1, '\0');
  get(properties, index, name.data(), name.size());
  name.resize(static_cast<std::size_t>(size));
  return name;
}

// First row and rows of a selection that is whole rows, one after another.
std::pair<hsize_t, hsize_t> selected_rows(hid_t space, hsize_t row_values,
                                          const std::string& where) {
  const int rank = H5Sget_simple_extent_ndims(space);
  const hssize_t points = H5Sget_select_npoints(space);
  std::vector<hsize_t> start(3), end(3);
  const bool box = rank >= 1 && rank <= 3 && points > 0 &&
                   H5Sget_select_bounds(space, start.data(), end.data()) >= 0;
  if (!box) fail(where, "expected parts of whole rows");
  hsize_t inside = 1;  // of the selection's bounds: as many points, or it has holes
  for (int axis = 0; axis < rank; ++axis) inside *= end[axis] - start[axis] + 1;
  const hsize_t rows = end[0] - start[0] + 1;
  if (inside != static_cast<hsize_t>(points) || inside != rows * row_values) {
    fail(where, "expected parts of whole rows");
  }
  return {start[0], rows};
}

// The file that a virtual dataset names. It is untrusted: it may not send us elsewhere.
fs::path resolve_part(const fs::path& file, const std::string& name, bool allow_outside,
                      const std::string& where) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const fs::path path = folder / name;  // an absolute name replaces the folder
  std::error_code code;
  const fs::path real = fs::weakly_canonical(path, code);
  const fs::path real_folder = fs::weakly_canonical(folder, code);
  const auto [end, rest] =
      std::mismatch(real_folder.begin(), real_folder.end(), real.begin(), real.end());
  if (end != real_folder.end() && !allow_outside) {
    fail(where, "its part \"" + printable(name) +
                    "\" lies outside the file's folder, which only --allow-outside permits");
  }
  if (!is_hdf5_file(path)) {
    fail(where, "its part \"" + printable(name) + "\" is not there, or not an HDF5 file");
  }
  return path;
}

}  // namespace

RowSource::RowSource(hid_t parent, const std::string& name, int rank, const std::string& where,
                     bool allow_outside)
    : where_(where), rank_(rank) {
  dataset_ = open_dataset(parent, name, where);
  shape_.type = found_type(dataset_.id(), where);
  const std::vector<hsize_t> dims =
      dimensions(dataset_.id(), static_cast<std::size_t>(rank), where);
  check_size(dims, value_bytes(shape_.type), where);
  shape_.rows = dims[0];
  shape_.tokens = rank == 3 ? dims[1] : 0;
  shape_.width = rank == 3 ? dims[1] * dims[2] : dims[1];
  if (!probe::is_virtual(dataset_.id(), where)) {
    check_storage(dataset_.id(), dims, value_bytes(shape_.type), where);
    return;
  }
  const Hdf5Handle dataset = std::move(dataset_);
  find_parts(parent, dataset.id(), allow_outside);
}

void RowSource::find_parts(hid_t parent, hid_t dataset, bool allow_outside) {
  const fs::path file = file_name(parent, where_);
  const Hdf5Handle root(H5Oopen(parent, "/", H5P_DEFAULT), H5Oclose, where_);
  const Provenance ours = read_provenance(root.id(), where_);
  const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose, where_);
  std::size_t count = 0;
  check_hdf5(H5Pget_virtual_count(properties.id(), &count), where_);
  hsize_t covered = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Hdf5Handle space(H5Pget_virtual_vspace(properties.id(), i), H5Sclose, where_);
    const auto [first, rows] = selected_rows(space.id(), shape_.width, where_);
    const std::string name = part_name(H5Pget_virtual_filename, properties.id(), i, where_);
    // HDF5 gives % a meaning in names.
    if (name.find('%') != std::string::npos || first != covered) {
      fail(where_, "expected parts that cover its rows in order, got \"" + printable(name) +
                       "\" for row " + std::to_string(covered));
    }
    Part part{resolve_part(file, name, allow_outside, where_),
              part_name(H5Pget_virtual_dsetname, properties.id(), i, where_), first, rows};
    covered += rows;
    allow_more_time(seconds_to_read(part.path));
    open_part(part);
    const std::string difference =
        difference_of_provenance(read_provenance(file_.id(), part.path.string()), ours);
    if (!difference.empty()) {
      fail(where_, "its part \"" + printable(name) + "\" is of another run: " + difference);
    }
    check_ids(root.id(), part, name);
    parts_.push_back(std::move(part));
  }
  open_ = nullptr;  // the parts have moved
  if (covered != shape_.rows || count == 0) {
    fail(where_, "expected parts that cover its " + std::to_string(shape_.rows) +
                     " rows, got " + std::to_string(covered));
  }
}

// The first and the last: parts that changed places, or were made anew of another list.
void RowSource::check_ids(hid_t root, const Part& part, const std::string& name) const {
  const std::string where = part.path.string();
  if (part.first + part.rows > count_items(root, where_) ||
      part.rows != count_items(file_.id(), where)) {
    fail(where_, "its part \"" + printable(name) + "\" holds another number of items");
  }
  const Hdf5Handle ours = open_group(root, "items", where_);
  const Hdf5Handle theirs = open_group(file_.id(), "items", where);
  for (const hsize_t row : {hsize_t{0}, part.rows - 1}) {
    const std::string wanted = read_string(ours.id(), "id", part.first + row, where_);
    const std::string found = read_string(theirs.id(), "id", row, where);
    if (found == wanted) continue;
    fail(where_, "its part \"" + printable(name) + "\" holds other items: expected \"" +
                     printable(wanted) + "\", got \"" + printable(found) + "\"");
  }
}

void RowSource::open_part(const Part& part) {
  open_ = nullptr;
  dataset_ = Hdf5Handle();
  file_ = Hdf5Handle();
  const std::string where = part.path.string() + ":" + part.object;
  Hdf5Handle file = open_embedding_file(part.path);
  // The dataset's own group, so that no link on the way leads elsewhere.
  const std::size_t slash = part.object.rfind('/');
  if (slash == std::string::npos || part.object.substr(0, slash) != "/image") {
    fail(where_, "expected parts of /image, got \"" + printable(part.object) + "\"");
  }
  const Hdf5Handle group = open_group(file.id(), "image", part.path.string());
  Hdf5Handle dataset = open_dataset(group.id(), part.object.substr(slash + 1), where);
  if (probe::is_virtual(dataset.id(), where)) fail(where, "is virtual itself, which is refused");
  const std::vector<hsize_t> dims =
      dimensions(dataset.id(), static_cast<std::size_t>(rank_), where);
  const hsize_t width = rank_ == 3 ? dims[1] * dims[2] : dims[1];
  const bool same = found_type(dataset.id(), where) == shape_.type && dims[0] == part.rows &&
                    width == shape_.width && (rank_ == 2 || dims[1] == shape_.tokens);
  if (!same) {
    fail(where, "expected " + std::to_string(part.rows) + " rows of " +
                    std::to_string(shape_.width) + " values, as the file that names it says, got " +
                    shape_text(dims));
  }
  check_storage(dataset.id(), dims, value_bytes(shape_.type), where);
  file_ = std::move(file);
  dataset_ = std::move(dataset);
  open_ = &part;
}

void RowSource::read_stored(hsize_t first, hsize_t count, void* out) {
  const Hdf5Handle type = stored_type(shape_.type, where_);
  auto* bytes = static_cast<char*>(out);
  while (count > 0) {
    hsize_t before = 0, rows = count;
    if (!parts_.empty()) {
      const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) {
        return first < p.first + p.rows;
      });
      if (open_ != &*part) open_part(*part);
      before = part->first;
      rows = std::min(count, part->first + part->rows - first);
    }
    std::vector<hsize_t> start{first - before, 0}, size{rows, shape_.width};
    if (rank_ == 3) {
      start.push_back(0);
      size = {rows, shape_.tokens, shape_.width / shape_.tokens};
    }
    const Hdf5Handle memory(H5Screate_simple(rank_, size.data(), nullptr), H5Sclose, where_);
    const Hdf5Handle space(H5Dget_space(dataset_.id()), H5Sclose, where_);
    check_hdf5(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(),
                                   nullptr),
               where_);
    check_hdf5(H5Dread(dataset_.id(), type.id(), memory.id(), space.id(), H5P_DEFAULT, bytes),
               where_);
    bytes += rows * shape_.row_bytes();
    first += rows;
    count -= rows;
  }
}

void RowSource::touch() {
  if (parts_.empty()) return touch_dataset(dataset_.id());
  for (const Part& part : parts_) {
    open_part(part);
    touch_dataset(dataset_.id());
  }
}

void RowSource::touch_dataset(hid_t dataset) const {
  const std::vector<hsize_t> dims =
      dimensions(dataset, static_cast<std::size_t>(rank_), where_);
  std::vector<hsize_t> chunk = dims;  // of a dataset without chunks: one value
  const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose, where_);
  if (H5Pget_layout(properties.id()) == H5D_CHUNKED) {
    check_hdf5(H5Pget_chunk(properties.id(), rank_, chunk.data()), where_);
  }
  std::vector<hsize_t> start(dims.size(), 0), count;
  hsize_t values = 1;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 0) return;
    count.push_back((dims[axis] + chunk[axis] - 1) / chunk[axis]);
    values *= count.back();
  }
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose, where_);
  check_hdf5(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), chunk.data(),
                                 count.data(), nullptr),
             where_);
  const Hdf5Handle memory(H5Screate_simple(1, &values, nullptr), H5Sclose, where_);
  const Hdf5Handle type = stored_type(shape_.type, where_);
  std::vector<char> out(values * value_bytes(shape_.type));
  check_hdf5(H5Dread(dataset, type.id(), memory.id(), space.id(), H5P_DEFAULT, out.data()), where_);
}

void RowSource::read_floats(hsize_t first, hsize_t count, float* out) {
  if (count == 0 || shape_.width == 0) return;
  if (shape_.type == StoredType::float32) {
    read_stored(first, count, out);
  } else {
    std::vector<std::uint16_t> halves(count * shape_.width);
    read_stored(first, count, halves.data());
    halves_to_floats(halves.data(), out, halves.size());
  }
  const auto width = static_cast<Eigen::Index>(shape_.width);
  if (all_finite(out, static_cast<Eigen::Index>(count) * width)) return;
  hsize_t row = 0;
  while (all_finite(out + row * shape_.width, width)) ++row;
  fail(where_, "row " + std::to_string(first + row) +
                   ": expected finite values, got NaN or infinity");
}

}  // namespace probe

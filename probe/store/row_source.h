// The rows of a dataset, block by block, whether they lie in the file itself or, of a file
// that `probe merge --virtual` made, in others. Private to probe/store.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probe/store/embedding_file.h"
#include "probe/store/hdf5_handle.h"

namespace probe {

struct RowShape {
  StoredType type = StoredType::float32;
  hsize_t rows = 0;
  hsize_t width = 0;   // values a row, of all its tokens
  hsize_t tokens = 0;  // of [n, t, w]; 0 of [n, w]

  bool operator==(const RowShape&) const = default;
  std::size_t row_bytes() const { return width * value_bytes(type); }
};

class RowSource {
 public:
  // Opens `name` [n, w] (rank 2) or [n, t, w] (rank 3) of `parent` and checks all that can be
  // checked without reading rows: types, ranks, and sizes against the bytes that are stored.
  //
  // We follow a virtual dataset ourselves instead of letting HDF5 do so: it would read zeros
  // for a file that is not there, and files from anywhere. Each part must be a whole
  // embedding file of the same bundle and options, below the folder of this one
  // (`allow_outside`: anywhere), the parts must cover the rows in order, and their first and
  // last ids must be those of /items here.
  // Throws Error(input).
  RowSource(hid_t parent, const std::string& name, int rank, const std::string& where,
            bool allow_outside);

  const RowShape& shape() const { return shape_; }
  bool is_virtual() const { return !parts_.empty(); }

  // Copies rows [first, first + count) as they are stored, `row_bytes` each, to `out`.
  void read_stored(hsize_t first, hsize_t count, void* out);
  // The same as floats, `width` each. Throws Error(input) naming the first row that has NaN
  // or infinity.
  void read_floats(hsize_t first, hsize_t count, float* out);
  // Reads the first value of every chunk: HDF5 then goes through all that says where rows lie, which
  // is where damaged files lead it astray, at a small part of the cost of reading the rows.
  void touch();

 private:
  struct Part {
    std::filesystem::path path;
    std::string object;
    hsize_t first = 0, rows = 0;
  };
  void find_parts(hid_t parent, hid_t dataset, bool allow_outside);
  void open_part(const Part& part);
  void touch_dataset(hid_t dataset) const;
  void check_ids(hid_t root, const Part& part, const std::string& name) const;

  std::string where_;
  int rank_;
  RowShape shape_;
  std::vector<Part> parts_;       // none: the rows lie in `dataset_`
  const Part* open_ = nullptr;    // whose dataset `dataset_` is; one at a time
  Hdf5Handle file_, dataset_;     // closed in reverse order
};

}  // namespace probe

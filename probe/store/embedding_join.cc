#include "probe/store/embedding_join.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "probe/core/utf8.h"
#include "probe/store/embedding_content.h"
#include "probe/store/hdf5_data.h"
#include "probe/store/row_source.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kBlockBytes = 4 << 20;

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::input, where + ": " + message);
}

// Ids of files that are not shards: none may stand twice.
class SeenIds {
 public:
  void add(const std::string& id) {
    // Half a SHA-256: no two of 10^12 ids will ever agree by chance.
    const std::string digest = sha256_hex(id);
    std::array<char, 16> key{};
    for (std::size_t i = 0; i < key.size(); ++i) {
      key[i] = static_cast<char>(std::stoi(digest.substr(2 * i, 2), nullptr, 16));
    }
    keys_.push_back(key);
  }

  bool has_duplicates() {
    std::sort(keys_.begin(), keys_.end());
    return std::adjacent_find(keys_.begin(), keys_.end()) != keys_.end();
  }

 private:
  std::vector<std::array<char, 16>> keys_;
};

// Ids of a file's items and failed items, in the order of its list.
template <typename Visit>
void for_each_id(const std::vector<std::string>& ids, const FailedItems& failed,
                 std::int64_t first, const Visit& visit) {
  std::size_t next_failed = 0, next = 0;
  const auto all = static_cast<std::int64_t>(ids.size() + failed.size());
  for (std::int64_t position = first; position < first + all; ++position) {
    const bool bad = next_failed < failed.size() && failed.item[next_failed] == position;
    if (!bad && next == ids.size()) return;
    visit(bad ? failed.id[next_failed++] : ids[next++]);
  }
}

class Join {
 public:
  Join(std::vector<FileSummary> files, const fs::path& path, const JoinOptions& options)
      : files_(std::move(files)), path_(path), options_(options), where_(path.string()) {
    for (const FileSummary& file : files_) result_.items += file.items;
  }

  JoinResult run() {
    NewFile out(path_);
    join_items(out.id());
    const Hdf5Handle image = create_group(out.id(), "image", where_);
    for (const StoredRows& rows : files_.front().rows) {
      if (options_.virtual_rows) {
        refer_to_rows(image.id(), rows);
      } else {
        copy_rows(image.id(), rows);
      }
    }
    join_texts(out.id());
    write_failed(out.id(), failed_, where_);
    write_origin(out.id());
    out.finish();
    result_.failed = static_cast<std::int64_t>(failed_.size());
    return result_;
  }

 private:
  void join_items(hid_t out) {
    const Hdf5Handle group = create_group(out, "items", where_);
    std::vector<Hdf5Handle> columns;
    for (const ItemColumn& column : kItemColumns) {
      columns.push_back(create_strings(group.id(), column.name,
                                       static_cast<hsize_t>(result_.items),
                                       where_ + ":/items/" + column.name));
    }
    Sha256 list;
    SeenIds seen;
    const bool shards = files_.front().shard.has_value();
    hsize_t row = 0;
    std::int64_t position = 0;
    for (const FileSummary& file : files_) {
      const Hdf5Handle in = open_embedding_file(file.path);
      const ItemColumns items = read_items(in.id(), file.path.string());
      if (static_cast<std::int64_t>(items.size()) != file.items) {
        fail(file.path.string(), "has changed while it was read");
      }
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::vector<std::string>& values = items.*kItemColumns[c].values;
        const std::string object = file.path.string() + ":/items/" + kItemColumns[c].name;
        if (values.size() != items.size()) {
          fail(object, "expected " + std::to_string(items.size()) + " rows, got " +
                           std::to_string(values.size()));
        }
        write_string_block(columns[c].id(), row, values, object);
      }
      const std::int64_t first = shards ? position : 0;
      for_each_id(items.id, file.failed, first, [&](const std::string& id) {
        shards ? list.add_string(id) : seen.add(id);
      });
      take_failed(file, shards ? 0 : position);
      row += static_cast<hsize_t>(file.items);
      position += file.all_items();
    }
    for (Hdf5Handle& column : columns) column.close(where_);
    if (shards && list.finish() != files_.front().shard->ids_sha256) {
      fail(files_.front().path.string(),
           "the ids of its shards are not those of the list that they were made from");
    }
    if (!shards && seen.has_duplicates()) name_duplicate();
  }

  void take_failed(const FileSummary& file, std::int64_t offset) {
    for (std::size_t i = 0; i < file.failed.size(); ++i) {
      failed_.item.push_back(file.failed.item[i] + offset);
      failed_.id.push_back(file.failed.id[i]);
      failed_.path.push_back(file.failed.path[i]);
      failed_.reason.push_back(file.failed.reason[i]);
    }
  }

  // A second pass, only to say which id it is.
  [[noreturn]] void name_duplicate() const {
    std::unordered_map<std::string, const FileSummary*> owners;
    for (const FileSummary& file : files_) {
      const Hdf5Handle in = open_embedding_file(file.path);
      std::vector<std::string> ids = read_items(in.id(), file.path.string()).id;
      ids.insert(ids.end(), file.failed.id.begin(), file.failed.id.end());
      for (const std::string& id : ids) {
        const auto [it, fresh] = owners.emplace(id, &file);
        if (!fresh) {
          fail(file.path.string(), "id \"" + printable(id) + "\" stands in " +
                                       it->second->path.string() + " too");
        }
      }
    }
    fail(where_, "an id stands twice");
  }

  std::vector<hsize_t> dimensions_of(const StoredRows& rows) const {
    std::vector<hsize_t> dims{static_cast<hsize_t>(result_.items)};
    if (rows.tokens > 0) dims.push_back(static_cast<hsize_t>(rows.tokens));
    dims.push_back(static_cast<hsize_t>(rows.tokens > 0 ? rows.width / rows.tokens : rows.width));
    return dims;
  }

  // Blocks end where chunks of the new dataset do, so that each chunk is written once.
  void copy_rows(hid_t image, const StoredRows& rows) {
    const std::string object = where_ + ":/image/" + rows.name;
    const std::vector<hsize_t> dims = dimensions_of(rows);
    Hdf5Handle dataset = create_rows(image, rows.name, dims, rows.type, object);
    const std::size_t row_bytes =
        static_cast<std::size_t>(rows.width) * value_bytes(rows.type);
    const hsize_t chunk = chunk_rows(dims[0], row_bytes);
    const hsize_t block = chunk * std::max<hsize_t>(1, kBlockBytes / (chunk * std::max<hsize_t>(row_bytes, 1)));
    std::vector<char> bytes(block * row_bytes);
    hsize_t filled = 0, written = 0;
    const auto flush = [&] {
      if (filled == 0) return;
      check_finite(bytes.data(), filled, rows, written, object);
      write_block(dataset.id(), dims, written, filled, rows.type, bytes.data(), object);
      written += filled;
      filled = 0;
    };
    for (const FileSummary& file : files_) {
      const Hdf5Handle in = open_embedding_file(file.path);
      const std::string where = file.path.string();
      const Hdf5Handle group = open_group(in.id(), "image", where);
      RowSource source(group.id(), rows.name, rows.tokens > 0 ? 3 : 2,
                       where + ":/image/" + rows.name, options_.allow_outside);
      if (static_cast<std::int64_t>(source.shape().rows) != file.items ||
          static_cast<std::int64_t>(source.shape().width) != rows.width) {
        fail(where, "has changed while it was read");
      }
      for (hsize_t row = 0; row < source.shape().rows;) {
        const hsize_t count = std::min(block - filled, source.shape().rows - row);
        source.read_stored(row, count, bytes.data() + filled * row_bytes);
        row += count;
        filled += count;
        if (filled == block) flush();
        if (options_.on_rows) options_.on_rows(static_cast<std::int64_t>(count));
      }
    }
    flush();
    dataset.close(object);
  }

  static void write_block(hid_t dataset, const std::vector<hsize_t>& dims, hsize_t first,
                          hsize_t count, StoredType type, const void* data,
                          const std::string& object) {
    std::vector<hsize_t> start(dims.size(), 0), size = dims;
    start[0] = first;
    size[0] = count;
    const Hdf5Handle memory(
        H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose, object);
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose, object);
    check_hdf5(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(),
                                   nullptr),
               object);
    const Hdf5Handle stored = stored_type(type, object);
    check_hdf5(H5Dwrite(dataset, stored.id(), memory.id(), space.id(), H5P_DEFAULT, data), object);
  }

  // A bit pattern whose exponent is all ones is NaN or infinity.
  static void check_finite(const char* bytes, hsize_t rows, const StoredRows& kind, hsize_t first,
                           const std::string& object) {
    const auto width = static_cast<hsize_t>(kind.width);
    const auto check = [&](auto word, decltype(word) exponent) {
      for (hsize_t i = 0; i < rows * width; ++i) {
        std::memcpy(&word, bytes + i * sizeof(word), sizeof(word));
        if ((word & exponent) != exponent) continue;
        fail(object, "row " + std::to_string(first + i / width) +
                         ": expected finite values, got NaN or infinity");
      }
    };
    if (kind.type == StoredType::float16) {
      check(std::uint16_t{}, std::uint16_t{0x7C00});
    } else {
      check(std::uint32_t{}, std::uint32_t{0x7F800000});
    }
  }

  void refer_to_rows(hid_t image, const StoredRows& rows) {
    const std::string object = where_ + ":/image/" + rows.name;
    const std::vector<hsize_t> dims = dimensions_of(rows);
    const int rank = static_cast<int>(dims.size());
    const Hdf5Handle space(H5Screate_simple(rank, dims.data(), nullptr), H5Sclose, object);
    const Hdf5Handle properties = dataset_properties(object);
    const std::string source = "/image/" + rows.name;
    hsize_t row = 0;
    for (const FileSummary& file : files_) {
      if (file.items == 0) continue;
      std::vector<hsize_t> start(dims.size(), 0), size = dims;
      start[0] = row;
      size[0] = static_cast<hsize_t>(file.items);
      check_hdf5(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr,
                                     size.data(), nullptr),
                 object);
      const Hdf5Handle part(H5Screate_simple(rank, size.data(), nullptr), H5Sclose, object);
      check_hdf5(H5Pset_virtual(properties.id(), space.id(), relative_name(file).c_str(),
                                source.c_str(), part.id()),
                 object);
      row += static_cast<hsize_t>(file.items);
    }
    check_hdf5(H5Sselect_all(space.id()), object);
    const Hdf5Handle type = stored_type(rows.type, object);
    Hdf5Handle dataset(H5Dcreate2(image, rows.name.c_str(), type.id(), space.id(), H5P_DEFAULT,
                                  properties.id(), H5P_DEFAULT),
                       H5Dclose, object);
    dataset.close(object);
  }

  // As seen from the new file's folder, so that both can be moved together.
  std::string relative_name(const FileSummary& file) const {
    const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
    const fs::path name = fs::canonical(file.path).lexically_relative(fs::canonical(folder));
    if (name.empty() || (*name.begin() == ".." && !options_.allow_outside)) {
      fail(file.path.string(), "lies outside " + folder.string() + ", where " +
                                   path_.filename().string() +
                                   " will look for it; --allow-outside permits that");
    }
    if (name.string().find('%') != std::string::npos) {
      fail(file.path.string(), "a virtual file cannot name it: HDF5 gives % a meaning of its own");
    }
    return name.string();
  }

  void join_texts(hid_t out) {
    std::vector<std::string> prompts;
    std::vector<RowMatrix> parts;
    std::unordered_map<std::string, std::size_t> known;
    Eigen::Index width = 0;
    for (const FileSummary& file : files_) {
      if (file.shard && file.shard->index > 0) break;  // shard 0 has them
      const EmbeddingSet set = read_embedding_file(file.path, {false, false, false, true, false});
      for (std::size_t i = 0; i < set.prompts.size(); ++i) {
        if (!known.emplace(set.prompts[i], prompts.size()).second && files_.size() > 1 &&
            !file.shard) {
          continue;
        }
        prompts.push_back(set.prompts[i]);
        parts.push_back(set.text_embedding.row(static_cast<Eigen::Index>(i)));
        width = set.text_embedding.cols();
      }
    }
    if (files_.front().shard) check_prompts(prompts);
    RowMatrix rows(static_cast<Eigen::Index>(prompts.size()), width);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      rows.row(static_cast<Eigen::Index>(i)) = parts[i];
    }
    const bool half = !files_.front().rows.empty() &&
                      files_.front().rows.front().type == StoredType::float16;
    write_text(out, prompts, rows, half ? StoredType::float16 : StoredType::float32, where_);
    result_.prompts = static_cast<std::int64_t>(prompts.size());
  }

  void check_prompts(const std::vector<std::string>& prompts) const {
    Sha256 texts;
    for (const std::string& prompt : prompts) texts.add_string(prompt);
    if (texts.finish() == files_.front().shard->prompts_sha256) return;
    fail(files_.front().path.string(),
         "its texts are not those that it was made with: " + std::to_string(prompts.size()) +
             " found");
  }

  void write_origin(hid_t out) const {
    const FileSummary& first = files_.front();
    Provenance provenance = first.provenance;
    const nlohmann::json origin = {{"files", files_.size()},
                                   {"shards", first.shard.has_value()},
                                   {"command_line", provenance.command_line}};
    provenance.command_line = options_.command_line;
    write_attribute(out, "merged_from", origin.dump(), where_);
    const bool half = !first.rows.empty() && first.rows.front().type == StoredType::float16;
    write_attributes(out, provenance, half ? StoredType::float16 : StoredType::float32, where_);
  }

  std::vector<FileSummary> files_;
  fs::path path_;
  const JoinOptions& options_;
  std::string where_;
  JoinResult result_;
  FailedItems failed_;
};

}  // namespace

JoinResult join_embedding_files(std::vector<FileSummary> files, const fs::path& path,
                                const JoinOptions& options) {
  check_join(files);
  for (const FileSummary& file : files) {
    std::error_code code;
    if (fs::equivalent(file.path, path, code)) {
      throw Error(ErrorKind::usage, path.string() + ": is one of the files to join");
    }
    const bool nested = std::any_of(file.rows.begin(), file.rows.end(),
                                    [](const StoredRows& rows) { return rows.is_virtual; });
    if (options.virtual_rows && nested) {
      fail(file.path.string(), "is virtual itself; join it without --virtual");
    }
    // Its texts are tried where they are read, and vectors are read only to be copied.
    const bool copied = !options.virtual_rows;
    try_embedding_file(file.path, {copied, copied, copied, false, options.allow_outside});
  }
  return Join(std::move(files), path, options).run();
}

}  // namespace probe

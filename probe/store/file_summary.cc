#include "probe/store/file_summary.h"

#include <nlohmann/json.hpp>

#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/store/apart.h"
#include "probe/store/embedding_content.h"
#include "probe/store/hdf5_data.h"
#include "probe/store/row_source.h"

namespace probe {
namespace {

FileSummary open_and_summarize(const std::filesystem::path& path, bool allow_outside) {
  const std::string where = path.string();
  const Hdf5Handle file = open_embedding_file(path);
  FileSummary summary;
  summary.path = path;
  summary.provenance = read_provenance(file.id(), where);
  summary.items = static_cast<std::int64_t>(count_items(file.id(), where));
  summary.failed = read_failed(file.id(), where);
  summary.shard = read_shard(file.id(), where);
  const Hdf5Handle image = open_group(file.id(), "image", where);
  for (const char* name : {"embedding", "mean_tokens", "tokens"}) {
    const std::string object = where + ":/image/" + name;
    if (!has_object(image.id(), name, object)) continue;
    const int rank = std::string(name) == "tokens" ? 3 : 2;
    const RowSource source(image.id(), name, rank, object, allow_outside);
    const RowShape& shape = source.shape();
    if (static_cast<std::int64_t>(shape.rows) != summary.items) {
      throw Error(ErrorKind::input, object + ": expected " + std::to_string(summary.items) +
                                        " rows, got " + std::to_string(shape.rows));
    }
    summary.rows.push_back({name, shape.type, static_cast<std::int64_t>(shape.width),
                            static_cast<std::int64_t>(shape.tokens), source.is_virtual()});
  }
  return summary;
}

}  // namespace

FileSummary read_file_summary(const std::filesystem::path& path, bool allow_outside) {
  check_is_hdf5(path);
  try_apart(path.string(), seconds_to_read(path),
            [&] { open_and_summarize(path, allow_outside); });
  return open_and_summarize(path, allow_outside);
}

std::string difference_of_provenance(const Provenance& a, const Provenance& b) {
  std::string difference;
  const auto compare = [&](const char* name, const std::string& mine, const std::string& other) {
    if (!difference.empty() || mine == other) return;
    difference = std::string(name) + " \"" + printable(mine) + "\", not \"" + printable(other) +
                 "\"";
  };
  compare("encoder", a.encoder, b.encoder);
  compare("bundle", a.bundle_sha256, b.bundle_sha256);
  compare("architecture", a.architecture, b.architecture);
  compare("layer", a.layer, b.layer);
  compare("pooling", a.pooling, b.pooling);
  compare("tiles", a.tiles, b.tiles);
  compare("arithmetic", a.compute_dtype, b.compute_dtype);
  compare("preprocessing", a.preprocessing, b.preprocessing);
  compare("runtime", a.runtime, b.runtime);
  return difference;
}

std::string difference_of_rows(const std::vector<StoredRows>& a,
                               const std::vector<StoredRows>& b) {
  const auto words = [](const std::vector<StoredRows>& rows) {
    std::string text;
    for (const StoredRows& row : rows) {
      text += (text.empty() ? "" : ", ") + row.name + " of " + std::to_string(row.width) +
              (row.type == StoredType::float16 ? " float16" : " float32");
    }
    return text.empty() ? std::string("no vectors") : text;
  };
  return words(a) == words(b) ? "" : words(a) + ", not " + words(b);
}

std::string shard_json(const Shard& shard) {
  return nlohmann::json{{"index", shard.index},
                        {"count", shard.count},
                        {"total", shard.total},
                        {"ids_sha256", shard.ids_sha256},
                        {"labels_sha256", shard.labels_sha256},
                        {"prompts_sha256", shard.prompts_sha256}}
      .dump();
}

std::optional<Shard> parse_shard_json(const std::string& text) {
  Shard shard;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    for (auto [name, value] : {std::pair{"index", &shard.index}, std::pair{"count", &shard.count},
                               std::pair{"total", &shard.total}}) {
      json.at(name).get_to(*value);
    }
    for (auto [name, value] : {std::pair{"ids_sha256", &shard.ids_sha256},
                               std::pair{"labels_sha256", &shard.labels_sha256},
                               std::pair{"prompts_sha256", &shard.prompts_sha256}}) {
      json.at(name).get_to(*value);
    }
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  const bool good = shard.count >= 1 && shard.count <= kMostShards && shard.index >= 0 &&
                    shard.index < shard.count && shard.total >= shard.count &&
                    shard.total <= kMostItems;
  return good ? std::optional(shard) : std::nullopt;
}

}  // namespace probe

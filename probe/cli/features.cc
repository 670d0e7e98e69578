#include "probe/cli/features.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "encoders/preprocess.h"
#include "encoders/vocabulary.h"
#include "probe/cli/encode_in_order.h"
#include "probe/cli/encoder_choice.h"
#include "probe/cli/progress.h"
#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "probe/core/utf8.h"
#include "probe/store/embedding_file.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

constexpr int kFlushEvery = 512;  // records between two flushes to disk

}  // namespace

std::string pooling_name(bool include_prefix, const TileOptions& tiles) {
  std::string name = include_prefix ? "mean of all tokens" : "mean of patch tokens";
  if (tiles.scheme == TileScheme::anyres) name += " of the whole image and its tiles";
  if (tiles.scheme == TileScheme::dynamic) name += " of the tiles and the thumbnail";
  if (tiles.shuffle > 1) name += fmt::format(", pixel shuffle {}", 1.0 / tiles.shuffle);
  return name;
}

LogPlace cache_place(bool no_cache) {
  fs::path base;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') {
    base = xdg;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    base = fs::path(home) / ".cache";
  }
  if (no_cache || base.empty()) return {};
  // A home that cannot be written to is no reason to stop: the cache only saves time.
  const fs::path folder = base / "probe/embeddings";
  std::error_code code;
  fs::create_directories(folder, code);
  if (::access(folder.c_str(), W_OK) != 0) {
    fmt::print(stderr, "warning: {}: cannot write; going on without the cache\n", folder.string());
    return {};
  }
  return {folder, {}, false, {}};
}

// What one call of embed_items knows of each item, by index.
struct FeatureSource::Work {
  std::vector<std::string> keys;      // content hash; empty: not readable
  std::vector<std::string> reasons;   // why an item has no vector; empty: it has
  std::map<std::string, std::string> bad_content;  // content hash -> reason
  std::mutex log_mutex;               // the loader asks while vectors are appended
  int unflushed = 0;

  // The item whose pictures are being encoded; it may have begun in an earlier batch.
  std::size_t current = 0;
  Eigen::RowVectorXd token_sum;       // weighted by the tokens of each picture
  double token_weight = 0;
  Eigen::RowVectorXf embedding;
};

FeatureSource::FeatureSource(EncoderSpec spec, const EncoderArguments& arguments,
                             bool keep_tokens, LogPlace place, bool quiet)
    : spec_(std::move(spec)),
      options_(encoder_options(arguments)),
      command_line_(arguments.command_line),
      layer_(find_layer(spec_, options_.layer)),
      tiling_{tile_options(arguments)},
      place_(std::move(place)),
      fast_decode_(arguments.fast_decode),
      quiet_(quiet) {
  if (fast_decode_ && tiling_.options.scheme != TileScheme::whole) {
    throw Error(ErrorKind::usage, "--fast-decode: expected no --tiles, which need the whole picture");
  }
  options_.layer = layer_.name;
  resolve_dtype(spec_, options_, quiet_);
  options_.keep_tokens = keep_tokens;
  options_.pixel_shuffle = tiling_.options.shuffle;
  tiling_ = check_tiling(tiling_.options, spec_, layer_, options_);
}

FeatureSource::~FeatureSource() = default;

std::string FeatureSource::identity() const {
  nlohmann::json fields = {{"bundle", spec_.bundle_sha256},
                           {"device", options_.device.substr(0, 4)},
                           {"dtype", options_.dtype},
                           {"layer", layer_.name},
                           {"pooling", pooling_name(options_.include_prefix, tiling_.options)},
                           {"preprocess_version", kPreprocessVersion},
                           {"runtime", runtime_name(options_)},
                           {"tokens", options_.keep_tokens}};
  if (tiling_.options.scheme != TileScheme::whole) {
    fields["tiles"] = tiles_json(tiling_.options, spec_.image.size);
  }
  if (fast_decode_) fields["fast_decode"] = true;
  if (!place_.shard.empty()) fields["shard"] = place_.shard;
  return fields.dump();
}

std::size_t FeatureSource::token_width() const {
  return static_cast<std::size_t>(options_.pixel_shuffle * options_.pixel_shuffle) * layer_.width;
}

std::size_t FeatureSource::record_width() const {
  std::size_t width = static_cast<std::size_t>(spec_.embedding_dim) + token_width();
  if (options_.keep_tokens) width += static_cast<std::size_t>(layer_.tokens) * layer_.width;
  return width;
}

FeatureLog& FeatureSource::log() {
  if (log_) return *log_;
  const bool part = !place_.part_file.empty();
  fs::path path = place_.part_file;
  const bool temporary = !part && place_.folder.empty();
  if (!part) {
    const fs::path folder = temporary ? fs::temp_directory_path() : place_.folder;
    const std::string name = sha256_hex(identity()).substr(0, 16);
    path = folder / (temporary ? "probe-" + std::to_string(::getpid()) + "-" + name + ".log"
                               : name + ".log");
  }
  const auto on_wait = [&] {
    fmt::print(stderr, "waiting for another probe that uses {}\n", path.string());
  };
  log_ = std::make_unique<FeatureLog>(path, identity(), record_width(),
                                      part ? std::function<void()>{} : on_wait, place_.restart);
  if (temporary) ::unlink(path.c_str());  // lives on until it is closed
  return *log_;
}

void FeatureSource::record_batch(const ImageBatch& batch, const ImageFeatures& features, Work& work) {
  const std::lock_guard lock(work.log_mutex);
  std::size_t finished = 0;
  for (std::size_t i = 0; i < batch.views.size(); ++i) {
    const LoadedView& loaded = batch.views[i];
    if (work.current != loaded.index) work.token_weight = 0;
    work.current = loaded.index;
    if (loaded.view.embeds) work.embedding = features.embedding.row(i);
    if (loaded.view.pools) {
      const double weight = batch.windows.empty() ? 1 : batch.windows[i].count();
      const Eigen::RowVectorXd sum = weight * features.mean_tokens.row(i).cast<double>();
      if (work.token_weight == 0) {
        work.token_sum = sum;  // one picture's mean stays as it is, to the last bit
      } else {
        work.token_sum += sum;
      }
      work.token_weight += weight;
    }
    if (!loaded.last) continue;
    std::vector<float> record(record_width());
    auto out = std::copy_n(work.embedding.data(), spec_.embedding_dim, record.begin());
    for (const double sum : work.token_sum) {
      *out++ = static_cast<float>(sum / work.token_weight);
    }
    if (features.tokens.cols() > 0) {
      std::copy_n(features.tokens.row(i).data(), features.tokens.cols(), out);
    }
    const bool finite =
        Eigen::Map<const Eigen::VectorXf>(record.data(), std::ssize(record)).allFinite();
    const std::string& key = batch.items[finished++].content_sha256;
    if (finite) {
      log_->append(key, record);
    } else {
      work.bad_content[key] = "the encoder gave NaN or infinity";
    }
  }
  work.unflushed += static_cast<int>(finished);
  if (work.unflushed >= kFlushEvery) {
    log_->flush();
    work.unflushed = 0;
  }
}

EmbeddingSet FeatureSource::embed_items(const std::vector<Item>& items, bool fail_fast,
                                        std::vector<Failure>& failures) {
  FeatureLog& features = log();
  if (!place_.part_file.empty() && features.size() > 0 && !quiet_) {
    fmt::print(stderr, "resuming: {} vectors found in {}\n", features.size(),
               place_.part_file.string());
  }
  Work work;
  work.keys.resize(items.size());
  work.reasons.resize(items.size());
  {
    const auto known = [&](const std::string& key) {
      const std::lock_guard lock(work.log_mutex);
      return features.contains(key);
    };
    const SideBySide side = side_by_side(options_, layer_.tokens);
    ImageLoader loader(items, spec_.image, tiling_, side.options.batch_size, fast_decode_ ? spec_.image.size : 0, known);
    Progress progress("embedding with " + spec_.name, std::ssize(items), quiet_);
    const auto load = [&]() -> Encoder& {
      if (!image_tower_) image_tower_ = load_encoder(spec_, side.options, {true, false});
      return *image_tower_;
    };
    encode_in_order(loader, side, load, [&](const ImageBatch& batch, const ImageFeatures& encoded) {
      record_batch(batch, encoded, work);
      for (const auto* part : {&batch.items, &batch.done}) {
        for (const LoadedItem& item : *part) {
          work.keys[item.index] = item.content_sha256;
          work.reasons[item.index] = item.failure;
          if (item.failure.empty()) continue;
          if (!item.content_sha256.empty()) work.bad_content[item.content_sha256] = item.failure;
          if (fail_fast) {
            features.flush();
            throw Error(ErrorKind::input, printable(items[item.index].id) + ": " + item.failure);
          }
        }
        progress.advance(std::ssize(*part), part == &batch.items);
      }
    });
  }
  features.flush();
  FailedItems failed;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const auto bad = work.bad_content.find(work.keys[i]); bad != work.bad_content.end()) {
      work.reasons[i] = bad->second;
    }
    if (work.reasons[i].empty()) continue;
    failures.push_back({items[i].id, items[i].image.string(), work.reasons[i]});
    failed.item.push_back(static_cast<std::int64_t>(i));
    failed.id.push_back(items[i].id);
    failed.path.push_back(printable(items[i].image.string()));
    failed.reason.push_back(printable(work.reasons[i]));
    if (fail_fast) {
      throw Error(ErrorKind::input, printable(items[i].id) + ": " + work.reasons[i]);
    }
  }
  EmbeddingSet set = collect(items, work);
  set.failed = std::move(failed);
  // The cache is locked while it is open; another source of this process may want the same one.
  if (place_.part_file.empty()) log_.reset();
  return set;
}

EmbeddingSet FeatureSource::collect(const std::vector<Item>& items, const Work& work) {
  EmbeddingSet set;
  set.provenance = provenance();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (work.reasons[i].empty()) rows.push_back(i);
  }
  const auto n = static_cast<Eigen::Index>(rows.size());
  const Eigen::Index d = spec_.embedding_dim, w = static_cast<Eigen::Index>(token_width());
  const Eigen::Index all =
      options_.keep_tokens ? Eigen::Index{layer_.tokens} * layer_.width : 0;
  set.embedding.resize(n, d);
  set.mean_tokens.resize(n, w);
  set.tokens.resize(n, all);
  set.token_count = options_.keep_tokens ? layer_.tokens : 0;
  std::vector<float> record(record_width());
  for (Eigen::Index r = 0; r < n; ++r) {
    const Item& item = items[rows[r]];
    log_->find(work.keys[rows[r]], record);
    const Eigen::Map<const Eigen::RowVectorXf> values(record.data(), std::ssize(record));
    set.embedding.row(r) = values.head(d);
    set.mean_tokens.row(r) = values.segment(d, w);
    if (all > 0) set.tokens.row(r) = values.tail(all);
    set.items.id.push_back(item.id);
    set.items.path.push_back(printable(item.image.string()));
    set.items.category.push_back(item.category);
    set.items.condition.push_back(item.condition);
    set.items.original_id.push_back(item.original_id);
    set.items.attribute.push_back(item.attribute);
    set.items.content_sha256.push_back(work.keys[rows[r]]);
  }
  return set;
}

RowMatrix FeatureSource::embed_texts(const std::vector<std::string>& texts,
                                     std::vector<std::string>& warnings) {
  if (texts.empty()) return RowMatrix(0, spec_.embedding_dim);
  if (!text_tower_) text_tower_ = load_encoder(spec_, options_, {false, true});
  return text_tower_->encode_texts(texts, &warnings);
}

void FeatureSource::warn_of_unknown_words(const std::vector<std::string>& texts,
                                          std::vector<std::string>& warnings) const {
  if (!spec_.text) return;
  const Vocabulary vocabulary(spec_);
  for (const std::string& text : texts) vocabulary.check(text, warnings);
}

void FeatureSource::remove_log() {
  if (log_) log_->remove();
  log_.reset();
}

Provenance FeatureSource::provenance() const {
  Provenance provenance;
  provenance.encoder = spec_.name;
  provenance.architecture = spec_.architecture;
  provenance.bundle_sha256 = spec_.bundle_sha256;
  provenance.preprocessing = preprocessing_json(spec_.image);
  if (fast_decode_) {
    auto fields = nlohmann::ordered_json::parse(provenance.preprocessing);
    fields["decode"] = "JPEG by DCT scaling, to no less than twice the tower's size";
    provenance.preprocessing = fields.dump();
  }
  provenance.layer = layer_.name;
  provenance.pooling = pooling_name(options_.include_prefix, tiling_.options);
  provenance.tiles = tiles_json(tiling_.options, spec_.image.size);
  provenance.compute_dtype = options_.dtype;
  provenance.runtime = runtime_name(options_);
  provenance.command_line = command_line_;
  provenance.versions = {{"probe", PROBE_VERSION},
                         {"torch", torch_version()},
                         {"hdf5", hdf5_version()}};
  return provenance;
}

}  // namespace probe

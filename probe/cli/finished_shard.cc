#include "probe/cli/finished_shard.h"

#include <sys/stat.h>

#include <unordered_map>

#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "probe/core/utf8.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

constexpr const char* kWayOut = "; choose another name, or --restart to replace it";

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
  throw Error(ErrorKind::input, file.string() + ": " + what + kWayOut);
}

bool is_later(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

// Whether the image is still what has this content hash ("": could not be used).
bool is_unchanged(const Item& item, const std::string& content_sha256, const timespec& written) {
  if (!item.image_error.empty()) return content_sha256.empty();
  if (!item.image_bytes.empty()) {
    return content_sha256.empty() || sha256_hex(item.image_bytes) == content_sha256;
  }
  struct stat image {};
  const bool there = ::stat(item.image.c_str(), &image) == 0;
  if (!there || !is_later(image.st_ctim, written)) return there || content_sha256.empty();
  return !content_sha256.empty() && S_ISREG(image.st_mode) &&
         sha256_file(item.image) == content_sha256;
}

void check_images(const fs::path& file, std::span<const Item> items) {
  const EmbeddingSet set = read_embedding_file(file, {false, false, false, false, false});
  std::unordered_map<std::string, std::string> contents;
  for (std::size_t i = 0; i < set.items.size(); ++i) {
    contents.emplace(set.items.id[i], set.items.content_sha256[i]);
  }
  struct stat written {};
  if (::stat(file.c_str(), &written) != 0) return;
  std::int64_t changed = 0;
  std::string first;
  for (const Item& item : items) {
    const auto content = contents.find(item.id);
    const bool same = is_unchanged(
        item, content == contents.end() ? std::string() : content->second, written.st_mtim);
    if (!same && changed++ == 0) first = item.id;
  }
  if (changed > 0) {
    refuse(file, std::to_string(changed) + " of its images have changed since, the first: " +
                     printable(first));
  }
}

}  // namespace

std::optional<FileSummary> find_finished_shard(const fs::path& file, const ShardPlan& plan) {
  std::error_code code;
  if (!fs::exists(file, code)) return std::nullopt;
  FileSummary found;
  try {
    found = read_file_summary(file, false);
  } catch (const Error& error) {
    throw Error(error.kind(), error.what() + std::string(kWayOut));
  }
  if (!found.shard) refuse(file, "holds no shard");
  std::string difference = difference_of_lists(*found.shard, plan.shard);
  if (!difference.empty()) refuse(file, "holds a shard of another list: " + difference);
  if (found.shard->index != plan.shard.index) {
    refuse(file, "holds shard " + shard_name(*found.shard) + ", not " + shard_name(plan.shard));
  }
  difference = difference_of_provenance(found.provenance, plan.provenance);
  bool tokens = false;
  for (const StoredRows& rows : found.rows) {
    tokens = tokens || rows.name == "tokens";
    if (difference.empty() && rows.type != plan.type) difference = "--store";
  }
  if (difference.empty() && tokens != plan.tokens) difference = "--tokens";
  if (!difference.empty()) refuse(file, "was made with other options: " + difference);
  check_images(file, plan.items);
  return found;
}

}  // namespace probe

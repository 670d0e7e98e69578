// Whether files belong together, by what they say of themselves.
#include <algorithm>

#include "probe/core/error.h"
#include "probe/store/embedding_join.h"

namespace probe {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorKind::input, where + ": " + message);
}

// All shards of one list, each once.
void check_shards(std::vector<FileSummary>& files) {
  const FileSummary first = files.front();
  std::vector<const FileSummary*> found(static_cast<std::size_t>(first.shard->count));
  for (const FileSummary& file : files) {
    const std::string difference = difference_of_lists(*file.shard, *first.shard);
    if (!difference.empty()) {
      fail(file.path.string(), "is a shard of another list than " + first.path.string() + ": " +
                                   difference);
    }
    const FileSummary*& place = found[static_cast<std::size_t>(file.shard->index)];
    if (place != nullptr) {
      fail(file.path.string(),
           "is shard " + shard_name(*file.shard) + ", as is " + place->path.string());
    }
    place = &file;
    const ShardRange range = shard_range(*file.shard);
    const auto& positions = file.failed.item;
    if (file.all_items() != range.size() ||
        (!positions.empty() && (positions.front() < range.first || positions.back() >= range.last))) {
      fail(file.path.string(), "expected the " + std::to_string(range.size()) +
                                   " items of shard " + shard_name(*file.shard) + ", got " +
                                   std::to_string(file.items) + " and " +
                                   std::to_string(positions.size()) + " that failed");
    }
  }
  std::vector<std::int64_t> missing;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == nullptr) missing.push_back(static_cast<std::int64_t>(i));
  }
  if (!missing.empty()) {
    fail(first.path.string(), "of its " + std::to_string(found.size()) + " shards, missing: " +
                                  number_ranges(missing));
  }
  std::sort(files.begin(), files.end(), [](const FileSummary& a, const FileSummary& b) {
    return a.shard->index < b.shard->index;
  });
}

}  // namespace

std::string number_ranges(const std::vector<std::int64_t>& ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(ascending[i]);
    if (last > i) text += "-" + std::to_string(ascending[last]);
    i = last + 1;
  }
  return text;
}

void check_join(std::vector<FileSummary>& files) {
  if (files.empty()) throw Error(ErrorKind::usage, "merge: expected embedding files, got none");
  const FileSummary& first = files.front();
  for (const FileSummary& file : files) {
    if (file.shard.has_value() != first.shard.has_value()) {
      const auto kind = [](const FileSummary& f) { return f.shard ? "a shard" : "no shard"; };
      fail(file.path.string(), std::string("is ") + kind(file) + ", but " + first.path.string() +
                                   " is " + kind(first));
    }
    std::string difference = difference_of_provenance(file.provenance, first.provenance);
    if (difference.empty()) difference = difference_of_rows(file.rows, first.rows);
    if (!difference.empty()) {
      fail(file.path.string(),
           "was made in another way than " + first.path.string() + ": " + difference);
    }
  }
  if (first.shard) check_shards(files);
}

}  // namespace probe

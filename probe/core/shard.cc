#include "probe/core/shard.h"

#include <charconv>

#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "probe/core/utf8.h"

namespace probe {

ShardRange shard_range(const Shard& shard) {
  return {shard.index * shard.total / shard.count, (shard.index + 1) * shard.total / shard.count};
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::int64_t& value) {
    const auto [stop, code] = std::from_chars(at, end, value);
    const bool good = code == std::errc() && stop != at;
    at = stop;
    return good;
  };
  const bool good = number(shard.index) && at != end && *at++ == '/' && number(shard.count) &&
                    at == end && shard.count >= 1 && shard.count <= kMostShards &&
                    shard.index >= 0 && shard.index < shard.count;
  if (!good) {
    throw Error(ErrorKind::usage, "--shard: expected i/N with i from 0 to N-1 and N at most " +
                                      std::to_string(kMostShards) + ", such as 0/8 to 7/8, got \"" +
                                      printable(text) + "\"");
  }
  return shard;
}

std::string shard_name(const Shard& shard) {
  return std::to_string(shard.index) + "/" + std::to_string(shard.count);
}

Shard make_shard(std::int64_t index, std::int64_t count, const std::vector<Item>& items,
                 const std::vector<std::string>& prompts) {
  Shard shard{index, count, std::ssize(items), {}, {}, {}};
  if (shard.total < count) {
    throw Error(ErrorKind::usage, "--shard: expected at most as many parts as items, got " +
                                      std::to_string(count) + " parts of " +
                                      std::to_string(shard.total) + " items");
  }
  Sha256 ids, labels, texts;
  for (const Item& item : items) {
    ids.add_string(item.id);
    for (const std::string* label :
         {&item.category, &item.condition, &item.original_id, &item.attribute}) {
      labels.add_string(*label);
    }
  }
  for (const std::string& prompt : prompts) texts.add_string(prompt);
  shard.ids_sha256 = ids.finish();
  shard.labels_sha256 = labels.finish();
  shard.prompts_sha256 = texts.finish();
  return shard;
}

std::string difference_of_lists(const Shard& a, const Shard& b) {
  const auto against = [](const std::string& what, std::int64_t mine, std::int64_t other) {
    return what + " " + std::to_string(mine) + ", not " + std::to_string(other);
  };
  if (a.count != b.count) return against("parts", a.count, b.count);
  if (a.total != b.total) return against("items in all", a.total, b.total);
  if (a.ids_sha256 != b.ids_sha256) return "ids of the list";
  if (a.labels_sha256 != b.labels_sha256) return "categories or conditions of the list";
  if (a.prompts_sha256 != b.prompts_sha256) return "texts to embed";
  return "";
}

}  // namespace probe

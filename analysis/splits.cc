#include "analysis/splits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "analysis/sampling.h"
#include "probe/core/item.h"

namespace probe {
namespace {

// Smallest member of the set that `at` belongs to (union-find with path halving).
std::int64_t root_of(std::vector<std::int64_t>& parents, std::int64_t at) {
  while (parents[at] != at) {
    parents[at] = parents[parents[at]];
    at = parents[at];
  }
  return at;
}

void join(std::vector<std::int64_t>& parents, std::int64_t a, std::int64_t b) {
  a = root_of(parents, a);
  b = root_of(parents, b);
  parents[std::max(a, b)] = std::min(a, b);
}

struct Group {
  std::vector<std::int64_t> rows;
  bool trainable = false;
};

// Groups by category of their first row, in a seeded order, those that can be trained on
// first.
using Groups = std::map<std::string, std::vector<Group>>;

Groups groups_by_class(const ItemColumns& items, const SplitRule& rule) {
  const std::vector<std::int64_t> group_of = item_groups(items);
  std::map<std::int64_t, Group> groups;
  for (std::int64_t row = 0; row < std::ssize(items.id); ++row) {
    if (items.category[row].empty()) continue;
    Group& group = groups[group_of[row]];
    group.rows.push_back(row);
    group.trainable |= rule.train_on_all || items.condition[row] == kOriginal;
  }
  Groups by_class;
  for (auto& [id, group] : groups) {
    by_class[items.category[group.rows.front()]].push_back(std::move(group));
  }
  std::uint64_t place = 0;
  for (auto& [name, list] : by_class) {
    std::vector<Group> order;
    for (const std::int64_t i : shuffled_rows(std::ssize(list), rule.seed + 1000003 * place++)) {
      order.push_back(std::move(list[i]));
    }
    std::stable_partition(order.begin(), order.end(), [](const Group& g) { return g.trainable; });
    list = std::move(order);
  }
  return by_class;
}

void add_training(const ItemColumns& items, const SplitRule& rule, const Group& group,
                  Split& split) {
  for (const std::int64_t row : group.rows) {
    if (rule.train_on_all || items.condition[row] == kOriginal) split.train.push_back(row);
  }
}

}  // namespace

std::vector<std::int64_t> item_groups(const ItemColumns& items) {
  const std::int64_t n = std::ssize(items.id);
  std::map<std::string, std::int64_t> by_id, by_content;
  for (std::int64_t row = 0; row < n; ++row) by_id.emplace(items.id[row], row);
  std::vector<std::int64_t> parents(static_cast<std::size_t>(n));
  std::iota(parents.begin(), parents.end(), 0);
  for (std::int64_t row = 0; row < n; ++row) {
    const auto source = by_id.find(items.original_id[row]);
    if (!items.original_id[row].empty() && source != by_id.end()) {
      join(parents, row, source->second);
    }
    if (items.content_sha256[row].empty()) continue;
    const auto [first, fresh] = by_content.emplace(items.content_sha256[row], row);
    if (!fresh) join(parents, row, first->second);
  }
  for (std::int64_t row = 0; row < n; ++row) parents[row] = root_of(parents, row);
  return parents;
}

std::vector<Split> split_items(const ItemColumns& items, const SplitRule& rule) {
  std::vector<Split> splits(static_cast<std::size_t>(std::max(1, rule.folds)));
  std::int64_t dealt = 0;  // over the classes, so that the folds are of equal size
  for (const auto& [name, groups] : groups_by_class(items, rule)) {
    const std::int64_t trainable =
        std::count_if(groups.begin(), groups.end(), [](const Group& g) { return g.trainable; });
    const std::int64_t trained =
        trainable < 2 ? trainable
                      : std::clamp<std::int64_t>(
                            std::llround(rule.train_fraction * static_cast<double>(trainable)), 1,
                            trainable - 1);
    for (std::int64_t g = 0; g < std::ssize(groups); ++g) {
      const std::int64_t fold = rule.folds > 0 ? dealt++ % rule.folds : 0;
      for (std::int64_t s = 0; s < std::ssize(splits); ++s) {
        const bool tested = rule.folds > 0 ? s == fold : g >= trained;
        if (tested) {
          splits[s].test.insert(splits[s].test.end(), groups[g].rows.begin(),
                                groups[g].rows.end());
        } else {
          add_training(items, rule, groups[g], splits[s]);
        }
      }
    }
  }
  for (Split& split : splits) {
    std::sort(split.train.begin(), split.train.end());
    std::sort(split.test.begin(), split.test.end());
  }
  return splits;
}

Split hold_out(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& groups,
               double fraction, std::uint64_t seed) {
  std::map<std::int64_t, std::vector<std::int64_t>> members;
  for (const std::int64_t row : rows) members[groups[row]].push_back(row);
  std::vector<const std::vector<std::int64_t>*> list;
  for (const auto& [group, own] : members) list.push_back(&own);
  Split split;
  for (const std::int64_t i : shuffled_rows(std::ssize(list), seed)) {
    const auto wanted = std::max(1.0, std::floor(fraction * static_cast<double>(rows.size())));
    const bool held = list.size() > 1 && static_cast<double>(split.test.size()) < wanted;
    std::vector<std::int64_t>& side = held ? split.test : split.train;
    side.insert(side.end(), list[i]->begin(), list[i]->end());
  }
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.test.begin(), split.test.end());
  return split;
}

}  // namespace probe

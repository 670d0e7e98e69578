#include "analysis/locate_items.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_map>

#include "probe/core/error.h"

namespace probe {
namespace {

using Pointers = std::vector<const LocateObject*>;

// Fisher-Yates with draws that are the same in every standard library.
template <typename T>
void shuffle(std::vector<T>& values, std::mt19937_64& generator) {
  for (std::size_t i = values.size(); i > 1; --i) {
    const auto j = static_cast<std::size_t>(
        (static_cast<unsigned __int128>(generator()) * i) >> 64);
    std::swap(values[i - 1], values[j]);
  }
}

// Adds objects of `pool` from `next` on to `chosen` until there are four that are pairwise
// separate; false, with `chosen` as it was, if there are none.
bool complete(const Pointers& pool, std::size_t next, double limit, Pointers& chosen) {
  if (chosen.size() == kLocateCandidates) return true;
  for (std::size_t i = next; i < pool.size(); ++i) {
    const bool fits = std::all_of(chosen.begin(), chosen.end(), [&](const LocateObject* other) {
      return boxes_are_separate(pool[i]->box, other->box, limit);
    });
    if (!fits) continue;
    chosen.push_back(pool[i]);
    if (complete(pool, i + 1, limit, chosen)) return true;
    chosen.pop_back();
  }
  return false;
}

std::unordered_map<std::int64_t, const LocateExpression*> by_object(
    const std::vector<LocateExpression>& expressions, const std::vector<LocateObject>& objects) {
  std::set<std::int64_t> known;
  for (const LocateObject& object : objects) known.insert(object.id);
  std::unordered_map<std::int64_t, const LocateExpression*> map;
  for (const LocateExpression& expression : expressions) {
    const std::string name = std::to_string(expression.object_id);
    if (!known.contains(expression.object_id)) {
      throw Error(ErrorKind::input, "expression about annotation " + name +
                                        ", which the annotations do not have");
    }
    if (!map.emplace(expression.object_id, &expression).second) {
      throw Error(ErrorKind::input, "annotation " + name + " has two expressions");
    }
  }
  return map;
}

}  // namespace

bool boxes_are_separate(const Box& a, const Box& b, double limit) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (width <= 0 || height <= 0) return true;
  return width <= limit && height <= limit;
}

LocateItems make_locate_items(const std::vector<LocateImage>& images,
                              const std::vector<LocateObject>& objects,
                              const std::vector<LocateExpression>& expressions,
                              bool need_expressions, const LocateLimits& limits,
                              std::uint64_t seed) {
  std::unordered_map<std::int64_t, const LocateImage*> pictures;
  for (const LocateImage& image : images) pictures.emplace(image.id, &image);
  const auto described = by_object(expressions, objects);
  LocateItems result;
  LocateCounts& counts = result.counts;
  counts.images = std::ssize(images);
  counts.objects = std::ssize(objects);
  std::map<std::pair<std::int64_t, std::string>, Pointers> groups;
  for (const LocateObject& object : objects) {
    if (object.crowd) continue;
    ++counts.single;
    if (object.box.width < limits.min_side || object.box.height < limits.min_side) continue;
    ++counts.large;
    const std::string& name = limits.by_super_category ? object.super_category : object.category;
    groups[{object.image_id, name}].push_back(&object);
  }
  const auto enough = static_cast<std::size_t>(std::max(limits.min_objects, kLocateCandidates));
  for (const auto& [key, members] : groups) {
    if (members.size() < enough) continue;
    ++counts.groups;
    counts.grouped += std::ssize(members);
    for (const LocateObject* target : members) {
      // An item depends on the seed and its object alone, not on what stands before it.
      std::mt19937_64 generator(seed ^ (0x9e3779b97f4a7c15ULL *
                                        static_cast<std::uint64_t>(target->id + 1)));
      Pointers pool, chosen{target};
      for (const LocateObject* other : members) {
        if (other != target) pool.push_back(other);
      }
      shuffle(pool, generator);
      if (!complete(pool, 0, limits.max_overlap, chosen)) continue;
      ++counts.separate;
      const auto words = described.find(target->id);
      if (need_expressions && words == described.end()) continue;
      ++counts.described;
      shuffle(chosen, generator);
      const LocateImage& picture = *pictures.at(key.first);
      LocateItem item;
      item.id = std::to_string(target->id);
      item.image = picture.file_name;
      item.width = picture.width;
      item.height = picture.height;
      item.category = key.second;
      for (const LocateObject* object : chosen) item.boxes.push_back(object->box);
      item.answer = static_cast<int>(
          std::find(chosen.begin(), chosen.end(), target) - chosen.begin());
      if (words != described.end()) {
        item.expression = words->second->expression;
        item.question = words->second->question;
        item.yes_no = words->second->yes_no;
      }
      result.items.push_back(std::move(item));
    }
  }
  return result;
}

}  // namespace probe

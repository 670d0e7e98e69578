#include "probe/cli/shard_states.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "probe/core/error.h"
#include "probe/store/feature_log.h"
#include "probe/store/file_summary.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

// A file, with what tells whether it belongs to the others.
struct Candidate {
  ShardFile file;
  std::optional<FileSummary> summary;  // of a finished one
  std::string bundle;                  // of a shard
};

Candidate look_at_part(const fs::path& path) {
  Candidate candidate;
  candidate.file.path = path;
  const std::optional<LogSummary> log = read_log_summary(path);
  if (!log) {
    candidate.file.state = ShardState::damaged;
    candidate.file.remark = "is not a log of unfinished vectors";
    return candidate;
  }
  const auto identity = nlohmann::json::parse(log->identity, nullptr, false);
  if (identity.is_object() && identity.contains("shard") && identity["shard"].is_string()) {
    candidate.file.shard = parse_shard_json(identity["shard"].get<std::string>());
  }
  if (identity.is_object() && identity.contains("bundle") && identity["bundle"].is_string()) {
    candidate.bundle = identity["bundle"].get<std::string>();
  }
  candidate.file.vectors = log->records;
  candidate.file.state = log->in_use ? ShardState::running : ShardState::unfinished;
  if (!candidate.file.shard) {
    candidate.file.state = ShardState::foreign;
    candidate.file.remark = "is of a whole dataset, no shard";
  }
  return candidate;
}

Candidate look_at_file(const fs::path& path) {
  Candidate candidate;
  candidate.file.path = path;
  try {
    candidate.summary = read_file_summary(path, true);
  } catch (const Error& error) {
    candidate.file.state = ShardState::damaged;
    candidate.file.remark = error.what();
    if (candidate.file.remark.starts_with(path.string() + ":")) {
      candidate.file.remark.erase(0, path.string().size() + 1);
      candidate.file.remark.erase(0, candidate.file.remark.find_first_not_of(' '));
    }
    return candidate;
  }
  const FileSummary& summary = *candidate.summary;
  candidate.bundle = summary.provenance.bundle_sha256;
  candidate.file.shard = summary.shard;
  candidate.file.vectors = summary.items;
  candidate.file.failed = static_cast<std::int64_t>(summary.failed.size());
  if (!summary.shard) {
    candidate.file.state = ShardState::foreign;
    candidate.file.remark = "is a whole file, no shard";
  } else if (summary.all_items() != shard_range(*summary.shard).size()) {
    candidate.file.state = ShardState::damaged;
    candidate.file.remark = "expected " + std::to_string(shard_range(*summary.shard).size()) +
                            " items, got " +
                            std::to_string(summary.all_items());
  }
  return candidate;
}

// Why it is not one of those that `chosen` is of; "": it is.
std::string difference(const Candidate& candidate, const Candidate& chosen) {
  std::string words = difference_of_lists(*candidate.file.shard, *chosen.file.shard);
  if (words.empty() && candidate.bundle != chosen.bundle) {
    words = "bundle \"" + candidate.bundle + "\", not \"" + chosen.bundle + "\"";
  }
  if (!words.empty() || !candidate.summary || !chosen.summary) return words;
  words = difference_of_provenance(candidate.summary->provenance, chosen.summary->provenance);
  return words.empty() ? difference_of_rows(candidate.summary->rows, chosen.summary->rows) : words;
}

// One of the largest group; finished shards count before all parts. Null: there is none.
const Candidate* choose(const std::vector<Candidate>& candidates, std::int64_t count) {
  std::vector<std::pair<const Candidate*, std::pair<std::int64_t, std::int64_t>>> groups;
  for (const bool finished : {true, false}) {
    for (const Candidate& candidate : candidates) {
      const bool usable = candidate.file.shard && candidate.file.state != ShardState::damaged &&
                          (count == 0 || candidate.file.shard->count == count);
      if (!usable || finished != candidate.summary.has_value()) continue;
      auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& known) {
        return difference(candidate, *known.first).empty();
      });
      if (group == groups.end()) group = groups.insert(group, {&candidate, {0, 0}});
      ++(finished ? group->second.first : group->second.second);
    }
  }
  const auto largest = std::max_element(
      groups.begin(), groups.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  return largest == groups.end() ? nullptr : largest->first;
}

// A shard's place among the files.
auto order(const ShardFile& file) {
  const std::int64_t index = file.shard && file.state != ShardState::foreign ? file.shard->index
                                                                             : kMostShards;
  return std::tuple(index, file.path);
}

}  // namespace

const char* shard_state_name(ShardState state) {
  switch (state) {
    case ShardState::finished: return "finished";
    case ShardState::running: return "running";
    case ShardState::unfinished: return "unfinished";
    case ShardState::damaged: return "damaged";
    case ShardState::foreign: return "foreign";
  }
  return "?";
}

ShardSurvey survey_shards(const std::vector<fs::path>& paths, std::int64_t count) {
  std::vector<Candidate> candidates;
  for (const fs::path& path : paths) {
    candidates.push_back(path.extension() == ".part" ? look_at_part(path) : look_at_file(path));
  }
  ShardSurvey survey;
  survey.count = count;
  const Candidate* chosen = choose(candidates, count);
  if (chosen != nullptr) {
    survey.count = chosen->file.shard->count;
    survey.total = chosen->file.shard->total;
  }
  std::map<std::int64_t, ShardFile*> best;  // the furthest file of each shard
  for (Candidate& candidate : candidates) {
    ShardFile& file = candidate.file;
    if (!file.shard || file.state == ShardState::foreign || file.state == ShardState::damaged) {
      continue;
    }
    const std::string words = chosen == nullptr
                                  ? "parts " + std::to_string(file.shard->count) + ", not " +
                                        std::to_string(count)
                                  : difference(candidate, *chosen);
    if (!words.empty()) {
      file.state = ShardState::foreign;
      file.remark = "is of another list or run: " + words;
      continue;
    }
    ShardFile*& place = best[file.shard->index];
    if (place != nullptr && place->state == ShardState::finished &&
        file.state == ShardState::finished) {
      file.remark = "the same shard as " + place->path.string();
    }
    if (place == nullptr || file.state < place->state) place = &file;
  }
  for (std::int64_t i = 0; i < survey.count; ++i) {
    const auto found = best.find(i);
    if (found == best.end()) survey.missing.push_back(i);
    const ShardState state =
        found == best.end() ? ShardState::unfinished : found->second->state;
    if (state != ShardState::finished) ++survey.unfinished;
    if (state == ShardState::unfinished) survey.to_do.push_back(i);
  }
  for (Candidate& candidate : candidates) survey.files.push_back(std::move(candidate.file));
  std::sort(survey.files.begin(), survey.files.end(),
            [](const ShardFile& a, const ShardFile& b) { return order(a) < order(b); });
  return survey;
}

}  // namespace probe

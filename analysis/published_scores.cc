#include "analysis/published_scores.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/csv_row.h"

namespace probe {
namespace {

PublishedCondition read_condition(const CsvRow& row, const std::string& prefix) {
  return {row.number(prefix + "_open", 100),      row.number(prefix + "_choice", 100),
          row.number(prefix + "_choice_sd", 100), row.number(prefix + "_unsol", 100),
          row.number(prefix + "_unsol_sd", 100),  row.number(prefix + "_avg", 100)};
}

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t end = std::min(list.find(separator, start), list.size());
    parts.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

}  // namespace

std::vector<PublishedScore> parse_published(const std::vector<std::string>& header,
                                            const std::vector<std::vector<std::string>>& rows,
                                            const std::string& where) {
  std::vector<PublishedScore> scores;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CsvRow row{header, rows[i], fmt::format("{}: row {}", where, i + 1)};
    PublishedScore score;
    score.family = row.text("family");
    score.model = row.text("model");
    score.vision_encoder = row.text("vision_encoder");
    score.llm = row.text("llm");
    score.llm_size_b = row.number("llm_size_b", 1e6);
    score.original = read_condition(row, "orig");
    score.modified = read_condition(row, "mod");
    score.derived = split(row.text("derived"), ';');
    scores.push_back(std::move(score));
  }
  return scores;
}

RecomputedScore recompute(const PublishedScore& score, bool with_derived) {
  const auto known = [&](const std::optional<double>& value, const std::string& column) {
    const bool derived =
        std::find(score.derived.begin(), score.derived.end(), column) != score.derived.end();
    return derived && !with_derived ? std::nullopt : value;
  };
  struct Side {
    std::optional<double> open, choice, unsolvable, average;
  };
  const auto side = [&](const PublishedCondition& cells, const std::string& prefix) {
    return Side{known(cells.open, prefix + "_open"), known(cells.choice, prefix + "_choice"),
                known(cells.unsolvable, prefix + "_unsol"),
                known(cells.average, prefix + "_avg")};
  };
  const auto average = [&](const Side& s) -> std::optional<double> {
    if (!s.choice || !s.unsolvable) return std::nullopt;
    if (score.family == "random") return (*s.choice + *s.unsolvable) / 2.0;
    if (!s.open) return std::nullopt;
    return (*s.open + *s.choice + *s.unsolvable) / 3.0;
  };
  const auto delta = [](const std::optional<double>& modified,
                        const std::optional<double>& original) -> std::optional<double> {
    if (!modified || !original) return std::nullopt;
    return *modified - *original;
  };
  const Side o = side(score.original, "orig"), m = side(score.modified, "mod");
  return {average(o),
          average(m),
          delta(m.open, o.open),
          delta(m.choice, o.choice),
          delta(m.unsolvable, o.unsolvable),
          delta(m.average, o.average)};
}

Table published_table(const std::vector<PublishedScore>& scores) {
  Table table;
  table.name = "published";
  table.title = "Published, NEMO images, not comparable";
  table.columns = {{"model", "model"},
                   {"vision_encoder", "vision encoder"},
                   {"orig_open", "orig. open"},
                   {"orig_choice", "orig. choice"},
                   {"orig_unsol", "orig. unsol."},
                   {"orig_avg", "orig. avg"},
                   {"mod_open", "mod. open"},
                   {"delta_open", "delta O"},
                   {"mod_choice", "mod. choice"},
                   {"delta_choice", "delta C"},
                   {"mod_unsol", "mod. unsol."},
                   {"delta_unsol", "delta U"},
                   {"mod_avg", "mod. avg"},
                   {"delta_avg", "delta A"},
                   {"derived", "derived cells"}};
  const auto cell = [](const std::optional<double>& value) {
    return value ? number_cell(*value, 1) : unknown_cell();
  };
  for (const PublishedScore& score : scores) {
    std::string derived;
    for (const std::string& name : score.derived) derived += (derived.empty() ? "" : ", ") + name;
    std::vector<Cell> row{text_cell(score.model), text_cell(score.vision_encoder.empty()
                                                                ? "unknown"
                                                                : score.vision_encoder)};
    const PublishedCondition &o = score.original, &m = score.modified;
    const RecomputedScore deltas = recompute(score, false);
    for (const auto& value : {o.open, o.choice, o.unsolvable, o.average, m.open, deltas.delta_open,
                              m.choice, deltas.delta_choice, m.unsolvable,
                              deltas.delta_unsolvable, m.average, deltas.delta_average}) {
      row.push_back(cell(value));
    }
    row.push_back(text_cell(derived));
    table.rows.push_back(std::move(row));
  }
  table.note =
      "Percent, as printed in NEMO's Table 2. Measured on NEMO's own images: no gap or test "
      "is computed between this panel and yours. Deltas (modified - original) are computed from "
      "the row's printed cells. Derived cells were computed from other printed numbers.";
  return table;
}

}  // namespace probe

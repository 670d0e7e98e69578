#include "probe/cli/match_tables.h"

#include <fmt/core.h>

#include <map>
#include <set>

#include "analysis/statistics.h"

namespace probe {
namespace {

// Cells of a score, unknown where no query could be right.
struct ScoreCells {
  const MatchScore& score;

  Cell number(double value, int decimals) const {
    return score.hit.total > 0 ? number_cell(value, decimals) : unknown_cell();
  }
  Cell hit() const { return accuracy_cell(score.hit, wilson_interval(score.hit)); }
  Cell chance() const { return number(100 * score.chance, 1); }
  Cell fraction() const { return number(score.mean_fraction, 3); }
  Cell mrr() const { return number(score.mrr, 3); }
};

std::map<std::string, std::vector<QueryMatch>> by_group(const Matching& matching,
                                                        const std::vector<std::string>& groups) {
  std::map<std::string, std::vector<QueryMatch>> parts;
  for (const QueryMatch& match : matching.matches) {
    if (match.positives > 0) parts[groups[match.query]].push_back(match);
  }
  return parts;
}

std::string table_name(const ModeMatches& matches, const std::string& part) {
  return "match_" + mode_name(matches.mode) + part;
}

}  // namespace

std::string mode_name(MatchMode mode) { return mode == MatchMode::o2o ? "o2o" : "a2o"; }

std::string mode_title(MatchMode mode) {
  return mode == MatchMode::o2o ? "Original to original (O2O)" : "Modified to original (A2O)";
}

Table match_score_table(const ModeMatches& matches, const std::vector<int>& ks) {
  const bool several = matches.towers.size() > 1;
  Table table;
  table.name = table_name(matches, "");
  table.title = mode_title(matches.mode);
  if (several) table.columns.push_back({"encoder", "encoder"});
  for (Column& column : std::vector<Column>{{"k", "k"},
                                            {"hit", "hit@k % [95 %] (right/all)"},
                                            {"chance_percent", "chance %"},
                                            {"mean_fraction", "mean fraction"},
                                            {"mrr", "MRR"},
                                            {"no_positive", "no positive"}}) {
    table.columns.push_back(std::move(column));
  }
  for (const TowerMatches& tower : matches.towers) {
    for (const int k : ks) {
      const MatchScore score = score_matches(tower.matching.matches, matches.items, k);
      const ScoreCells cells{score};
      std::vector<Cell> row;
      if (several) row.push_back(text_cell(tower.encoder));
      for (Cell& cell : std::vector<Cell>{count_cell(k), cells.hit(), cells.chance(),
                                          cells.fraction(), cells.mrr(),
                                          count_cell(score.no_positive)}) {
        row.push_back(std::move(cell));
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table match_recall_table(const ModeMatches& matches, int k) {
  Table table;
  table.name = table_name(matches, "_recall");
  table.title = mode_title(matches.mode) + ": neighbours found by the approximate search";
  table.columns = {{"encoder", "encoder"},
                   {"index", "index"},
                   {"k", "k"},
                   {"queries", "queries compared"},
                   {"recall", "recall@k % (found/all)"}};
  for (const TowerMatches& tower : matches.towers) {
    if (!tower.matching.approximate) continue;
    const ApproximateUse& use = *tower.matching.approximate;
    table.rows.push_back({text_cell(tower.encoder), text_cell(use.index), count_cell(k),
                          count_cell(use.queries), accuracy_cell(use.recall)});
  }
  return table;
}

Table match_group_table(const ModeMatches& matches, int k, const std::string& what,
                        const std::vector<std::string>& groups) {
  Table table;
  table.name = table_name(matches, "_by_" + what);
  table.title = fmt::format("{}, hit@{} by {}", mode_title(matches.mode), k, what);
  table.columns = {{what, what}};
  if (matches.towers.size() == 1) {
    for (Column& column : std::vector<Column>{{"hit", fmt::format("hit@{} % [95 %]", k)},
                                              {"chance_percent", "chance %"},
                                              {"mean_fraction", "mean fraction"},
                                              {"mrr", "MRR"}}) {
      table.columns.push_back(std::move(column));
    }
    for (const auto& [group, part] : by_group(matches.towers.front().matching, groups)) {
      const MatchScore score = score_matches(part, matches.items, k);
      const ScoreCells cells{score};
      table.rows.push_back({text_cell(group), cells.hit(), cells.chance(), cells.fraction(),
                            cells.mrr()});
    }
    return table;
  }
  std::map<std::string, std::vector<Cell>> rows;
  for (const TowerMatches& tower : matches.towers) {
    table.columns.push_back({tower.encoder, tower.encoder + " %"});
    for (const auto& [group, part] : by_group(tower.matching, groups)) {
      rows[group].push_back(accuracy_cell(score_matches(part, matches.items, k).hit));
    }
  }
  for (auto& [group, cells] : rows) {
    std::vector<Cell> row{text_cell(group)};
    row.insert(row.end(), cells.begin(), cells.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table match_difference_table(const ModeMatches& matches, int k, std::uint64_t seed) {
  Table table;
  table.name = table_name(matches, "_difference");
  table.title = fmt::format("{}, hit@{} against the base tower, query by query",
                            mode_title(matches.mode), k);
  table.columns = {{"base", "base tower"},
                   {"encoder", "tower"},
                   {"queries", "queries"},
                   {"base_percent", "base %"},
                   {"percent", "tower %"},
                   {"difference_points", "difference, points [95 %]"},
                   {"mcnemar_p", "McNemar p"},
                   {"holm_p", "Holm p"}};
  std::vector<double> p_values;
  std::vector<std::vector<double>> hits;
  for (const TowerMatches& tower : matches.towers) {
    std::vector<double>& own = hits.emplace_back();
    for (const QueryMatch& match : tower.matching.matches) {
      if (match.positives > 0) own.push_back(is_hit(match, matches.items, k) ? 1.0 : 0.0);
    }
  }
  for (std::size_t t = 1; t < hits.size(); ++t) {
    std::int64_t gained = 0, lost = 0;
    for (std::size_t i = 0; i < hits[t].size(); ++i) {
      gained += hits[t][i] > hits[0][i] ? 1 : 0;
      lost += hits[t][i] < hits[0][i] ? 1 : 0;
    }
    p_values.push_back(mcnemar_exact(lost, gained));
  }
  const std::vector<double> adjusted = holm_adjust(p_values);
  for (std::size_t t = 1; t < hits.size(); ++t) {
    if (hits[t].empty()) continue;
    const Interval interval = paired_bootstrap(hits[t], hits[0], seed);
    const double base = mean_of(hits[0]), own = mean_of(hits[t]);
    table.rows.push_back({text_cell(matches.towers[0].encoder),
                          text_cell(matches.towers[t].encoder),
                          count_cell(std::ssize(hits[t])), number_cell(100 * base, 1),
                          number_cell(100 * own, 1),
                          number_cell(100 * (own - base), 1,
                                      {100 * interval.low, 100 * interval.high}),
                          number_cell(p_values[t - 1], 4), number_cell(adjusted[t - 1], 4)});
  }
  return table;
}

Table match_neighbor_table(const ModeMatches& matches) {
  const bool several = matches.towers.size() > 1;
  const ItemColumns& items = matches.items;
  Table table;
  table.name = table_name(matches, "_neighbors");
  table.title = mode_title(matches.mode) + ", neighbours";
  if (several) table.columns.push_back({"encoder", "encoder"});
  for (Column& column : std::vector<Column>{{"query", "query", true},
                                            {"category", "category"},
                                            {"rank", "rank"},
                                            {"neighbor", "neighbour", true},
                                            {"neighbor_category", "its category"},
                                            {"cosine", "cosine"}}) {
    table.columns.push_back(std::move(column));
  }
  for (const TowerMatches& tower : matches.towers) {
    for (const QueryMatch& match : tower.matching.matches) {
      for (std::size_t i = 0; i < match.neighbors.size(); ++i) {
        const std::int64_t neighbor = match.neighbors[i];
        std::vector<Cell> row;
        if (several) row.push_back(text_cell(tower.encoder));
        for (Cell& cell :
             std::vector<Cell>{text_cell(items.id[match.query]),
                               text_cell(items.category[match.query]),
                               count_cell(static_cast<std::int64_t>(i) + 1),
                               text_cell(items.id[neighbor]), text_cell(items.category[neighbor]),
                               number_cell(match.scores[i], 4)}) {
          row.push_back(std::move(cell));
        }
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

Figure match_figure(const std::vector<ModeMatches>& modes, int k) {
  Figure figure;
  figure.kind = Figure::Kind::bars;
  figure.name = "match";
  figure.title = fmt::format("Image matching, hit@{}", k);
  figure.x_title = "encoder";
  figure.y_title = fmt::format("hit@{} (%)", k);
  figure.caption = "Cosine of mean tokens; 95 % Wilson intervals.";
  for (const ModeMatches& mode : modes) {
    for (const TowerMatches& tower : mode.towers) {
      const MatchScore score = score_matches(tower.matching.matches, mode.items, k);
      Mark mark;
      mark.series = mode_title(mode.mode);
      mark.x = tower.encoder;
      if (score.hit.total > 0) {
        mark.value = 100.0 * static_cast<double>(score.hit.correct) /
                     static_cast<double>(score.hit.total);
        const Interval interval = wilson_interval(score.hit);
        mark.interval = Interval{100 * interval.low, 100 * interval.high};
      }
      figure.marks.push_back(std::move(mark));
    }
  }
  return figure;
}

}  // namespace probe

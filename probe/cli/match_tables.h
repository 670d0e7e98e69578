// Matches as tables and figures, for one encoder or several side by side.
#pragma once

#include <string>
#include <vector>

#include "analysis/table.h"
#include "probe/cli/matching.h"

namespace probe {

// One encoder's matches in one mode. Several encoders have the same items, so that their
// queries and galleries are the same.
struct TowerMatches {
  std::string encoder;
  Matching matching;
};

// The matches of all encoders in one mode.
struct ModeMatches {
  MatchMode mode = MatchMode::o2o;
  const ItemColumns& items;
  std::vector<TowerMatches> towers;
};

std::string mode_name(MatchMode mode);   // "o2o"
std::string mode_title(MatchMode mode);  // "Original to original (O2O)"

// hit@k with Wilson intervals, chance, mean fraction, MRR: a row for each encoder and k.
Table match_score_table(const ModeMatches& matches, const std::vector<int>& ks);

// hit@k of each group of queries, e.g. by category; for one encoder also mean fraction,
// MRR and chance, for several a column each. `groups`: of each item.
Table match_group_table(const ModeMatches& matches, int k, const std::string& what,
                        const std::vector<std::string>& groups);

// The first encoder (base tower) against each other on the same queries: paired bootstrap
// interval of the difference, McNemar's test, Holm's correction. No rows for one encoder.
Table match_difference_table(const ModeMatches& matches, int k, std::uint64_t seed);

// Every query's neighbours, best first.
Table match_neighbor_table(const ModeMatches& matches);

// What each encoder's approximate search found of the neighbours that an exact one gives. No
// rows for exact searches.
Table match_recall_table(const ModeMatches& matches, int k);

// hit@k of every encoder and mode (NEMO Fig. 5).
Figure match_figure(const std::vector<ModeMatches>& modes, int k);

}  // namespace probe

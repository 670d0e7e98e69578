// Answers of models to LocateBench's prompts, and what they come to.
//
// What counts as an answer (section 3.1 gives the formats; the paper let another model
// extract answers, we use rules, in this order; anything else is unparsed, never a guess):
//   letters      the last "Answer: X"; else a response that is one letter but for brackets,
//                stars and full stops; X is A to D. Encoder baselines answer so too.
//   colors       the last "Answer: <color>"; else the only one of the four colours named
//   coordinates  the four numbers after the last "Answer:", else the only four numbers of
//                the response; the candidate that overlaps this box most, by half at least
//                (intersection over union)
//   one_by_one   the last "Answer: Yes|No"; else the first word; else the only one of the
//                two named. The first candidate with "yes" is the choice; all "no" is the
//                first candidate, counted apart; no "yes" and something unparsed, or a
//                candidate without a response, is unparsed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "probe/core/locate.h"

namespace probe {

// Index of the candidate, or -1: unparsed. Not for one_by_one.
int parse_locate_choice(const std::string& response, LocateFormat format,
                        const std::vector<Box>& boxes);

enum class YesNo { yes, no, unparsed };
YesNo parse_yes_no(const std::string& response);

enum class LocateOutcome { right, wrong, all_no_right, all_no_wrong, unparsed, missing };

// One model under one format. Unparsed and missing count as wrong.
struct LocateRun {
  std::string model;
  LocateFormat format = LocateFormat::letters;
  std::vector<LocateOutcome> outcomes;  // [items]
  Accuracy accuracy() const;            // all "no" is the first candidate, as in the paper
  Accuracy strict_accuracy() const;     // all "no" is wrong
  std::int64_t count(LocateOutcome outcome) const;
  bool failed(std::size_t item) const;  // not right by accuracy()'s rule
};

// Runs in the order of their first response. Throws Error(input), with the response's
// place, for an unknown item, a second response to the same prompt, and a candidate that is
// out of range, missing (one_by_one) or not asked for (the others).
std::vector<LocateRun> score_locate(const std::vector<LocateItem>& items,
                                    const std::vector<LocateResponse>& responses);

// Table 1: a row a format, a column a model, Wilson intervals.
Table locate_accuracy_table(const std::vector<LocateRun>& runs);
// A row a run: strict accuracy, all "no", unparsed, missing.
Table locate_detail_table(const std::vector<LocateRun>& runs);

// Figure 3 (`by_format`: one table a format, sets are models) and Figure 4 (one table a
// model, sets are formats): how many items exactly these sets got wrong. Tables with fewer
// than two sets are left out.
std::vector<Table> locate_venn_tables(const std::vector<LocateRun>& runs, bool by_format);

}  // namespace probe

// Scores of MLLM responses (NEMO Secs. 4 and 5.1; DESIGN.md section 7).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/answer_extraction.h"
#include "analysis/table.h"
#include "probe/core/response.h"

namespace probe {

// One expected response, read. What is unparsed is wrong.
struct ScoredResponse {
  std::string model;
  const Question* question = nullptr;
  std::string condition;  // of the item; empty: unknown
  int shift = 0;
  std::string text;
  Extraction extraction;  // .choice is the shown position; open questions: index of a name
  bool judged = false;    // a verdict decided
  bool correct = false;
};

struct ScoringInput {
  std::vector<Question> questions;
  std::map<std::string, std::string> condition;  // by item id; may be empty
  SynonymGroups synonyms;
};

struct Scoring {
  std::vector<ScoredResponse> rows;   // by model, then question, then shift
  std::vector<Failure> failures;      // responses to questions that do not exist
  int idle_verdicts = 0;              // verdicts on what the rules had decided
};

// Reads every response with the choices in the order it was shown. A model that answered some
// question of a type at a shift is expected to answer all of that type at that shift: what
// is absent is "missing". A response may name a row of a table, "7", for the question that was
// made from it, "7:choice". Open questions are matched against all names of the open questions.
// `questions` of the input must outlive the result. Throws Error(input) naming the row: a
// type other than the question's, a shift that its choices do not have, a bad verdict.
Scoring score_responses(const std::vector<Response>& responses,
                        const std::vector<JudgeVerdict>& verdicts, const ScoringInput& input);

// Models with a response that says of itself that it was made up for show.
std::set<std::string> made_up_models(const std::vector<Response>& responses);

// Choices in the order shown at a shift: position p shows choices[(p + shift) % c].
std::vector<std::string> shown_choices(const Question& question, int shift);

// model x condition x type: accuracy over all shifts; mean and standard deviation (n - 1) of
// the accuracies at each shift, percent; strict circular accuracy (right at every shift, of
// questions answered at all of them).
Table mllm_accuracy_table(const std::vector<ScoredResponse>& rows);
// model x type x shift.
Table shift_table(const std::vector<ScoredResponse>& rows);
// model x type: how often each shown position is picked, and how often it is the answer.
Table position_table(const std::vector<ScoredResponse>& rows);
// Questions in pairs, as MMVP asks them: (1, 2), (3, 4), ... by number, whatever their order. A
// pair is right if both answers are; model: pairs right of pairs that were asked. Questions
// without a partner are counted apart. Throws Error(input) for an id that is no whole number.
Table pair_table(const std::vector<ScoredResponse>& rows);
// model x reason.
Table unparsed_table(const std::vector<ScoredResponse>& rows);

}  // namespace probe

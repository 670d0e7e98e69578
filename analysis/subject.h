// Who was asked, and what came back question by question: encoders and MLLMs in one form, so
// that they can be set side by side (NEMO Secs. 5.1-5.3, D.2, E).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/mllm_results.h"
#include "analysis/model_facts.h"
#include "analysis/zero_shot.h"
#include "probe/core/embedding_set.h"

namespace probe {

struct GivenAnswer {
  int shift = 0;
  bool correct = false;
  std::string picked;  // text of the choice or name; empty: unparsed (open MLLM answers: not kept)
};

struct QuestionResult {
  const Question* question = nullptr;
  std::size_t item = 0;              // row of the items
  std::vector<GivenAnswer> answers;  // one for each shift asked, ascending; never empty

  double share() const;  // of the shifts at which it was right, 0 to 1
};

struct Subject {
  std::string name;
  bool is_encoder = false;
  bool made_up = false;  // its answers say of themselves that they were made up for show
  ModelFacts facts;      // of an MLLM
  std::vector<QuestionResult> results;
};

// Originals and attribute-modified items are compared; originals that an image generator made
// (NEMO E.2) are neither.
inline constexpr const char* kSyntheticOriginal = "synthetic_original";
enum class Side { original, modified, synthetic_original };
Side side_of(const std::string& condition);

// Classification over a whole set of names: item id -> the name with the largest cosine; ties
// go to the first. Empty if there are no names.
//   images [n, d] raw, a row for each of `items`.
std::map<std::string, std::string> nearest_names(const ItemColumns& items,
                                                 const RowMatrix& images,
                                                 const TextClassifier& names);

// An encoder's answers to choice questions, and to open questions by classification
// (`nearest`; items that are not in it are left out, as for an encoder without text tower).
Subject encoder_subject(const std::string& name, const std::vector<ChoiceOutcome>& outcomes,
                        const std::map<std::string, std::string>& nearest,
                        const std::vector<Question>& questions, const ItemColumns& items);

// One subject a model: those of `models` in its order, then the others by name. Responses to
// questions about items that are not in `items` are passed over.
std::vector<Subject> mllm_subjects(const std::vector<ScoredResponse>& rows,
                                   const ItemColumns& items,
                                   const std::vector<ModelFacts>& models,
                                   const std::set<std::string>& made_up);

// Accuracy on some questions of one type, percent.
struct TypeScore {
  std::int64_t questions = 0;
  double mean = 0.0;         // of the accuracies at each shift
  std::optional<double> sd;  // of the same, n - 1; nullopt with one shift
  Interval interval;         // Wilson, each question counted once: with several shifts wider
                             // than need be, since the mean over shifts varies less
};

// Weight of a result; 0 leaves it out.
using Weight = std::function<double(const QuestionResult&)>;

// nullopt if there is no such result: nothing is known.
std::optional<TypeScore> score_type(const Subject& subject, QuestionType type,
                                    const Weight& weight);
std::optional<TypeScore> score_side(const Subject& subject, const ItemColumns& items,
                                    QuestionType type, Side side);

// Mean of open, choice and unsolvable, as in NEMO's tables; nullopt unless all are known.
std::optional<double> average_of(const std::optional<TypeScore>& open,
                                 const std::optional<TypeScore>& choice,
                                 const std::optional<TypeScore>& unsolvable);
std::optional<double> side_average(const Subject& subject, const ItemColumns& items, Side side);

// "Made up for show, not measured: a, b. " or "".
std::string made_up_words(const std::vector<Subject>& subjects);

}  // namespace probe

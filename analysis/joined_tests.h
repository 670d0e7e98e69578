// Tests where both sides were scored on the same items: encoder against MLLM, originals
// against modified. NEMO draws conclusions of this kind from means alone; here each difference
// has an interval and a test.
#pragma once

#include <cstdint>

#include "analysis/subject.h"
#include "analysis/table.h"

namespace probe {

// Every MLLM beside the encoder it is built on (beside each encoder, if that is unknown), on
// the choice questions both answered, originals and modified apart: the gap encoder - MLLM
// with a paired bootstrap interval over questions, McNemar's exact test, Holm over all rows.
// An MLLM's score at a question is its mean over the shifts; McNemar's test needs one answer
// a question and takes the lowest shift.
Table gap_table(const std::vector<Subject>& subjects, const ItemColumns& items,
                std::uint64_t seed);

// Modified - original of every subject and type of question. Where modified items name a
// source (`original_id`) that was asked too: over those pairs, paired bootstrap and McNemar's
// exact test at the lowest shift. Where none does: the two sides drawn apart (an unpaired
// bootstrap of two strata), no test. Holm over all rows with a test.
Table drop_by_subject_table(const std::vector<Subject>& subjects, const ItemColumns& items,
                            std::uint64_t seed);

// MLLMs whose encoder is known but not among the subjects: no gap can be computed.
std::vector<std::string> models_without_encoder(const std::vector<Subject>& subjects);

}  // namespace probe

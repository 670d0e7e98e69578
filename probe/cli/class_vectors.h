// From names to class vectors: what `classify` and `zeroshot` share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/zero_shot.h"
#include "probe/cli/vectors.h"
#include "probe/core/class_label.h"

namespace probe {

// Vectors of the prompts of classes: of each class, every name in every template.
struct ClassPrompts {
  std::vector<std::string> classes;
  std::vector<std::string> templates;
  std::vector<int> counts;  // names of each class
  RowMatrix vectors;        // raw; a name's templates stand together
};

// Throws as prompt_vectors does.
ClassPrompts embed_classes(Vectors& vectors, const std::vector<ClassLabel>& labels,
                           const std::vector<std::string>& templates);

// Averaged over the names and over all templates, or over the names in one of them.
TextClassifier ensemble_classifier(const ClassPrompts& prompts);
TextClassifier template_classifier(const ClassPrompts& prompts, std::size_t which);

// `classes` with the names that the file gives them, or their own where it gives none.
// An empty path: all have their own. Classes of the file that are not asked for are left
// out. Throws Error(input) if the file names none of `classes`.
std::vector<ClassLabel> named_classes(const std::vector<std::string>& classes,
                                      const std::filesystem::path& labels_file);

// The bundle's learned scale and bias; nullopt if the bundle is not here, or says nothing.
std::optional<ProbabilityModel> probability_model(const Vectors& vectors);

// `"a {}", "{}"`, for notes.
std::string quoted_list(const std::vector<std::string>& words);

}  // namespace probe

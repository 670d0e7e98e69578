#include "probe/cli/class_vectors.h"

#include <cmath>
#include <map>

#include "probe/core/error.h"
#include "probe/data/class_labels.h"

namespace probe {

ClassPrompts embed_classes(Vectors& vectors, const std::vector<ClassLabel>& labels,
                           const std::vector<std::string>& templates) {
  ClassPrompts prompts;
  prompts.templates = templates;
  std::vector<std::string> names;
  for (const ClassLabel& label : labels) {
    prompts.classes.push_back(label.name);
    prompts.counts.push_back(static_cast<int>(label.names.size()));
    names.insert(names.end(), label.names.begin(), label.names.end());
  }
  prompts.vectors = prompt_vectors(vectors, all_prompts(names, templates));
  return prompts;
}

TextClassifier ensemble_classifier(const ClassPrompts& prompts) {
  std::vector<int> counts = prompts.counts;
  for (int& count : counts) count *= static_cast<int>(prompts.templates.size());
  return average_prompts(prompts.classes, prompts.vectors, counts);
}

TextClassifier template_classifier(const ClassPrompts& prompts, std::size_t which) {
  const auto step = static_cast<Eigen::Index>(prompts.templates.size());
  RowMatrix some(prompts.vectors.rows() / step, prompts.vectors.cols());
  for (Eigen::Index i = 0; i < some.rows(); ++i) {
    some.row(i) = prompts.vectors.row(i * step + static_cast<Eigen::Index>(which));
  }
  return average_prompts(prompts.classes, some, prompts.counts);
}

std::vector<ClassLabel> named_classes(const std::vector<std::string>& classes,
                                      const std::filesystem::path& labels_file) {
  std::map<std::string, std::vector<std::string>> names;
  if (!labels_file.empty()) {
    for (ClassLabel& label : read_class_labels(labels_file)) names[label.name] = label.names;
  }
  bool any = labels_file.empty();
  std::vector<ClassLabel> labels;
  for (const std::string& name : classes) {
    const auto it = names.find(name);
    any = any || it != names.end();
    labels.push_back({name, it == names.end() ? std::vector<std::string>{name} : it->second});
  }
  if (!any) {
    throw Error(ErrorKind::input, labels_file.string() + ": expected classes of the " +
                                      std::to_string(classes.size()) +
                                      " names asked for, got none of them");
  }
  return labels;
}

std::optional<ProbabilityModel> probability_model(const Vectors& vectors) {
  if (!vectors.source) return std::nullopt;
  const EncoderSpec& spec = vectors.source->spec();
  const bool sigmoid = spec.probability == ProbabilityRule::sigmoid;
  if (!spec.logit_scale_log || (sigmoid && !spec.logit_bias)) return std::nullopt;
  return ProbabilityModel{sigmoid, std::exp(*spec.logit_scale_log), spec.logit_bias.value_or(0.0)};
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "\"" : ", \"") + word + "\"";
  return text;
}

}  // namespace probe

// What the user says of each MLLM: which encoder it is built on, its family, its LLM and the
// size of that. What is not said stays unknown.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace probe {

struct ModelFacts {
  std::string model, family, encoder, llm;  // empty: unknown
  std::optional<double> llm_size_b;         // 10^9 parameters
  std::string tower;  // embedding file of the model's own, fine-tuned tower, by encoder name
};

// Columns: model, and if you like family, encoder, llm, llm_size_b, tower; empty cells are
// unknown. `where` begins every message.
// Throws Error(input): no column model, a model without name or named twice, a tower of two
// models, a size that is not a number from 0 to 10^6, a size of 0.
std::vector<ModelFacts> parse_models(const std::vector<std::string>& header,
                                     const std::vector<std::vector<std::string>>& rows,
                                     const std::string& where);

// The encoder that `tower` was fine-tuned from: `encoder` of the model it belongs to; `tower`
// itself if it belongs to none; empty if it belongs to one whose encoder is unknown.
std::string base_of_tower(const std::string& tower, const std::vector<ModelFacts>& models);
bool is_model_tower(const std::string& name, const std::vector<ModelFacts>& models);

}  // namespace probe

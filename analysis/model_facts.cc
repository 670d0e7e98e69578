#include "analysis/model_facts.h"

#include <algorithm>
#include <set>

#include "analysis/csv_row.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

const ModelFacts* owner_of(const std::string& tower, const std::vector<ModelFacts>& models) {
  const auto it = std::find_if(models.begin(), models.end(),
                               [&](const ModelFacts& m) { return m.tower == tower; });
  return tower.empty() || it == models.end() ? nullptr : &*it;
}

}  // namespace

std::vector<ModelFacts> parse_models(const std::vector<std::string>& header,
                                     const std::vector<std::vector<std::string>>& rows,
                                     const std::string& where) {
  std::vector<ModelFacts> models;
  std::set<std::string> names, towers;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CsvRow row{header, rows[i], where + ": row " + std::to_string(i + 1)};
    ModelFacts facts{row.text("model"),           row.text_if_there("family"),
                     row.text_if_there("encoder"), row.text_if_there("llm"),
                     row.number_if_there("llm_size_b", 1e6), row.text_if_there("tower")};
    const auto fail = [&](const std::string& message) {
      throw Error(ErrorKind::input, row.where + ": " + message);
    };
    if (facts.model.empty()) fail("model: expected a name, got none");
    if (!names.insert(facts.model).second) {
      fail("model \"" + printable(facts.model) + "\" stands twice");
    }
    if (!facts.tower.empty() && !towers.insert(facts.tower).second) {
      fail("tower \"" + printable(facts.tower) + "\" belongs to two models");
    }
    if (facts.llm_size_b == 0.0) fail("llm_size_b: expected more than 0; leave it empty if unknown");
    models.push_back(std::move(facts));
  }
  return models;
}

std::string base_of_tower(const std::string& tower, const std::vector<ModelFacts>& models) {
  const ModelFacts* owner = owner_of(tower, models);
  return owner == nullptr ? tower : owner->encoder;
}

bool is_model_tower(const std::string& name, const std::vector<ModelFacts>& models) {
  return owner_of(name, models) != nullptr;
}

}  // namespace probe

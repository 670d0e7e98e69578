#include "probe/cli/export_text.h"

#include <fmt/core.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "probe/core/csv.h"
#include "probe/core/item_column_list.h"

namespace probe {
namespace {

using Json = nlohmann::ordered_json;

// The value in one line of a table whose fields are parted by tabs.
std::string tab_field(const std::string& value) {
  std::string field = value;
  for (char& c : field) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return field;
}

// Nine digits: FiftyOne sorts the names as text.
std::string sample_name(std::size_t row) { return fmt::format("{:09}", row); }

}  // namespace

std::string items_csv(const ItemColumns& items) {
  std::string text = "row";
  for (const ItemColumn& column : kItemColumns) text += fmt::format(",{}", column.name);
  text += "\n";
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += std::to_string(i);
    for (const ItemColumn& column : kItemColumns) {
      text += "," + csv_field((items.*column.values)[i]);
    }
    text += "\n";
  }
  return text;
}

std::string items_jsonl(const ItemColumns& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Json object{{"row", i}};
    for (const ItemColumn& column : kItemColumns) {
      object[column.name] = (items.*column.values)[i];
    }
    text += object.dump() + "\n";
  }
  return text;
}

std::string prompts_csv(const std::vector<std::string>& prompts) {
  std::string text = "row,prompt\n";
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    text += std::to_string(i) + "," + csv_field(prompts[i]) + "\n";
  }
  return text;
}

std::string prompts_jsonl(const std::vector<std::string>& prompts) {
  std::string text;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    text += Json{{"row", i}, {"prompt", prompts[i]}}.dump() + "\n";
  }
  return text;
}

std::string matrix_csv(const RowMatrix& rows, const std::vector<std::string>& names,
                       const std::string& heading) {
  std::string text = heading;
  for (Eigen::Index c = 0; c < rows.cols(); ++c) text += fmt::format(",v{}", c);
  text += "\n";
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    text += csv_field(names[static_cast<std::size_t>(r)]);
    for (Eigen::Index c = 0; c < rows.cols(); ++c) text += fmt::format(",{:.9g}", rows(r, c));
    text += "\n";
  }
  return text;
}

std::string projector_vectors(const RowMatrix& rows) {
  std::string text;
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    for (Eigen::Index c = 0; c < rows.cols(); ++c) {
      fmt::format_to(std::back_inserter(text), "{}{:.9g}", c == 0 ? "" : "\t", rows(r, c));
    }
    text += "\n";
  }
  return text;
}

std::string projector_items(const ItemColumns& items) {
  std::string text = "id\tcategory\tcondition\toriginal_id\tattribute\tpath\n";
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += tab_field(items.id[i]);
    for (const auto* column : {&items.category, &items.condition, &items.original_id,
                               &items.attribute, &items.path}) {
      text += "\t" + tab_field((*column)[i]);
    }
    text += "\n";
  }
  return text;
}

std::string projector_prompts(const std::vector<std::string>& prompts) {
  std::string text;
  // The projector passes over blank lines, and all below would be misnamed.
  for (const std::string& prompt : prompts) {
    text += (prompt.find_first_not_of(" \t\r\n") == std::string::npos ? "(blank)"
                                                                      : tab_field(prompt)) +
            "\n";
  }
  return text;
}

std::string projector_config(const std::vector<ProjectorEntry>& entries) {
  std::string text;
  for (const ProjectorEntry& entry : entries) {
    text += fmt::format(
        "embeddings {{\n  tensor_name: \"{0}\"\n  tensor_path: \"{0}.tsv\"\n  tensor_shape: {1}\n"
        "  tensor_shape: {2}\n  metadata_path: \"{3}\"\n",
        entry.name, entry.rows, entry.columns, entry.metadata);
    if (entry.sprite_side > 0) {
      text += fmt::format(
          "  sprite {{\n    image_path: \"sprite.png\"\n    single_image_dim: {0}\n"
          "    single_image_dim: {0}\n  }}\n",
          entry.sprite_side);
    }
    text += "}\n";
  }
  return text;
}

std::string fiftyone_labels(const ItemColumns& items) {
  Json labels = Json::object();
  for (std::size_t i = 0; i < items.size(); ++i) {
    Json attributes{{"item_id", items.id[i]}};
    for (const auto& [name, column] :
         {std::pair{"condition", &items.condition}, std::pair{"original_id", &items.original_id},
          std::pair{"attribute", &items.attribute}}) {
      if (!(*column)[i].empty()) attributes[name] = (*column)[i];
    }
    // An item without a category keeps its attributes: the label is null.
    const Json label = items.category[i].empty() ? Json() : Json(items.category[i]);
    labels[sample_name(i)] = {{"label", label}, {"attributes", std::move(attributes)}};
  }
  return Json{{"classes", nullptr}, {"labels", std::move(labels)}}.dump(1) + "\n";
}

std::string fiftyone_data(const std::vector<std::filesystem::path>& paths) {
  Json data = Json::object();
  for (std::size_t i = 0; i < paths.size(); ++i) data[sample_name(i)] = paths[i].string();
  return data.dump(1) + "\n";
}

std::string atlas_csv(const ItemColumns& items,
                      const Eigen::Matrix<double, Eigen::Dynamic, 2>& places) {
  std::string text = "id,path,category,condition,original_id,attribute,x,y\n";
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += csv_field(items.id[i]);
    for (const auto* column : {&items.path, &items.category, &items.condition, &items.original_id,
                               &items.attribute}) {
      text += "," + csv_field((*column)[i]);
    }
    const auto row = static_cast<Eigen::Index>(i);
    text += fmt::format(",{:.9g},{:.9g}\n", places(row, 0), places(row, 1));
  }
  return text;
}

}  // namespace probe

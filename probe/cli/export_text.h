// The texts that `probe export` writes; each returns the content of one file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probe/core/embedding_set.h"

namespace probe {

// Row number and every column of the items, with a header or as an object a line.
std::string items_csv(const ItemColumns& items);
std::string items_jsonl(const ItemColumns& items);
std::string prompts_csv(const std::vector<std::string>& prompts);
std::string prompts_jsonl(const std::vector<std::string>& prompts);

// A matrix beside the names of its rows, called `heading`. 9 digits give back the same
// float32.
std::string matrix_csv(const RowMatrix& rows, const std::vector<std::string>& names,
                       const std::string& heading);

// What TensorBoard's embedding projector reads: values with tabs between them; the items'
// columns with a header; texts without one, as the projector wants a single column. Tabs
// and line ends within a value become spaces.
std::string projector_vectors(const RowMatrix& rows);
std::string projector_items(const ItemColumns& items);
std::string projector_prompts(const std::vector<std::string>& prompts);

// One matrix in projector_config.pbtxt; files are named relative to it.
struct ProjectorEntry {
  std::string name;  // the vectors are in <name>.tsv
  std::int64_t rows = 0, columns = 0;
  std::string metadata;
  int sprite_side = 0;  // pixels of a square of sprite.png; 0: no sprites
};
std::string projector_config(const std::vector<ProjectorEntry>& entries);

// FiftyOneImageClassificationDataset: labels.json and data.json. Samples are called by their
// row, so that FiftyOne's order is ours; item id, condition, original_id and attribute are
// attributes of the label. `paths` are absolute, one for each item.
std::string fiftyone_labels(const ItemColumns& items);
std::string fiftyone_data(const std::vector<std::filesystem::path>& paths);

// Embedding Atlas: the items with their place in the plane, columns x and y. [n, 2]
std::string atlas_csv(const ItemColumns& items,
                      const Eigen::Matrix<double, Eigen::Dynamic, 2>& places);

}  // namespace probe

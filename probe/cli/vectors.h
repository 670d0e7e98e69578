// What `zeroshot`, `match` and `compare` start from: vectors and questions, whether they
// come from a dataset or from an embedding file.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probe/cli/features.h"
#include "probe/store/embedding_file.h"

namespace probe {

struct Vectors {
  EmbeddingSet set;
  std::vector<Question> questions;
  std::vector<Failure> failures;        // items that could not be read
  std::vector<std::string> warnings, notes;
  std::unique_ptr<FeatureSource> source;  // null: the bundle of an embedding file is not here
};

// Reads an embedding file, or embeds the dataset (what the cache lacks).
// `encoder_given`: the user named the encoder; an embedding file of another one is then
// refused with Error(input). `parts`: what of a file is read.
Vectors load_vectors(const DataArguments& data, const EncoderArguments& encoder,
                     bool encoder_given, bool quiet, const ReadOptions& parts = {});

// True if `path` is an embedding file, by its content or its name.
bool names_embedding_file(const std::filesystem::path& path);

// Templates to use: those given, else the bundle's.
// Throws Error(usage) if neither is known.
std::vector<std::string> choose_templates(const Vectors& vectors,
                                          const std::vector<std::string>& given);

// Raw embeddings of the prompts, from the file if it has them all, else from the text
// tower. Throws Error(input) if neither can give them.
RowMatrix prompt_vectors(Vectors& vectors, const std::vector<std::string>& prompts);

// Every name once, filled into every template; a name's prompts stand together.
std::vector<std::string> all_prompts(const std::vector<std::string>& names,
                                     const std::vector<std::string>& templates);

// Names that occur as choices of these questions, sorted, without kNoneOfThese.
std::vector<std::string> choice_names(const std::vector<Question>& questions);

// Names whose prompts `embed` stores: those of choice_names, and the items' categories,
// which `classify` asks for. Sorted.
std::vector<std::string> stored_names(const std::vector<Question>& questions,
                                      const std::vector<Item>& items);

// Throws Error(input) if the tower has no embedding, or an item's is zero: names the item.
void require_embedding(const EmbeddingSet& set);
// The part about zero vectors, for any vectors of the items; `where` begins the message.
void require_directions(const ItemColumns& items, const RowMatrix& vectors,
                        const std::string& where);

// The same for one vector, that of item `i`.
void require_direction(const ItemColumns& items, std::int64_t i,
                       const Eigen::Ref<const Eigen::RowVectorXf>& vector, const std::string& where);

// Item id -> row.
std::map<std::string, int> row_by_id(const ItemColumns& items);

// Provenance as a report shows it.
std::map<std::string, std::string> report_provenance(const Provenance& provenance);

}  // namespace probe

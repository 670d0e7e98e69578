#include "probe/cli/vectors.h"

#include <nlohmann/json.hpp>
#include <set>

#include "analysis/zero_shot.h"
#include "encoders/bundle_search.h"
#include "probe/cli/encoder_choice.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/manifest.h"
#include "probe/data/questions.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

// The bundle that made a file, if it is here with the same hash.
std::unique_ptr<FeatureSource> source_of_file(const Provenance& provenance,
                                              EncoderArguments arguments, bool encoder_given,
                                              const fs::path& file, bool quiet) {
  if (!encoder_given) arguments.encoder = provenance.encoder;
  EncoderSpec spec;
  try {
    spec = choose_encoder(arguments, true);
  } catch (const Error&) {
    if (encoder_given) throw;
    return nullptr;
  }
  if (spec.bundle_sha256 != provenance.bundle_sha256) {
    if (!encoder_given) return nullptr;
    throw Error(ErrorKind::input, file.string() + ": expected vectors of encoder " + spec.name +
                                      " (bundle " + spec.bundle_sha256.substr(0, 12) +
                                      "), got those of " + printable(provenance.encoder) +
                                      " (bundle " + printable(provenance.bundle_sha256.substr(0, 12)) +
                                      ")");
  }
  arguments.layer = provenance.layer;
  arguments.dtype = provenance.compute_dtype;
  return std::make_unique<FeatureSource>(std::move(spec), arguments, false, LogPlace{}, quiet);
}

// Side of the pictures that a file's tower saw, 0 if the file does not tell.
int size_of_pictures(const Provenance& provenance) {
  const auto json = nlohmann::json::parse(provenance.preprocessing, nullptr, false);
  const auto size = json.is_object() ? json.find("size") : json.end();
  return json.is_object() && size != json.end() && size->is_number_integer() ? size->get<int>()
                                                                             : 0;
}

void check_tile_options(const Provenance& provenance, const EncoderArguments& arguments,
                        const fs::path& file) {
  const TileOptions tiles = tile_options(arguments);  // throws if they contradict each other
  const auto refuse = [&](const char* option, const std::string& wanted,
                          const std::string& found) {
    throw Error(ErrorKind::usage, file.string() + ": " + option + " asks for " +
                                      printable(wanted) + ", but the file was made with " +
                                      printable(found) + "; embed again, or leave it out");
  };
  const std::string wanted = tiles_json(tiles, size_of_pictures(provenance));
  if (!arguments.tiles.empty() && wanted != provenance.tiles) {
    refuse("--tiles", wanted, provenance.tiles);
  }
  const std::string shuffle = "pixel shuffle " + arguments.pixel_shuffle;
  if (!arguments.pixel_shuffle.empty() && !provenance.pooling.ends_with(shuffle)) {
    refuse("--pixel-shuffle", shuffle, "\"" + provenance.pooling + "\"");
  }
}

// A file's vectors are what they are: options that ask for others are refused.
void check_options(const Provenance& provenance, const EncoderArguments& arguments,
                   const fs::path& file) {
  const auto check = [&](const char* option, const std::string& wanted, const std::string& found) {
    if (wanted.empty() || wanted == found) return;
    throw Error(ErrorKind::usage, file.string() + ": " + option + " asks for \"" +
                                      printable(wanted) + "\", but the file was made with \"" +
                                      printable(found) + "\"; embed again, or leave it out");
  };
  check("--layer", arguments.layer, provenance.layer);
  if (arguments.pool_given) {
    // What follows the words of --pool says how tiles were pooled.
    const std::string wanted = pooling_name(arguments.pool == "all", {});
    if (!provenance.pooling.starts_with(wanted)) check("--pool", wanted, provenance.pooling);
  }
  check_tile_options(provenance, arguments, file);
  if (arguments.dtype_given && arguments.dtype != "auto") check("--dtype", arguments.dtype, provenance.compute_dtype);
}

// Questions about the file's items; the others are counted in `warnings`.
std::vector<Question> questions_of_file(const DataArguments& data, const ItemColumns& items,
                                        std::vector<std::string>& warnings) {
  fs::path path = data.questions;
  std::error_code code;
  if (path.empty()) {
    path = data.data.parent_path() / "questions.jsonl";
    if (!fs::exists(path, code)) return {};
  }
  std::vector<Question> questions = read_any_questions(path);
  const std::map<std::string, int> rows = row_by_id(items);
  const std::size_t all = questions.size();
  std::erase_if(questions, [&](const Question& q) { return !rows.contains(q.item_id); });
  if (questions.size() < all && !questions.empty()) {
    warnings.push_back(path.string() + ": " + std::to_string(all - questions.size()) + " of " +
                       std::to_string(all) +
                       " questions ask about items that are not in the embedding file and are "
                       "not counted");
  }
  if (questions.empty()) {
    throw Error(ErrorKind::input, path.string() + ": none of its " +
                                      std::to_string(all) +
                                      " questions asks about an item of " + data.data.string());
  }
  return questions;
}

}  // namespace

bool names_embedding_file(const fs::path& path) {
  return is_hdf5_file(path) || path.extension() == ".h5" || path.extension() == ".hdf5";
}

Vectors load_vectors(const DataArguments& data, const EncoderArguments& encoder,
                     bool encoder_given, bool quiet, const ReadOptions& parts) {
  Vectors vectors;
  if (names_embedding_file(data.data)) {
    ReadOptions reading = parts;
    reading.allow_outside = data.allow_outside;
    vectors.set = read_embedding_file(data.data, reading);
    vectors.source =
        source_of_file(vectors.set.provenance, encoder, encoder_given, data.data, quiet);
    check_options(vectors.set.provenance, encoder, data.data);
    if (!data.without_questions) {
      vectors.questions = questions_of_file(data, vectors.set.items, vectors.warnings);
    }
    return vectors;
  }
  EncoderSpec spec = choose_encoder(encoder, quiet);  // before the data are read
  Dataset dataset = read_dataset(
      data.data, {data.questions, data.allow_outside, data.without_questions});
  vectors.source = std::make_unique<FeatureSource>(std::move(spec), encoder, false,
                                                   cache_place(data.no_cache), quiet);
  vectors.set = vectors.source->embed_items(dataset.items, data.fail_fast, vectors.failures);
  vectors.questions = std::move(dataset.questions);
  vectors.notes = std::move(dataset.notes);
  if (vectors.set.items.size() == 0) {
    throw Error(ErrorKind::input, data.data.string() + ": none of its " +
                                      std::to_string(dataset.items.size()) +
                                      " images could be used; the first: " +
                                      printable(vectors.failures.front().id) + ": " +
                                      vectors.failures.front().reason);
  }
  return vectors;
}

std::vector<std::string> choose_templates(const Vectors& vectors,
                                          const std::vector<std::string>& given) {
  if (!given.empty()) return given;
  if (vectors.source) return vectors.source->spec().templates;
  throw Error(ErrorKind::usage, "--template: expected one, since the bundle of encoder " +
                                    printable(vectors.set.provenance.encoder) +
                                    " is not here to name its default");
}

RowMatrix prompt_vectors(Vectors& vectors, const std::vector<std::string>& prompts) {
  std::map<std::string, Eigen::Index> stored;
  for (std::size_t i = 0; i < vectors.set.prompts.size(); ++i) {
    stored.emplace(vectors.set.prompts[i], static_cast<Eigen::Index>(i));
  }
  RowMatrix rows(static_cast<Eigen::Index>(prompts.size()), vectors.set.text_embedding.cols());
  bool all = true;
  for (std::size_t i = 0; i < prompts.size() && all; ++i) {
    const auto it = stored.find(prompts[i]);
    all = it != stored.end();
    if (all) rows.row(static_cast<Eigen::Index>(i)) = vectors.set.text_embedding.row(it->second);
  }
  if (all) {
    if (vectors.source) vectors.source->warn_of_unknown_words(prompts, vectors.warnings);
    return rows;
  }
  if (!vectors.source) {
    throw Error(ErrorKind::input, "the embedding file lacks some of the " +
                                      std::to_string(prompts.size()) +
                                      " prompts, and the bundle of encoder " +
                                      printable(vectors.set.provenance.encoder) +
                                      " (" + printable(vectors.set.provenance.bundle_sha256.substr(0, 12)) +
                                      ") is not here to embed them");
  }
  return vectors.source->embed_texts(prompts, vectors.warnings);
}

std::vector<std::string> all_prompts(const std::vector<std::string>& names,
                                     const std::vector<std::string>& templates) {
  std::vector<std::string> prompts;
  for (const std::string& name : names) {
    for (const std::string& words : templates) prompts.push_back(fill_template(words, name));
  }
  return prompts;
}

std::vector<std::string> choice_names(const std::vector<Question>& questions) {
  std::set<std::string> names;
  for (const Question& question : questions) {
    names.insert(question.choices.begin(), question.choices.end());
  }
  names.erase(kNoneOfThese);
  return {names.begin(), names.end()};
}

std::vector<std::string> stored_names(const std::vector<Question>& questions,
                                      const std::vector<Item>& items) {
  const std::vector<std::string> asked = choice_names(questions);
  std::set<std::string> names(asked.begin(), asked.end());
  for (const Item& item : items) {
    if (!item.category.empty()) names.insert(item.category);
  }
  return {names.begin(), names.end()};
}

void require_direction(const ItemColumns& items, std::int64_t i,
                       const Eigen::Ref<const Eigen::RowVectorXf>& vector,
                       const std::string& where) {
  if ((vector.array() != 0.0f).any()) return;
  throw Error(ErrorKind::input, where + ": item " + printable(items.id[i]) +
                                    ": a zero vector has no direction");
}

void require_directions(const ItemColumns& items, const RowMatrix& vectors,
                        const std::string& where) {
  for (Eigen::Index i = 0; i < vectors.rows(); ++i) {
    require_direction(items, i, vectors.row(i), where);
  }
}

void require_embedding(const EmbeddingSet& set) {
  if (set.embedding.cols() == 0) {
    throw Error(ErrorKind::usage, "encoder " + printable(set.provenance.encoder) +
                                      " has no embedding: zero-shot scoring needs one");
  }
  require_directions(set.items, set.embedding, "embedding");
}

std::map<std::string, int> row_by_id(const ItemColumns& items) {
  std::map<std::string, int> rows;
  for (std::size_t i = 0; i < items.size(); ++i) rows.emplace(items.id[i], static_cast<int>(i));
  return rows;
}

std::map<std::string, std::string> report_provenance(const Provenance& provenance) {
  return {{"encoder", provenance.encoder},
          {"architecture", provenance.architecture},
          {"bundle_sha256", provenance.bundle_sha256},
          {"preprocessing", provenance.preprocessing},
          {"layer", provenance.layer},
          {"pooling", provenance.pooling},
          {"tiles", provenance.tiles},
          {"compute_dtype", provenance.compute_dtype},
          {"runtime", provenance.runtime},
          {"versions", nlohmann::json(provenance.versions).dump()},
          {"embedded_by", provenance.command_line}};
}

}  // namespace probe

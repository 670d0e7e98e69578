// probe import.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include "probe/cli/commands.h"
#include "probe/cli/embedding_target.h"
#include "probe/cli/output.h"
#include "probe/cli/vectors.h"
#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "probe/core/utf8.h"
#include "probe/data/item_columns.h"
#include "probe/store/embedding_file.h"
#include "probe/store/npy.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct ImportOptions {
  fs::path vectors, ids, file, text_vectors, prompts;
  std::string as = "embedding", encoder = kUnknown, store_dtype = "float32", command_line;
  bool hash_images = false;
  OutputOptions output;
};

// clip-retrieval writes img_emb_0.npy, img_emb_1.npy, ...; some versions pad with zeros.
std::vector<fs::path> parts_of_folder(const fs::path& folder) {
  std::error_code code;
  const fs::path inner = folder / "img_emb";
  const fs::path where = fs::is_directory(inner, code) ? inner : folder;
  const std::string prefix = "img_emb_";
  std::map<std::int64_t, fs::path> by_number;
  for (const fs::directory_entry& entry : fs::directory_iterator(where)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != ".npy" || !stem.starts_with(prefix)) continue;
    std::int64_t number = 0;
    const char* const end = stem.data() + stem.size();
    const auto [stop, error] = std::from_chars(stem.data() + prefix.size(), end, number);
    if (error == std::errc() && stop == end) by_number.emplace(number, entry.path());
  }
  std::vector<fs::path> parts;
  for (const auto& [number, path] : by_number) {
    if (number != std::ssize(parts)) {
      throw Error(ErrorKind::input, where.string() + ": expected img_emb_" +
                                        std::to_string(parts.size()) + ".npy, got " +
                                        printable(path.filename().string()) +
                                        " after the parts before it");
    }
    parts.push_back(path);
  }
  if (parts.empty()) {
    throw Error(ErrorKind::input, where.string() +
                                      ": expected an .npy file, or a folder with img_emb_0.npy "
                                      "as clip-retrieval writes it");
  }
  return parts;
}

// The rows of all parts, one below the other. Headers are read first: no memory is asked
// for before all parts are known to fit.
RowMatrix read_vectors(const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) return read_npy(path);
  const std::vector<fs::path> parts = parts_of_folder(path);
  std::int64_t n = 0, width = 0;
  for (const fs::path& part : parts) {
    const NpyHeader header = read_npy_header(part);
    if (width == 0) width = header.columns;
    if (header.columns != width) {
      throw Error(ErrorKind::input, part.string() + ": expected width " + std::to_string(width) +
                                        " as the parts before it, got " +
                                        std::to_string(header.columns));
    }
    n += header.rows;
  }
  RowMatrix vectors(n, width);
  Eigen::Index row = 0;
  for (const fs::path& part : parts) {
    const RowMatrix rows = read_npy(part);
    vectors.middleRows(row, rows.rows()) = rows;
    row += rows.rows();
  }
  return vectors;
}

void check_counts(std::int64_t names, const fs::path& file, const char* what,
                  const RowMatrix& vectors, const fs::path& vector_file) {
  if (names == vectors.rows()) return;
  throw Error(ErrorKind::input, file.string() + ": expected " + std::to_string(vectors.rows()) +
                                    " " + what + ", one for each row of " +
                                    vector_file.string() + ", got " + std::to_string(names));
}

void read_texts(const ImportOptions& options, EmbeddingSet& set) {
  set.prompts = read_prompt_lines(options.prompts);
  set.text_embedding = read_npy(options.text_vectors);
  check_counts(std::ssize(set.prompts), options.prompts, "prompts", set.text_embedding,
               options.text_vectors);
  if (set.text_embedding.cols() != set.embedding.cols()) {
    throw Error(ErrorKind::input,
                options.text_vectors.string() + ": expected width " +
                    std::to_string(set.embedding.cols()) + " as " + options.vectors.string() +
                    ", got " + std::to_string(set.text_embedding.cols()));
  }
  for (Eigen::Index i = 0; i < set.text_embedding.rows(); ++i) {
    if (!set.text_embedding.row(i).isZero(0.0f)) continue;
    throw Error(ErrorKind::input, options.text_vectors.string() + ": prompt \"" +
                                      printable(set.prompts[i]) +
                                      "\": a zero vector has no direction");
  }
}

// Nobody says how the vectors were made, and nothing is made up.
Provenance unknown_provenance(const ImportOptions& options) {
  Provenance provenance;
  provenance.encoder = options.encoder;
  provenance.architecture = provenance.bundle_sha256 = kUnknown;
  provenance.preprocessing = "imported, preprocessing unknown";
  provenance.layer = provenance.pooling = provenance.compute_dtype = provenance.runtime = kUnknown;
  provenance.tiles = "{\"scheme\":\"unknown\"}";
  provenance.versions = {{"probe", PROBE_VERSION}, {"hdf5", hdf5_version()}};
  provenance.command_line = options.command_line;
  return provenance;
}

void hash_images(ItemColumns& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items.path[i].empty()) {
      throw Error(ErrorKind::usage, "--hash-images: item " + printable(items.id[i]) +
                                        ": expected a path, got none");
    }
    items.content_sha256[i] = sha256_file(items.path[i]);
  }
}

Table imported_table(const ImportOptions& options, const EmbeddingSet& set) {
  Table table;
  table.name = "imported";
  table.title = "Imported into " + options.file.string();
  table.columns = {{"vectors", "vectors"}, {"width", "width"},     {"as", "as"},
                   {"categories", "with a category"}, {"prompts", "prompts"},
                   {"dtype", "stored as"}, {"megabytes", "MB"}};
  const RowMatrix& rows = set.embedding.cols() > 0 ? set.embedding : set.mean_tokens;
  const auto named = std::count_if(set.items.category.begin(), set.items.category.end(),
                                   [](const std::string& name) { return !name.empty(); });
  table.rows.push_back({count_cell(rows.rows()), count_cell(rows.cols()),
                        text_cell(set.embedding.cols() > 0 ? "embedding" : "mean tokens"),
                        count_cell(named), count_cell(std::ssize(set.prompts)),
                        text_cell(options.store_dtype),
                        number_cell(static_cast<double>(fs::file_size(options.file)) / 1e6, 2)});
  return table;
}

Report run_import(const ImportOptions& options) {
  const bool embedding = options.as == "embedding";
  if (!embedding && !options.text_vectors.empty()) {
    throw Error(ErrorKind::usage,
                "--text-vectors: texts are compared with embeddings; leave out --as " + options.as);
  }
  if (options.encoder.empty()) {
    throw Error(ErrorKind::usage, "--encoder-name: expected a name, got an empty one");
  }
  check_embedding_target(options.file);
  Report report;
  report.command = "import";
  ItemList list = read_item_columns(options.ids);
  report.notes = std::move(list.notes);
  EmbeddingSet set;
  set.items = std::move(list.columns);
  RowMatrix vectors = read_vectors(options.vectors);
  check_counts(std::ssize(set.items.id), options.ids, "ids", vectors, options.vectors);
  require_directions(set.items, vectors, options.vectors.string());
  set.embedding.resize(vectors.rows(), 0);
  set.mean_tokens.resize(vectors.rows(), 0);
  (embedding ? set.embedding : set.mean_tokens) = std::move(vectors);
  if (!options.text_vectors.empty()) read_texts(options, set);
  if (options.hash_images) hash_images(set.items);
  set.provenance = unknown_provenance(options);
  write_embedding_file(set, options.file, {parse_stored_type(options.store_dtype)});
  report.tables.push_back(imported_table(options, set));
  report.notes.push_back("how the vectors were made is not known: whether two imported files "
                         "may be compared, only you can tell");
  report.provenance = report_provenance(set.provenance);
  return report;
}

}  // namespace

Command add_import(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<ImportOptions>();
  options->command_line = command_line;
  app.add_option("VECTORS", options->vectors,
                 "matrix [items, width] that np.save wrote (float16, 32 or 64), or a folder of "
                 "clip-retrieval (img_emb/img_emb_0.npy, ...)")
      ->required();
  app.add_option("--ids", options->ids,
                 "which row is what: an id a line; .csv with columns id, path, category, "
                 "condition, original_id, attribute; .jsonl of the same; or the dataset")
      ->required()
      ->type_name("FILE");
  add_embedding_target(app, options->file);
  app.add_option("--as", options->as,
                 "what the vectors are: the tower's embedding, or means of its tokens")
      ->check(CLI::IsMember({"embedding", "mean-tokens", "mean_tokens"}))
      ->capture_default_str();
  app.add_option("--encoder-name,--encoder_name", options->encoder,
                 "what made the vectors, in your words")
      ->type_name("TEXT")
      ->capture_default_str();
  CLI::Option* text =
      app.add_option("--text-vectors,--text_vectors", options->text_vectors,
                     "embeddings of the prompts, .npy, as wide as the vectors")
          ->type_name("FILE");
  CLI::Option* prompts = app.add_option("--prompts", options->prompts,
                                        "the texts that were embedded, one a line, templates "
                                        "filled in")
                             ->type_name("FILE");
  text->needs(prompts);
  prompts->needs(text);
  app.add_flag("--hash-images,--hash_images", options->hash_images,
               "read the items' images for their SHA-256, by which files are joined");
  add_store_option(app, options->store_dtype);
  add_output_options(app, options->output);
  add_examples(app, {"probe import vectors.npy --ids ids.txt -o theirs.h5",
                     "probe import vectors.npy --ids photos/ --encoder-name \"open_clip ViT-B-32\" "
                     "--text-vectors texts.npy --prompts prompts.txt -o theirs.h5",
                     "probe import clip-retrieval-output --ids ids.csv -o theirs.h5"});
  return [options] { return show_report(run_import(*options), options->output); };
}

}  // namespace probe

// probe export.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "analysis/projection.h"
#include "probe/cli/commands.h"
#include "probe/cli/export_pictures.h"
#include "probe/cli/export_text.h"
#include "probe/cli/output.h"
#include "probe/cli/vectors.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/store/embedding_file.h"
#include "probe/store/npy.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct ExportOptions {
  fs::path file, folder;
  std::string to = "npy", items = "csv", of;
  bool normalize = false, no_sprite = false;
  ExportPictures pictures;
  OutputOptions output;
};

// One exported array: its name in the file, and its rows.
struct Part {
  std::string name;
  const RowMatrix* rows;
  int tokens;
};

// The arrays that the set has.
std::vector<Part> parts_of(const EmbeddingSet& set) {
  std::vector<Part> parts{{"image_embedding", &set.embedding, 0},
                          {"image_mean_tokens", &set.mean_tokens, 0},
                          {"image_tokens", &set.tokens, set.token_count},
                          {"text_embedding", &set.text_embedding, 0}};
  std::erase_if(parts, [](const Part& part) { return part.rows->size() == 0; });
  return parts;
}

// Writes files into the folder and lists them.
class ExportFolder {
 public:
  explicit ExportFolder(const fs::path& folder) : folder_(folder) {
    std::error_code code;
    fs::create_directories(folder, code);
    if (code) {
      throw Error(ErrorKind::io, folder.string() + ": cannot create: " + code.message());
    }
    table_.name = "exported";
    table_.title = "Exported to " + folder.string();
    table_.columns = {{"file", "file"}, {"rows", "rows"}, {"columns", "columns"}};
  }

  void write(const std::string& name, const std::string& content, std::int64_t rows,
             std::int64_t columns) {
    write_file_atomically(folder_ / name, content);
    table_.rows.push_back({text_cell(name), count_cell(rows), count_cell(columns)});
  }

  Table table() && { return std::move(table_); }

 private:
  fs::path folder_;
  Table table_;
};

void normalize(EmbeddingSet& set) {
  for (RowMatrix* rows : {&set.embedding, &set.mean_tokens, &set.text_embedding}) {
    if (rows->cols() > 0) *rows = unit_rows(*rows);
  }
  if (set.tokens.cols() == 0) return;
  const Eigen::Index width = set.tokens.cols() / set.token_count;  // each token by itself
  const Eigen::Map<const RowMatrix> rows(set.tokens.data(), set.tokens.size() / width, width);
  const RowMatrix unit = unit_rows(rows);
  set.tokens = Eigen::Map<const RowMatrix>(unit.data(), set.tokens.rows(), set.tokens.cols());
}

void export_arrays(const ExportOptions& options, const EmbeddingSet& set, ExportFolder& folder) {
  const bool lines = options.items == "jsonl";
  folder.write("items." + options.items, lines ? items_jsonl(set.items) : items_csv(set.items),
               std::ssize(set.items.id), 8);
  if (!set.prompts.empty()) {
    folder.write("prompts." + options.items,
                 lines ? prompts_jsonl(set.prompts) : prompts_csv(set.prompts),
                 std::ssize(set.prompts), 2);
  }
  for (const Part& part : parts_of(set)) {
    const bool text = part.rows == &set.text_embedding;
    const std::string content =
        options.to == "npy"
            ? npy_bytes(*part.rows, part.tokens)
            : matrix_csv(*part.rows, text ? set.prompts : set.items.id, text ? "prompt" : "id");
    folder.write(part.name + "." + options.to, content, part.rows->rows(), part.rows->cols());
  }
}

void export_projector(const ExportOptions& options, const EmbeddingSet& set, ExportFolder& folder,
                      Report& report) {
  Sprites sprites;
  if (!options.no_sprite) {
    sprites = draw_sprites(picture_paths(set.items, options.pictures), set.items,
                           options.output.quiet);
    if (!sprites.note.empty()) report.warnings.push_back(sprites.note);
  }
  std::vector<ProjectorEntry> entries;
  for (const Part& part : parts_of(set)) {
    const bool text = part.rows == &set.text_embedding;
    folder.write(part.name + ".tsv", projector_vectors(*part.rows), part.rows->rows(),
                 part.rows->cols());
    entries.push_back({part.name, part.rows->rows(), part.rows->cols(),
                       text ? "prompts.tsv" : "metadata.tsv", text ? 0 : sprites.side});
  }
  const std::int64_t n = std::ssize(set.items.id);
  folder.write("metadata.tsv", projector_items(set.items), n, 6);
  if (!set.prompts.empty()) {
    folder.write("prompts.tsv", projector_prompts(set.prompts), std::ssize(set.prompts), 1);
  }
  if (sprites.side > 0) folder.write("sprite.png", sprites.png, n, sprites.side);
  folder.write("projector_config.pbtxt", projector_config(entries), std::ssize(entries), 1);
}

void export_fiftyone(const ExportOptions& options, const EmbeddingSet& set,
                     ExportFolder& folder) {
  const std::vector<fs::path> paths = picture_paths(set.items, options.pictures);
  const auto none = std::find(paths.begin(), paths.end(), fs::path());
  if (none != paths.end()) {
    throw Error(ErrorKind::input, options.file.string() + ": item " +
                                      printable(set.items.id[none - paths.begin()]) +
                                      ": expected a path, which FiftyOne shows pictures by, got "
                                      "none; --images DATA says where they are");
  }
  const std::int64_t n = std::ssize(set.items.id);
  folder.write("labels.json", fiftyone_labels(set.items), n, 2);
  folder.write("data.json", fiftyone_data(paths), n, 2);
  for (const Part& part : parts_of(set)) {
    if (part.rows == &set.text_embedding) continue;
    folder.write(part.name + ".npy", npy_bytes(*part.rows, part.tokens), part.rows->rows(),
                 part.rows->cols());
  }
}

void export_atlas(const ExportOptions& options, const EmbeddingSet& set, ExportFolder& folder,
                  Report& report) {
  const bool embedding =
      options.of.empty() ? set.embedding.cols() > 0 : options.of == "embedding";
  const RowMatrix& vectors = embedding ? set.embedding : set.mean_tokens;
  if (vectors.size() == 0) {
    throw Error(ErrorKind::input, options.file.string() + ": expected /image/" +
                                      (embedding ? "embedding" : "mean_tokens") + ", got none");
  }
  require_directions(set.items, vectors, options.file.string());
  const Projection projection = project_to_plane(unit_rows(vectors));
  folder.write("atlas.csv", atlas_csv(set.items, projection.coordinates),
               std::ssize(set.items.id), 8);
  report.notes.push_back(std::string("x and y: the first two principal components of the ") +
                         (embedding ? "embeddings" : "mean tokens") +
                         ", of length 1; embedding-atlas atlas.csv --x x --y y");
}

Report run_export(const ExportOptions& options) {
  if (options.to == "parquet") {
    throw Error(ErrorKind::usage, "--to parquet: is written by our Python package: pip install "
                                  "\"python/[parquet]\" && probe-parquet " +
                                      printable(options.file.string()) + " -o FILE.parquet");
  }
  EmbeddingSet set =
      read_embedding_file(options.file, {true, true, options.to == "npy", true,
                                         options.pictures.allow_outside});
  if (options.normalize) normalize(set);
  Report report;
  report.command = "export";
  ExportFolder folder(options.folder);
  if (options.to == "tsv") {
    export_projector(options, set, folder, report);
  } else if (options.to == "fiftyone") {
    export_fiftyone(options, set, folder);
  } else if (options.to == "atlas") {
    export_atlas(options, set, folder, report);
  } else {
    export_arrays(options, set, folder);
  }
  report.tables.push_back(std::move(folder).table());
  report.provenance = {{"source", options.file.string()},
                       {"encoder", set.provenance.encoder},
                       {"bundle_sha256", set.provenance.bundle_sha256},
                       {"normalized", options.normalize ? "true" : "false"}};
  return report;
}

}  // namespace

Command add_export(CLI::App& app, const std::string&) {
  auto options = std::make_shared<ExportOptions>();
  app.add_option("FILE", options->file, "embedding file")->required();
  app.add_option("-o,--output", options->folder, "folder to write into")
      ->required()
      ->type_name("DIR");
  app.add_option("--to", options->to,
                 "npy, csv; tsv (TensorBoard's embedding projector, with sprites); fiftyone; atlas "
                 "(Embedding Atlas); parquet (says how). Stored tokens go to npy only")
      ->check(CLI::IsMember({"npy", "csv", "tsv", "fiftyone", "atlas", "parquet"}))
      ->capture_default_str();
  app.add_option("--items", options->items, "npy and csv: items and prompts as csv or jsonl")
      ->check(CLI::IsMember({"csv", "jsonl"}))
      ->capture_default_str();
  app.add_option("--of", options->of,
                 "atlas: vectors that are projected (default: embedding, or mean-tokens where "
                 "there is none)")
      ->check(CLI::IsMember({"embedding", "mean-tokens"}));
  app.add_option("--images", options->pictures.datasets,
                 "tsv, fiftyone: dataset in which pictures are looked up by id (default: the "
                 "file's paths); repeat for several")
      ->allow_extra_args(false)
      ->type_name("DATA");
  app.add_flag("--allow-outside,--allow_outside", options->pictures.allow_outside,
               "the dataset may name images, and a virtual file its parts, outside its own folder");
  app.add_flag("--no-sprite,--no_sprite", options->no_sprite, "tsv: read no pictures");
  app.add_flag("--normalize", options->normalize, "scale rows to length 1 (the file keeps raw)");
  add_output_options(app, options->output);
  add_examples(app, {"probe export demo.h5 -o vectors --items jsonl",
                     "probe export demo.h5 --to csv -o tables",
                     "probe export demo.h5 --to tsv -o log && tensorboard --logdir log",
                     "probe export demo.h5 --to fiftyone -o fiftyone --images demo",
                     "probe export demo.h5 --to atlas -o atlas && embedding-atlas atlas/atlas.csv "
                     "--x x --y y"});
  return [options] { return show_report(run_export(*options), options->output); };
}

}  // namespace probe

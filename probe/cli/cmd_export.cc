// probe export.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "probe/cli/commands.h"
#include "probe/cli/output.h"
#include "probe/core/atomic_file.h"
#include "probe/core/csv.h"
#include "probe/core/error.h"
#include "probe/store/embedding_file.h"
#include "probe/store/npy.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct ExportOptions {
  fs::path file, folder;
  std::string to = "npy";
  bool normalize = false;
  OutputOptions output;
};

// One exported array: its name in the file, and its rows.
struct Part {
  std::string name;
  const RowMatrix* rows;
  int tokens;
};

std::string items_csv(const ItemColumns& items) {
  std::string text = "row,id,path,category,condition,original_id,attribute,content_sha256\n";
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += std::to_string(i);
    for (const auto* column : {&items.id, &items.path, &items.category, &items.condition,
                               &items.original_id, &items.attribute, &items.content_sha256}) {
      text += "," + csv_field((*column)[i]);
    }
    text += "\n";
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

// Names of the rows beside their values; 9 digits give back the same float32.
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

Report run_export(const ExportOptions& options) {
  EmbeddingSet set =
      read_embedding_file(options.file, {true, true, options.to == "npy", true});
  if (options.normalize) {
    for (RowMatrix* rows : {&set.embedding, &set.mean_tokens, &set.text_embedding}) {
      if (rows->cols() > 0) *rows = unit_rows(*rows);
    }
    if (set.tokens.cols() > 0) {  // each token by itself
      const Eigen::Index width = set.tokens.cols() / set.token_count;
      const Eigen::Map<const RowMatrix> rows(set.tokens.data(), set.tokens.size() / width, width);
      const RowMatrix unit = unit_rows(rows);
      set.tokens = Eigen::Map<const RowMatrix>(unit.data(), set.tokens.rows(), set.tokens.cols());
    }
  }
  std::error_code code;
  fs::create_directories(options.folder, code);
  if (code) {
    throw Error(ErrorKind::io, options.folder.string() + ": cannot create: " + code.message());
  }
  Report report;
  report.command = "export";
  Table table;
  table.name = "exported";
  table.title = "Exported to " + options.folder.string();
  table.columns = {{"file", "file"}, {"rows", "rows"}, {"columns", "columns"}};
  const auto write = [&](const std::string& name, const std::string& content,
                         std::int64_t rows, std::int64_t columns) {
    write_file_atomically(options.folder / name, content);
    table.rows.push_back({text_cell(name), count_cell(rows), count_cell(columns)});
  };
  write("items.csv", items_csv(set.items), std::ssize(set.items.id), 8);
  if (!set.prompts.empty()) {
    write("prompts.csv", prompts_csv(set.prompts), std::ssize(set.prompts), 2);
  }
  for (const Part& part : {Part{"image_embedding", &set.embedding, 0},
                           Part{"image_mean_tokens", &set.mean_tokens, 0},
                           Part{"image_tokens", &set.tokens, set.token_count},
                           Part{"text_embedding", &set.text_embedding, 0}}) {
    if (part.rows->cols() == 0 || part.rows->rows() == 0) continue;
    const bool text = part.rows == &set.text_embedding;
    const std::string content =
        options.to == "npy"
            ? npy_bytes(*part.rows, part.tokens)
            : matrix_csv(*part.rows, text ? set.prompts : set.items.id, text ? "prompt" : "id");
    write(part.name + "." + options.to, content, part.rows->rows(), part.rows->cols());
  }
  report.tables.push_back(std::move(table));
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
  app.add_option("--to", options->to, "npy or csv; items and prompts are always csv, stored tokens go to npy only")
      ->check(CLI::IsMember({"npy", "csv"}))
      ->capture_default_str();
  app.add_flag("--normalize", options->normalize, "scale rows to length 1 (the file keeps raw)");
  add_output_options(app, options->output);
  add_examples(app, {"probe export demo.h5 -o vectors", "probe export demo.h5 --to csv -o tables"});
  return [options] { return show_report(run_export(*options), options->output); };
}

}  // namespace probe

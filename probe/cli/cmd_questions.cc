// probe questions.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "analysis/question_making.h"
#include "probe/cli/commands.h"
#include "probe/cli/output.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"
#include "probe/data/delimited.h"
#include "probe/data/manifest.h"
#include "probe/data/question_export.h"
#include "probe/data/questions.h"
#include "probe/data/responses.h"
#include "probe/store/embedding_file.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

struct QuestionsOptions {
  fs::path data, folder, table, hard, synonyms;
  std::vector<std::string> types = {"open", "choice", "unsolvable"}, exports;
  std::uint64_t seed = 0;
  bool allow_outside = false, base64 = false, single_shift = false;
  OutputOptions output;
};

DelimitedTable read_csv(const fs::path& path) {
  return read_delimited(path, path.extension() == ".tsv" ? '\t' : ',');
}

// NEMO's Table B: the name, then its distractors, one a column.
Distractors read_distractor_table(const fs::path& path) {
  const DelimitedTable table = read_csv(path);
  if (table.header.size() < 2) {
    throw Error(ErrorKind::input, path.string() + ":1: expected a name and its distractors, got " +
                                      std::to_string(table.header.size()) + " columns");
  }
  Distractors distractors;
  for (const DelimitedRow& row : table.rows) {
    auto& names = distractors[row.fields[0]];
    if (!names.empty()) {
      throw Error(ErrorKind::input, path.string() + ":" + std::to_string(row.line) + ": \"" +
                                        printable(row.fields[0]) + "\" stands twice");
    }
    for (std::size_t c = 1; c < row.fields.size(); ++c) {
      if (!row.fields[c].empty()) names.push_back(row.fields[c]);
    }
  }
  return distractors;
}

// Confusion pairs as `probe zeroshot --tables` writes them (answer, picked, count).
Distractors read_confusions(const fs::path& path) {
  const DelimitedTable table = read_csv(path);
  const int answer = table.column("answer"), picked = table.column("picked"),
            count = table.column("count");
  if (answer < 0 || picked < 0) {
    throw Error(ErrorKind::input, path.string() + ":1: expected columns answer and picked");
  }
  std::map<std::string, std::map<std::string, long>> times;
  for (const DelimitedRow& row : table.rows) {
    long n = 1;
    if (count >= 0) {
      const std::string& cell = row.fields[count];
      if (cell.empty() || cell.size() > 9 || cell.find_first_not_of("0123456789") != std::string::npos) {
        throw Error(ErrorKind::input, path.string() + ":" + std::to_string(row.line) +
                                          ": count: expected a number, got \"" + printable(cell) + "\"");
      }
      n = std::stol(cell);
    }
    if (row.fields[answer] != row.fields[picked]) times[row.fields[answer]][row.fields[picked]] += n;
  }
  Distractors distractors;
  for (const auto& [name, others] : times) {
    std::vector<std::pair<long, std::string>> sorted;
    for (const auto& [other, n] : others) sorted.emplace_back(-n, other);
    std::sort(sorted.begin(), sorted.end());
    for (auto& [n, other] : sorted) distractors[name].push_back(std::move(other));
  }
  return distractors;
}

Distractors read_hard(const fs::path& path, bool allow_outside) {
  if (!is_hdf5_file(path)) return read_confusions(path);
  ReadOptions read;
  read.mean_tokens = read.text = false;
  read.allow_outside = allow_outside;
  const EmbeddingSet set = read_embedding_file(path, read);
  if (set.embedding.cols() == 0) {
    throw Error(ErrorKind::input, path.string() + ": expected image embeddings, got none");
  }
  return nearest_distractors(set.embedding, set.items.category);
}

bool wants(const QuestionsOptions& options, const char* type) {
  return std::find(options.types.begin(), options.types.end(), type) != options.types.end();
}

Report run_questions(const QuestionsOptions& options) {
  DatasetOptions dataset_options;
  dataset_options.without_questions = true;
  dataset_options.allow_outside = options.allow_outside;
  const Dataset dataset = read_dataset(options.data, dataset_options);
  std::vector<std::string> categories;
  for (const Item& item : dataset.items) categories.push_back(item.category);

  Report report;
  report.command = "questions";
  Distractors distractors;
  std::string source = "other categories of the dataset, at random";
  if (!options.table.empty()) {
    distractors = read_distractor_table(options.table);
    source = options.table.string();
  } else {
    distractors = random_distractors(categories, options.seed);
    if (!options.hard.empty()) {
      // A category that was confused with fewer than three others is filled up at random.
      distractors = joined(read_hard(options.hard, options.allow_outside), distractors);
      source = options.hard.string() + ", filled up at random";
    }
  }
  SynonymGroups synonyms;
  if (!options.synonyms.empty()) synonyms = read_synonyms(options.synonyms);
  QuestionPlan plan;
  plan.open = wants(options, "open");
  plan.choice = wants(options, "choice");
  plan.unsolvable = wants(options, "unsolvable");
  plan.seed = options.seed;
  MadeQuestions made = make_questions(dataset.items, distractors, synonyms, kNoneOfThese, plan);
  if (made.questions.empty()) {
    throw Error(ErrorKind::input,
                options.data.string() + ": no question could be made; the first item: " +
                    (made.failures.empty() ? "none" : made.failures.front().reason));
  }
  std::error_code code;
  fs::create_directories(options.folder, code);
  if (code) {
    throw Error(ErrorKind::io, options.folder.string() + ": cannot create: " + code.message());
  }
  Table table;
  table.name = "questions";
  table.title = "Questions written to " + options.folder.string();
  table.columns = {{"file", "file"}, {"rows", "rows"}};
  const auto write = [&](const std::string& name, const std::string& content, std::int64_t rows) {
    write_file_atomically(options.folder / name, content);
    table.rows.push_back({text_cell(name), count_cell(rows)});
  };
  write("questions.jsonl", questions_jsonl(made.questions), std::ssize(made.questions));
  const auto rows_of = [&](auto&& counts) {
    std::int64_t rows = 0;
    for (const Question& q : made.questions) {
      if (!counts(q)) continue;
      rows += options.single_shift || q.choices.empty() ? 1 : std::ssize(q.choices);
    }
    return rows;
  };
  for (const std::string& format : options.exports) {
    if (format == "lmms-eval") {
      write("lmms_eval.jsonl", lmms_eval_jsonl(dataset, made.questions, !options.single_shift),
            rows_of([](const Question&) { return true; }));
      continue;
    }
    for (const QuestionType type :
         {QuestionType::open, QuestionType::choice, QuestionType::unsolvable}) {
      if (!wants(options, question_type_name(type))) continue;
      write(std::string("vlmevalkit_") + question_type_name(type) + ".tsv",
            vlmevalkit_tsv(dataset, made.questions, type,
                           options.base64 ? ImageForm::base64 : ImageForm::path,
                           !options.single_shift),
            rows_of([&](const Question& q) { return q.type == type; }));
    }
  }
  report.tables.push_back(std::move(table));
  report.provenance = {{"data", options.data.string()},
                       {"distractors", source},
                       {"seed", std::to_string(options.seed)}};
  report.notes.push_back("distractors: " + source);
  report.notes.push_back("each position holds the answer equally often, give or take one");
  report.failures = std::move(made.failures);
  return report;
}

}  // namespace

Command add_questions(CLI::App& app, const std::string&) {
  auto options = std::make_shared<QuestionsOptions>();
  app.add_option("DATA", options->data, "dataset (folder, .jsonl, .tsv, .csv)")->required();
  app.add_option("-o,--output", options->folder, "folder to write into")
      ->required()
      ->type_name("DIR");
  app.add_option("--types", options->types, "open, choice, unsolvable")
      ->check(CLI::IsMember({"open", "choice", "unsolvable"}))
      ->delimiter(',')
      ->capture_default_str();
  auto* table = app.add_option("--distractors", options->table,
                               "table of a name and its distractors, as NEMO's Table B");
  app.add_option("--hard", options->hard,
                 "an encoder's confusions: a CSV of answer, picked, count, or an embedding file")
      ->excludes(table);
  app.add_option("--synonyms", options->synonyms,
                 "groups of words that mean the same; none stands beside another");
  app.add_option("--seed", options->seed, "of random distractors and positions")
      ->capture_default_str();
  app.add_option("--export", options->exports, "for harnesses: vlmevalkit, lmms-eval")
      ->check(CLI::IsMember({"vlmevalkit", "lmms-eval"}))
      ->delimiter(',');
  app.add_flag("--base64", options->base64, "VLMEvalKit: put the images into the table");
  app.add_flag("--single-shift,--single_shift", options->single_shift,
               "export each question once, not at every circular shift");
  app.add_flag("--allow-outside,--allow_outside", options->allow_outside,
               "the dataset may name images outside its own folder");
  add_output_options(app, options->output);
  add_examples(app, {"probe questions demo/items.jsonl -o q --distractors table_b.csv",
                     "probe questions demo/items.jsonl -o q --hard demo.h5 --export vlmevalkit",
                     "probe questions demo/items.jsonl -o q --seed 7 --export lmms-eval"});
  return [options] { return show_report(run_questions(*options), options->output); };
}

}  // namespace probe

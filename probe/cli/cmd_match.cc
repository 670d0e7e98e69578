// probe match.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <set>

#include "analysis/statistics.h"
#include "index/flat_index.h"
#include "probe/cli/commands.h"
#include "probe/cli/matching.h"
#include "probe/cli/output.h"
#include "probe/cli/vectors.h"
#include "probe/core/error.h"

namespace probe {
namespace {

struct MatchOptions {
  DataArguments data;
  EncoderArguments encoder;
  OutputOptions output;
  std::string mode = "o2o";
  std::vector<int> k = {5};
  bool keep_source = false, neighbors = false, encoder_given = false;
};

const char* mode_title(MatchMode mode) {
  return mode == MatchMode::o2o ? "Original to original (O2O)" : "Modified to original (A2O)";
}

std::string mode_name(MatchMode mode) { return mode == MatchMode::o2o ? "o2o" : "a2o"; }

Table score_table(const Matching& matching, const ItemColumns& items, MatchMode mode,
                  const std::vector<int>& ks) {
  Table table;
  table.name = "match_" + mode_name(mode);
  table.title = mode_title(mode);
  table.columns = {{"k", "k"},
                   {"hit", "hit@k % [95 %] (right/all)"},
                   {"chance_percent", "chance %"},
                   {"mean_fraction", "mean fraction"},
                   {"mrr", "MRR"},
                   {"no_positive", "no positive"}};
  for (const int k : ks) {
    const MatchScore score = score_matches(matching.matches, items, k);
    const auto known = [&](double value, int decimals) {
      return score.hit.total > 0 ? number_cell(value, decimals) : unknown_cell();
    };
    table.rows.push_back({count_cell(k), accuracy_cell(score.hit, wilson_interval(score.hit)),
                          known(100 * score.chance, 1), known(score.mean_fraction, 3),
                          known(score.mrr, 3), count_cell(score.no_positive)});
  }
  return table;
}

// hit@k of each group of queries, e.g. by category.
Table group_table(const Matching& matching, const ItemColumns& items, MatchMode mode, int k,
                  const std::string& what, const std::vector<std::string>& groups) {
  std::map<std::string, Accuracy> hits;
  for (const QueryMatch& match : matching.matches) {
    if (match.positives > 0) hits[groups[match.query]].add(is_hit(match, items, k));
  }
  Table table;
  table.name = "match_" + mode_name(mode) + "_by_" + what;
  table.title = fmt::format("{}, hit@{} by {}", mode_title(mode), k, what);
  table.columns = {{what, what}, {"hit", fmt::format("hit@{} %", k)}};
  for (const auto& [group, hit] : hits) {
    table.rows.push_back({text_cell(group), accuracy_cell(hit)});
  }
  return table;
}

Table neighbor_table(const Matching& matching, const ItemColumns& items, MatchMode mode) {
  Table table;
  table.name = "match_" + mode_name(mode) + "_neighbors";
  table.title = std::string(mode_title(mode)) + ", neighbours";
  table.columns = {{"query", "query", true}, {"category", "category"},
                   {"rank", "rank"},         {"neighbor", "neighbour", true},
                   {"neighbor_category", "its category"}, {"cosine", "cosine"}};
  for (const QueryMatch& match : matching.matches) {
    for (std::size_t i = 0; i < match.neighbors.size(); ++i) {
      const std::int64_t row = match.neighbors[i];
      table.rows.push_back({text_cell(items.id[match.query]),
                            text_cell(items.category[match.query]),
                            count_cell(static_cast<std::int64_t>(i) + 1), text_cell(items.id[row]),
                            text_cell(items.category[row]), number_cell(match.scores[i], 4)});
    }
  }
  return table;
}

void add_notes(const MatchOptions& options, const Matching& matching, const ItemColumns& items,
               MatchMode mode, Report& report) {
  const MatchPlan& plan = matching.plan;
  report.notes.push_back(fmt::format("{}: {} queries, {} images in the gallery",
                                     mode_name(mode), plan.queries.size(), plan.gallery.size()));
  if (mode == MatchMode::a2o && plan.sources_left_out > 0) {
    report.notes.push_back(fmt::format(
        "a2o: the image a query was made from is left out of its gallery ({} queries); "
        "--keep-source puts it back, and then a hit says little",
        plan.sources_left_out));
  }
  if (mode == MatchMode::a2o && options.keep_source) {
    report.warnings.push_back(
        "a2o with --keep-source: a modified twin finds the very image it was made from, so "
        "hit@k is too high");
  }
  if (plan.sources_unknown > 0) {
    report.warnings.push_back(fmt::format(
        "{}: {} queries name a source image that is not in the gallery; if it is there under "
        "another id, it was not left out and hit@k is too high",
        mode_name(mode), plan.sources_unknown));
  }
  std::set<std::string> lonely;
  for (const QueryMatch& match : matching.matches) {
    if (match.positives == 0) lonely.insert(items.category[match.query]);
  }
  if (!lonely.empty()) {
    std::string names;
    for (const std::string& name : lonely) names += (names.empty() ? "" : ", ") + name;
    report.notes.push_back(mode_name(mode) +
                           ": queries that no gallery image could match are left out of the "
                           "denominator: " + names);
  }
  if (plan.without_category > 0) {
    report.warnings.push_back(
        fmt::format("{} items without a category were left out", plan.without_category));
  }
}

Report run_match(const MatchOptions& options) {
  Vectors vectors =
      load_vectors(options.data, options.encoder, options.encoder_given, options.output.quiet);
  const ItemColumns& items = vectors.set.items;
  std::vector<int> ks = options.k;
  std::sort(ks.begin(), ks.end());
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  Report report;
  report.command = "match";
  report.provenance = report_provenance(vectors.set.provenance);
  report.provenance["mode"] = options.mode;
  report.provenance["keep_source"] = options.keep_source ? "true" : "false";
  report.provenance["faiss"] = faiss_version();
  report.provenance["command_line"] = options.encoder.command_line;
  std::vector<MatchMode> modes;
  if (options.mode != "a2o") modes.push_back(MatchMode::o2o);
  if (options.mode != "o2o") modes.push_back(MatchMode::a2o);
  for (const MatchMode mode : modes) {
    const Matching matching =
        match_images(vectors.set, mode, options.keep_source, ks.back());
    report.tables.push_back(score_table(matching, items, mode, ks));
    report.tables.push_back(
        group_table(matching, items, mode, ks.back(), "category", items.category));
    if (mode == MatchMode::a2o) {
      report.tables.push_back(
          group_table(matching, items, mode, ks.back(), "attribute", items.attribute));
    }
    if (options.neighbors) report.tables.push_back(neighbor_table(matching, items, mode));
    add_notes(options, matching, items, mode, report);
  }
  report.notes.push_back(fmt::format("representation: {}, layer {}, cosine, encoder {}",
                                     vectors.set.provenance.pooling,
                                     vectors.set.provenance.layer,
                                     vectors.set.provenance.encoder));
  report.warnings.insert(report.warnings.end(), vectors.warnings.begin(), vectors.warnings.end());
  report.notes.insert(report.notes.end(), vectors.notes.begin(), vectors.notes.end());
  report.failures = std::move(vectors.failures);
  return report;
}

}  // namespace

Command add_match(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<MatchOptions>();
  options->encoder.command_line = command_line;
  add_data_options(app, options->data, true);
  add_encoder_options(app, options->encoder);
  add_tile_options(app, options->encoder);
  app.add_option("--mode", options->mode,
                 "o2o: originals against originals; a2o: modified against originals; both")
      ->check(CLI::IsMember({"o2o", "a2o", "both"}))
      ->capture_default_str();
  app.add_option("--k", options->k, "neighbours that count; several (1,5,10) give several rows")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("--keep-source,--keep_source", options->keep_source,
               "a2o: leave the image a query was made from in the gallery");
  app.add_flag("--neighbors", options->neighbors, "list every query's neighbours");
  add_output_options(app, options->output);
  add_examples(app, {"probe match demo.h5 --mode a2o",
                     "probe match demo --encoder demo --mode both --k 1,5,10",
                     "probe match nemo.tsv --encoder llava-next --tiles anyres",
                     "probe match nemo.h5 --neighbors --format csv"});
  return [options, &app] {
    options->encoder_given = app.count("--encoder") > 0;
    return show_report(run_match(*options), options->output);
  };
}

}  // namespace probe

// probe similarity.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "analysis/projection.h"
#include "analysis/sampling.h"
#include "analysis/similarity.h"
#include "analysis/similarity_tables.h"
#include "analysis/statistics.h"
#include "index/flat_index.h"
#include "probe/cli/commands.h"
#include "probe/cli/output.h"
#include "probe/cli/sources.h"
#include "probe/core/error.h"

namespace probe {
namespace {

constexpr std::int64_t kDrawnItems = 2000;  // in a projection figure

struct SimilarityOptions {
  SourceArguments sources;
  OutputOptions output;
  std::string of = "embedding";
  int k = 10;
  std::int64_t rsa_items = 3000;
  std::uint64_t seed = 0;
  bool intervals = false, project = false;
};

// One encoder, with what every pair needs of it.
struct Measured {
  RowMatrix vectors;        // raw, of the common items; empty unless they are drawn
  RowMatrix centered_rows;
  KernelProduct own;
  std::vector<std::vector<std::int64_t>> neighbors;
  std::vector<double> ranks;
};

std::vector<std::vector<std::int64_t>> nearest_others(const RowMatrix& vectors, int k) {
  std::vector<Excluded> itself;
  for (std::int64_t i = 0; i < vectors.rows(); ++i) itself.push_back({i});
  std::vector<std::vector<std::int64_t>> rows;
  for (const Neighbors& list : FlatIndex(vectors).search(vectors, k, itself)) {
    std::vector<std::int64_t>& row = rows.emplace_back();
    for (const Neighbor& neighbor : list) row.push_back(neighbor.row);
  }
  return rows;
}

Measured measure(RowMatrix vectors, const SimilarityOptions& options,
                 const std::vector<std::int64_t>& rsa_rows) {
  Measured measured;
  measured.centered_rows = centered(vectors);
  measured.own = kernel_product(measured.centered_rows, measured.centered_rows);
  measured.neighbors = nearest_others(vectors, options.k);
  measured.ranks = distance_ranks(rows_of(vectors, rsa_rows));
  if (options.project) measured.vectors = std::move(vectors);
  return measured;
}

PairSimilarity compare_pair(const std::vector<Measured>& all, int first, int second,
                            const SimilarityOptions& options) {
  const Measured &a = all[first], &b = all[second];
  PairSimilarity pair{first, second, {}, {}, {}, {}, {}};
  const Cka cka = linear_cka(a.own, kernel_product(a.centered_rows, b.centered_rows), b.own);
  pair.cka = cka.biased;
  pair.cka_debiased = cka.debiased;
  const std::vector<double> overlaps = neighbor_overlaps(a.neighbors, b.neighbors, options.k);
  pair.mutual_knn = mean_of(overlaps);
  if (options.intervals) pair.mutual_knn_interval = bootstrap_mean(overlaps, options.seed);
  pair.rsa = correlation(a.ranks, b.ranks);
  return pair;
}

void check_items(const CommonItems& common, int k) {
  const std::int64_t n = std::ssize(common.items.id);
  if (n < 3) {
    throw Error(ErrorKind::input,
                fmt::format("similarity: expected 3 items or more that all sources hold (same id "
                            "and content), got {}",
                            n));
  }
  if (k > n - 2) {
    throw Error(ErrorKind::usage,
                fmt::format("--k {}: expected at most {}: of {} items each has {} others, and "
                            "with all of them every overlap is 1",
                            k, n - 2, n, n - 1));
  }
}

void add_projections(const std::vector<std::string>& names, const std::vector<Measured>& all,
                     const ItemColumns& items, std::uint64_t seed, Report& report) {
  std::vector<Projection> projections;
  const std::vector<std::int64_t> drawn =
      sample_rows(std::ssize(items.id), kDrawnItems, seed);
  for (std::size_t e = 0; e < names.size(); ++e) {
    projections.push_back(project_to_plane(unit_rows(all[e].vectors)));
    report.figures.push_back(projection_figure(names[e], fmt::format("projection_{}", e + 1),
                                               projections.back(), items, drawn));
  }
  report.tables.push_back(projection_table(names, projections, items));
  if (std::ssize(drawn) < std::ssize(items.id)) {
    report.notes.push_back(fmt::format("projection figures show {} of {} items, drawn by seed",
                                       drawn.size(), items.size()));
  }
}

Report run_similarity(SimilarityOptions options) {
  const Representation representation = parse_representation(options.of);
  options.sources.common.without_questions = true;
  std::vector<Source> sources =
      load_sources(options.sources, parts_of(representation), options.output.quiet);
  if (sources.size() < 2) {
    throw Error(ErrorKind::usage,
                "similarity: expected two encoders or more (embedding files, or a dataset with "
                "several --encoder), got " + sources.front().label + " alone");
  }
  const CommonItems common = join_items(sources);
  check_items(common, options.k);
  const std::int64_t n = std::ssize(common.items.id);
  const std::vector<std::int64_t> rsa_rows = sample_rows(n, options.rsa_items, options.seed);
  std::vector<std::string> names;
  std::vector<Measured> all;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    names.push_back(sources[s].label);
    RowMatrix vectors = rows_of(sources[s].rows(representation), common.rows[s]);
    sources[s].release(representation);
    all.push_back(measure(std::move(vectors), options, rsa_rows));
  }
  std::vector<PairSimilarity> pairs;
  for (int a = 0; a < std::ssize(names); ++a) {
    for (int b = a + 1; b < std::ssize(names); ++b) {
      pairs.push_back(compare_pair(all, a, b, options));
    }
  }
  Report report;
  report.command = "similarity";
  add_source_remarks(sources, report);
  report.provenance["of"] = options.of;
  report.provenance["k"] = std::to_string(options.k);
  report.provenance["seed"] = std::to_string(options.seed);
  report.provenance["items"] = std::to_string(n);
  report.provenance["command_line"] = options.sources.encoder.command_line;
  const double chance = static_cast<double>(options.k) / static_cast<double>(n - 1);
  report.tables.push_back(pair_table(names, pairs, options.k, chance));
  for (const SimilarityMeasure& what : similarity_measures(options.k)) {
    if (names.size() > 2) report.tables.push_back(similarity_matrix(names, pairs, what));
    report.figures.push_back(similarity_heatmap(names, pairs, what));
  }
  if (options.project) add_projections(names, all, common.items, options.seed, report);
  report.notes.push_back(fmt::format(
      "{} items in common, by id and content hash; CKA of raw centred vectors ({}), mutual kNN "
      "and RSA by cosine",
      n, options.of));
  if (std::ssize(rsa_rows) < n) {
    report.notes.push_back(fmt::format("RSA on {} items drawn by seed {} (--rsa-items)",
                                       rsa_rows.size(), options.seed));
  }
  report.warnings.insert(report.warnings.end(), common.warnings.begin(), common.warnings.end());
  return report;
}

}  // namespace

Command add_similarity(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<SimilarityOptions>();
  options->sources.encoder.command_line = command_line;
  add_source_options(app, options->sources,
                     "embedding files of the same items, or a dataset for several --encoder");
  add_representation_option(app, options->of);
  app.add_option("--k", options->k, "neighbours of mutual kNN")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--rsa-items,--rsa_items", options->rsa_items,
                 "items whose distances RSA ranks; drawn by the seed if there are more")
      ->check(CLI::Range(3, 50000))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "of the draws and the bootstrap")
      ->capture_default_str();
  app.add_flag("--intervals", options->intervals, "bootstrap the mutual kNN over the items");
  app.add_flag("--project", options->project,
               "also every item in the plane, by PCA: a table and a figure for each encoder");
  add_output_options(app, options->output);
  add_examples(app, {"probe similarity clip.h5 siglip.h5 llava.h5",
                     "probe similarity clip.h5 llava.h5 --of mean-tokens --k 5",
                     "probe similarity photos/ --encoder clip --encoder siglip --project --json"});
  return [options] { return show_report(run_similarity(*options), options->output); };
}

}  // namespace probe

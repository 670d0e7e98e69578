// probe match.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "index/flat_index.h"
#include "probe/cli/commands.h"
#include "probe/cli/match_tables.h"
#include "probe/cli/matching.h"
#include "probe/cli/output.h"
#include "probe/cli/sources.h"
#include "probe/core/error.h"

namespace probe {
namespace {

// What one tower is matched by.
struct MatchedSet {
  ItemColumns items;
  RowMatrix vectors;                          // [n, w]; or:
  std::shared_ptr<const EmbeddingRows> file;  // which is read in blocks
};

// A file that is not read whole, and how many rows of it at a time.
struct FileInBlocks {
  std::shared_ptr<const EmbeddingRows> file;
  std::int64_t rows = 0;
};

struct MatchOptions {
  SourceArguments sources;
  OutputOptions output;
  std::string mode = "o2o", of = "mean-tokens";
  std::vector<int> k = {5};
  std::uint64_t seed = 0;
  bool keep_source = false, neighbors = false;
  std::int64_t block_rows = 0;
  std::string index = "exact";
  ApproximateOptions approximate;
};

// None: the search is exact.
std::optional<ApproximateOptions> approximate_options(const MatchOptions& options) {
  const std::map<std::string, IndexKind> kinds{
      {"ivf", IndexKind::ivf}, {"hnsw", IndexKind::hnsw}, {"ivfpq", IndexKind::ivfpq}};
  const auto kind = kinds.find(options.index);
  if (kind == kinds.end()) return std::nullopt;
  ApproximateOptions approximate = options.approximate;
  approximate.kind = kind->second;
  return approximate;
}

// The one file that is matched, if it does not fit in memory or the user wants blocks.
FileInBlocks file_in_blocks(const MatchOptions& options, Representation representation) {
  const std::vector<std::filesystem::path>& data = options.sources.data;
  const bool one_file =
      data.size() == 1 && options.sources.encoders.size() <= 1 && is_hdf5_file(data.front());
  if (!one_file && options.block_rows > 0) {
    throw Error(ErrorKind::usage, "--block-rows: expected one embedding file to read in blocks");
  }
  if (!one_file) return {};
  const VectorKind kind = representation == Representation::embedding ? VectorKind::embedding
                                                                      : VectorKind::mean_tokens;
  auto file = std::make_shared<const EmbeddingRows>(data.front(), kind,
                                                    options.sources.common.allow_outside);
  const std::int64_t rows = options.block_rows > 0 ? options.block_rows
                                                   : rows_at_a_time(file->size(), file->width());
  // A file without these vectors is reported where all are.
  if (rows == 0 || file->width() == 0) return {};
  return {std::move(file), rows};
}

// Of the first encoder; queries and galleries are the same for all.
void add_notes(const MatchOptions& options, const ModeMatches& matches, Report& report) {
  const Matching& matching = matches.towers.front().matching;
  const ItemColumns& items = matches.items;
  const MatchMode mode = matches.mode;
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

// What is matched of each source: its items, or those that all sources hold.
std::vector<MatchedSet> common_sets(std::vector<Source>& sources, const FileInBlocks& blocks,
                                    Representation representation, Report& report) {
  std::vector<MatchedSet> sets;
  if (blocks.file) {
    sets.push_back({sources.front().vectors.set.items, {}, blocks.file});
    return sets;
  }
  if (sources.size() == 1) {
    sources.front().rows(representation);  // checks them
    EmbeddingSet& set = sources.front().vectors.set;
    const bool embedding = representation == Representation::embedding;
    sets.push_back({set.items, std::move(embedding ? set.embedding : set.mean_tokens), nullptr});
    return sets;
  }
  const CommonItems common = join_items(sources);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    sets.push_back(
        {common.items, rows_of(sources[s].rows(representation), common.rows[s]), nullptr});
  }
  report.warnings.insert(report.warnings.end(), common.warnings.begin(), common.warnings.end());
  return sets;
}

void add_tables(const MatchOptions& options, const ModeMatches& matches,
                const std::vector<int>& ks, Report& report) {
  report.tables.push_back(match_score_table(matches, ks));
  Table difference = match_difference_table(matches, ks.back(), options.seed);
  if (!difference.rows.empty()) report.tables.push_back(std::move(difference));
  report.tables.push_back(
      match_group_table(matches, ks.back(), "category", matches.items.category));
  if (matches.mode == MatchMode::a2o) {
    report.tables.push_back(
        match_group_table(matches, ks.back(), "attribute", matches.items.attribute));
  }
  Table recall = match_recall_table(matches, ks.back());
  if (!recall.rows.empty()) {
    report.tables.push_back(std::move(recall));
    report.warnings.push_back(mode_name(matches.mode) + ": an approximate search misses neighbours; "
                              "numbers to publish come from --index exact");
  } else if (options.index != "exact") {
    report.warnings.push_back(fmt::format(
        "{}: the search was exact: --index {} needs a gallery of {} images, got {}",
        mode_name(matches.mode), options.index, kFewestRowsToApproximate,
        matches.towers.front().matching.plan.gallery.size()));
  }
  if (options.neighbors) report.tables.push_back(match_neighbor_table(matches));
  add_notes(options, matches, report);
}

Report run_match(MatchOptions options) {
  options.sources.common.without_questions = true;
  const Representation representation = parse_representation(options.of);
  const FileInBlocks blocks = file_in_blocks(options, representation);
  const ReadOptions parts =
      blocks.file ? ReadOptions{false, false, false, false} : parts_of(representation);
  std::vector<Source> sources = load_sources(options.sources, parts, options.output.quiet);
  std::vector<int> ks = options.k;
  std::sort(ks.begin(), ks.end());
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  Report report;
  report.command = "match";
  const std::vector<MatchedSet> sets = common_sets(sources, blocks, representation, report);
  std::vector<MatchMode> modes;
  if (options.mode != "a2o") modes.push_back(MatchMode::o2o);
  if (options.mode != "o2o") modes.push_back(MatchMode::a2o);
  std::vector<ModeMatches> results;
  for (const MatchMode mode : modes) {
    ModeMatches matches{mode, sets.front().items, {}};
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const MatchedRows rows =
          sets[s].file ? rows_of_file(sets[s].file, sets[s].items, blocks.rows, sources[s].path)
                       : rows_in_memory(sets[s].vectors);
      matches.towers.push_back({sources[s].label,
                                match_images(sets[s].items, rows, mode, options.keep_source,
                                             ks.back(), options.output.quiet,
                                             approximate_options(options))});
    }
    add_tables(options, matches, ks, report);
    results.push_back(std::move(matches));
  }
  report.figures.push_back(match_figure(results, ks.back()));
  for (const Source& source : sources) {
    const Provenance& provenance = source.vectors.set.provenance;
    const std::string what =
        representation == Representation::embedding
            ? "the tower's embedding"
            : fmt::format("{}, layer {}", provenance.pooling, provenance.layer);
    report.notes.push_back(
        fmt::format("representation: {}, cosine, encoder {}", what, source.label));
  }
  add_source_remarks(sources, report);
  if (blocks.file) {
    report.notes.push_back(fmt::format("vectors were read from the file {} rows at a time",
                                       blocks.rows));
  }
  report.provenance["mode"] = options.mode;
  report.provenance["of"] = options.of;
  report.provenance["keep_source"] = options.keep_source ? "true" : "false";
  report.provenance["index"] = options.index;
  report.provenance["faiss"] = faiss_version();
  report.provenance["seed"] = std::to_string(options.seed);
  report.provenance["command_line"] = options.sources.encoder.command_line;
  return report;
}

}  // namespace

Command add_match(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<MatchOptions>();
  options->sources.encoder.command_line = command_line;
  add_source_options(app, options->sources,
                     "dataset or embedding file; several set towers side by side, the first is "
                     "the base tower");
  add_tile_options(app, options->sources.encoder);
  add_representation_option(app, options->of);
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
  app.add_option("--seed", options->seed, "of the bootstrap")->capture_default_str();
  app.add_flag("--neighbors,--neighbours", options->neighbors, "list every query's neighbours");
  app.add_option("--block-rows,--block_rows", options->block_rows,
                 "read the file's vectors so many rows at a time (default: all at once, unless they "
                 "do not fit in half of the free memory)")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--index", options->index,
                 "exact, or approximate search by FAISS for millions of images, with its recall: ivf "
                 "(inverted lists), ivfpq (the same of quantised vectors), hnsw (a graph). Lists of a "
                 "file that is read in blocks lie in TMPDIR")
      ->check(CLI::IsMember({"exact", "ivf", "ivfpq", "hnsw"}))
      ->capture_default_str();
  app.add_option("--probes", options->approximate.probes, "ivf, ivfpq: lists that a query looks into")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--ef-search,--ef_search", options->approximate.ef_search,
                 "hnsw: candidates that a query keeps")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  add_output_options(app, options->output);
  add_examples(app, {"probe match demo.h5 --mode a2o",
                     "probe match demo --encoder demo --mode both --k 1,5,10",
                     "probe match nemo.tsv --encoder llava-next --tiles anyres",
                     "probe match clip.h5 llava.h5 --mode both",
                     "probe match nemo.h5 --neighbors --format csv",
                     "probe match million.h5 --of embedding --index ivf --probes 64"});
  return [options] { return show_report(run_match(*options), options->output); };
}

}  // namespace probe

#include "probe/cli/sources.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "probe/core/error.h"
#include "probe/core/item_column_list.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

// Tells the sources apart with no more words than needed.
void label_sources(std::vector<Source>& sources) {
  const auto distinct = [&] {
    std::map<std::string, int> seen;
    for (const Source& source : sources) ++seen[source.label];
    return seen.size() == sources.size();
  };
  const auto label_by = [&](const auto& words) {
    for (Source& source : sources) source.label = printable(words(source));
    return distinct();
  };
  const auto encoder = [](const Source& s) { return s.vectors.set.provenance.encoder; };
  if (label_by(encoder)) return;
  if (label_by([&](const Source& s) {
        return encoder(s) + ", layer " + s.vectors.set.provenance.layer;
      })) {
    return;
  }
  if (label_by([&](const Source& s) { return encoder(s) + ", " + s.path.stem().string(); })) return;
  if (label_by([&](const Source& s) { return encoder(s) + ", " + s.path.string(); })) return;
  int number = 0;
  label_by([&](const Source& s) { return fmt::format("{} #{}", encoder(s), ++number); });
}

// Readers refuse an id that stands twice.
std::map<std::string, std::int64_t> rows_by_id(const Source& source) {
  std::map<std::string, std::int64_t> rows;
  for (const std::string& id : source.vectors.set.items.id) {
    rows.emplace(id, static_cast<std::int64_t>(rows.size()));
  }
  return rows;
}

}  // namespace

void add_source_options(CLI::App& command, SourceArguments& arguments,
                        const std::string& data_help) {
  command.add_option("DATA", arguments.data, data_help)->required();
  command.add_option("-e,--encoder", arguments.encoders,
                     "bundle that embeds a dataset; repeat for several (default: demo)");
  add_tower_options(command, arguments.encoder);
  add_reading_options(command, arguments.common, true);
}

void add_representation_option(CLI::App& command, std::string& of) {
  command.add_option("--of", of, "which vectors: embedding or mean-tokens")
      ->check(CLI::IsMember({"embedding", "mean-tokens"}))
      ->capture_default_str();
}

Representation parse_representation(const std::string& of) {
  return of == "embedding" ? Representation::embedding : Representation::mean_tokens;
}

ReadOptions parts_of(Representation representation) {
  const bool embedding = representation == Representation::embedding;
  return {embedding, !embedding, false, false};
}

const RowMatrix& Source::rows(Representation representation) const {
  const bool embedding = representation == Representation::embedding;
  const RowMatrix& matrix = embedding ? vectors.set.embedding : vectors.set.mean_tokens;
  if (matrix.cols() == 0) {
    throw Error(ErrorKind::input,
                path.string() + ": expected " +
                    (embedding ? "/image/embedding, got none; --of mean-tokens uses the tokens"
                               : "/image/mean_tokens, got none; --of embedding uses the others"));
  }
  require_directions(vectors.set.items, matrix, path.string());
  return matrix;
}

void Source::release(Representation representation) {
  (representation == Representation::embedding ? vectors.set.embedding : vectors.set.mean_tokens)
      .resize(0, 0);
}

std::vector<Source> load_sources(const SourceArguments& arguments, const ReadOptions& parts,
                                 bool quiet) {
  std::vector<Source> sources;
  const bool only_files =
      std::all_of(arguments.data.begin(), arguments.data.end(), names_embedding_file);
  if (only_files && arguments.encoders.size() > 1) {
    throw Error(ErrorKind::usage, arguments.data.front().string() +
                                      ": an embedding file names its own encoder; several "
                                      "--encoder need a dataset");
  }
  for (const std::filesystem::path& path : arguments.data) {
    DataArguments data = arguments.common;
    data.data = path;
    std::vector<std::string> encoders = arguments.encoders;
    const bool given = !encoders.empty() && (only_files || !names_embedding_file(path));
    if (!given) encoders = {"demo"};
    for (const std::string& name : encoders) {
      EncoderArguments encoder = arguments.encoder;
      encoder.encoder = name;
      sources.push_back(
          {"", path, load_vectors(data, encoder, given, quiet, parts)});
    }
  }
  label_sources(sources);
  return sources;
}

void add_source_remarks(std::vector<Source>& sources, Report& report) {
  const bool several = sources.size() > 1;
  for (Source& source : sources) {
    const std::string prefix = several ? source.label + "." : "";
    for (const auto& [field, value] : report_provenance(source.vectors.set.provenance)) {
      report.provenance[prefix + field] = value;
    }
    for (const std::string& warning : source.vectors.warnings) {
      report.warnings.push_back(several ? source.label + ": " + warning : warning);
    }
    report.notes.insert(report.notes.end(), source.vectors.notes.begin(),
                        source.vectors.notes.end());
    for (Failure& failure : source.vectors.failures) {
      if (several) failure.id = source.label + ": " + failure.id;
      report.failures.push_back(std::move(failure));
    }
  }
}

CommonItems join_items(const std::vector<Source>& sources) {
  std::vector<std::map<std::string, std::int64_t>> by_id;
  for (const Source& source : sources) by_id.push_back(rows_by_id(source));
  CommonItems common;
  common.rows.resize(sources.size());
  const ItemColumns& first = sources.front().vectors.set.items;
  std::int64_t absent = 0, other_content = 0, unknown_content = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<std::int64_t> rows;
    bool same = true, known = !first.content_sha256[i].empty();
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const auto it = by_id[s].find(first.id[i]);
      if (it == by_id[s].end()) break;
      const std::string& hash = sources[s].vectors.set.items.content_sha256[it->second];
      known = known && !hash.empty();
      same = same && (hash.empty() || first.content_sha256[i].empty() ||
                      hash == first.content_sha256[i]);
      rows.push_back(it->second);
    }
    if (rows.size() < sources.size()) {
      ++absent;
      continue;
    }
    if (!same) {
      ++other_content;
      continue;
    }
    unknown_content += known ? 0 : 1;
    for (std::size_t s = 0; s < sources.size(); ++s) common.rows[s].push_back(rows[s]);
    for (const ItemColumn& column : kItemColumns) {
      (common.items.*column.values).push_back((first.*column.values)[i]);
    }
  }
  std::size_t largest = 0;
  for (const Source& source : sources) {
    largest = std::max(largest, source.vectors.set.items.size());
  }
  if (absent > 0 || largest > first.size()) {
    std::string sizes;
    for (const Source& source : sources) {
      sizes += fmt::format("{}{} {}", sizes.empty() ? "" : ", ", source.label,
                           source.vectors.set.items.size());
    }
    common.warnings.push_back(fmt::format("the sources hold other items ({}): {} are common to "
                                          "all and used",
                                          sizes, common.items.size()));
  }
  if (other_content > 0) {
    common.warnings.push_back(fmt::format("{} items have the same id but another content hash "
                                          "and are left out",
                                          other_content));
  }
  if (unknown_content > 0) {
    common.warnings.push_back(fmt::format("{} items have no content hash on one side and are "
                                          "joined by id alone",
                                          unknown_content));
  }
  return common;
}

RowMatrix rows_of(const RowMatrix& all, const std::vector<std::int64_t>& rows) {
  RowMatrix some(std::ssize(rows), all.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    some.row(static_cast<Eigen::Index>(i)) = all.row(rows[i]);
  }
  return some;
}

}  // namespace probe

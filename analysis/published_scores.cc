#include "analysis/published_scores.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

// Access to the cells of one row by column name.
struct RowReader {
  const std::vector<std::string>& header;
  const std::vector<std::string>& fields;
  std::string where;

  const std::string& text(const std::string& column) const {
    const auto it = std::find(header.begin(), header.end(), column);
    if (it == header.end()) {
      throw Error(ErrorKind::input, where + ": column \"" + column + "\" is missing");
    }
    return fields[it - header.begin()];
  }

  std::optional<double> number(const std::string& column, double largest) const {
    const std::string& cell = text(column);
    if (cell.empty()) return std::nullopt;
    double value = 0.0;
    const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (code != std::errc() || end != cell.data() + cell.size() ||
        !(value >= 0.0 && value <= largest)) {
      throw Error(ErrorKind::input, fmt::format("{}: {}: expected a number from 0 to {}, got \"{}\"",
                                                where, column, largest, printable(cell)));
    }
    return value;
  }

  PublishedCondition condition(const std::string& prefix) const {
    return {number(prefix + "_open", 100),     number(prefix + "_choice", 100),
            number(prefix + "_choice_sd", 100), number(prefix + "_unsol", 100),
            number(prefix + "_unsol_sd", 100),  number(prefix + "_avg", 100)};
  }
};

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t end = std::min(list.find(separator, start), list.size());
    parts.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

}  // namespace

std::vector<PublishedScore> parse_published(const std::vector<std::string>& header,
                                            const std::vector<std::vector<std::string>>& rows,
                                            const std::string& where) {
  std::vector<PublishedScore> scores;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowReader row{header, rows[i], fmt::format("{}: row {}", where, i + 1)};
    PublishedScore score;
    score.family = row.text("family");
    score.model = row.text("model");
    score.vision_encoder = row.text("vision_encoder");
    score.llm = row.text("llm");
    score.llm_size_b = row.number("llm_size_b", 1e6);
    score.original = row.condition("orig");
    score.modified = row.condition("mod");
    score.derived = split(row.text("derived"), ';');
    scores.push_back(std::move(score));
  }
  return scores;
}

Table published_table(const std::vector<PublishedScore>& scores) {
  Table table;
  table.name = "published";
  table.title = "Published, NEMO images, not comparable";
  table.columns = {{"model", "model"},
                   {"vision_encoder", "vision encoder"},
                   {"orig_open", "orig. open"},
                   {"orig_choice", "orig. choice"},
                   {"orig_unsol", "orig. unsol."},
                   {"orig_avg", "orig. avg"},
                   {"mod_open", "mod. open"},
                   {"mod_choice", "mod. choice"},
                   {"mod_unsol", "mod. unsol."},
                   {"mod_avg", "mod. avg"},
                   {"derived", "derived cells"}};
  const auto cell = [](const std::optional<double>& value) {
    return value ? number_cell(*value, 1) : unknown_cell();
  };
  for (const PublishedScore& score : scores) {
    std::string derived;
    for (const std::string& name : score.derived) derived += (derived.empty() ? "" : ", ") + name;
    std::vector<Cell> row{text_cell(score.model), text_cell(score.vision_encoder.empty()
                                                                ? "unknown"
                                                                : score.vision_encoder)};
    for (const PublishedCondition* condition : {&score.original, &score.modified}) {
      for (const auto& value : {condition->open, condition->choice, condition->unsolvable,
                                condition->average}) {
        row.push_back(cell(value));
      }
    }
    row.push_back(text_cell(derived));
    table.rows.push_back(std::move(row));
  }
  table.note =
      "Percent, as printed in NEMO's Table 2. Measured on NEMO's own images: no gap or test "
      "is computed between this panel and yours. Derived cells were computed from other "
      "printed numbers.";
  return table;
}

}  // namespace probe

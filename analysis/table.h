// Results as tables, and tables as text, CSV, JSON and Markdown. Every command's result
// is a Report; rendering never computes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figure.h"
#include "probe/core/accuracy.h"

namespace probe {

// One cell. An unknown value stays unknown: it is never shown as 0.
struct Cell {
  enum class Kind { unknown, text, count, number, accuracy };
  Kind kind = Kind::unknown;
  std::string words;          // text
  std::int64_t whole = 0;     // count
  double real = 0.0;          // number
  int decimals = 3;           // of a number, when rendered as text
  Accuracy accuracy;          // accuracy: percent with one decimal when rendered
  std::optional<Interval> interval;  // of the accuracy or number, same unit (0..1)
};

Cell unknown_cell();
Cell text_cell(std::string words);
Cell count_cell(std::int64_t value);
Cell number_cell(double value, int decimals);
Cell number_cell(double value, int decimals, Interval interval);
Cell accuracy_cell(Accuracy value);
Cell accuracy_cell(Accuracy value, Interval interval);

struct Column {
  std::string name;   // for machines: snake_case
  std::string title;  // for people
  bool items = false;  // its text cells are item ids: the report page shows their pictures
};

struct Table {
  std::string name;   // for machines and file names: snake_case
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // as many cells as columns
  std::string note;                     // below the table; may be empty
};

// An item that could not be used, and why.
struct Failure {
  std::string id, path, reason;
};

// What a command found out.
struct Report {
  std::string command;                            // "zeroshot", "match", ...
  std::map<std::string, std::string> provenance;  // what is needed to repeat it
  std::vector<Table> tables;
  std::vector<Figure> figures;
  std::vector<std::string> notes;     // rules that applied, one sentence each
  std::vector<std::string> warnings;  // what the reader must know before quoting numbers
  std::vector<Failure> failures;
};

// What a person reads in one cell. Control characters and invalid bytes are shown escaped.
std::string cell_text(const Cell& cell);

// Aligned columns for a terminal. "85.5 [80.1, 89.6]" is a percentage with its interval;
// "unknown" a value that is not known.
std::string render_text(const Table& table);

// RFC 4180 with a header line; an accuracy becomes <name>_correct, _total, _percent and,
// with an interval, _low and _high (percent). Unknown values are empty.
std::string render_csv(const Table& table);

// GitHub's pipe tables.
std::string render_markdown(const Table& table);

// A tabular environment (booktabs).
std::string render_latex(const Table& table);

// The whole report; keys as in the struct. An accuracy is {"correct","total","percent",
// "low","high"}, an unknown value null; a column of numbers names their "decimals".
// analysis/report_reading.h reads it.
std::string render_json(const Report& report);

}  // namespace probe

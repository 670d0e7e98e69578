#include "analysis/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "probe/core/csv.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

double percent(const Accuracy& accuracy) {
  return 100.0 * static_cast<double>(accuracy.correct) / static_cast<double>(accuracy.total);
}

bool right_aligned(const Table& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return row[column].kind != Cell::Kind::text;
  });
}

std::string pad(const std::string& text, std::size_t width, bool right) {
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

// The kinds a column holds decide into which CSV columns it spreads.
struct CsvShape {
  bool accuracy = false;
  bool interval = false;
};

CsvShape csv_shape(const Table& table, std::size_t column) {
  CsvShape shape;
  for (const auto& row : table.rows) {
    shape.accuracy |= row[column].kind == Cell::Kind::accuracy;
    shape.interval |= row[column].interval.has_value();
  }
  return shape;
}

std::string csv_value(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::text: return csv_field(cell.words);
    case Cell::Kind::count: return std::to_string(cell.whole);
    case Cell::Kind::number: return fmt::format("{:.9g}", cell.real);
    default: return "";
  }
}

void append_csv_cell(const Cell& cell, const CsvShape& shape, std::string& line) {
  const bool known = cell.kind == Cell::Kind::accuracy && cell.accuracy.total > 0;
  if (!shape.accuracy) {
    line += csv_value(cell);
  } else if (cell.kind == Cell::Kind::accuracy) {
    line += fmt::format("{},{},", cell.accuracy.correct, cell.accuracy.total);
    if (known) line += fmt::format("{:.6f}", percent(cell.accuracy));
  } else {
    line += ",," + csv_value(cell);
  }
  if (shape.interval) {
    const double unit = shape.accuracy ? 100.0 : 1.0;
    line += cell.interval ? fmt::format(",{:.6f},{:.6f}", unit * cell.interval->low,
                                        unit * cell.interval->high)
                          : ",,";
  }
}

std::string escape_with(const std::string& text,
                        const std::function<const char*(char)>& replacement) {
  std::string out;
  for (const char c : text) {
    const char* other = replacement(c);
    if (other != nullptr) {
      out += other;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string cell_text(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::unknown: return "unknown";
    case Cell::Kind::text: return printable(cell.words);
    case Cell::Kind::count: return std::to_string(cell.whole);
    case Cell::Kind::number: {
      std::string text = fmt::format("{:.{}f}", cell.real, cell.decimals);
      // A small p is not zero.
      if (cell.real > 0 && text.find_first_not_of("0.") == std::string::npos) {
        text = "<" + text.substr(0, text.size() - 1) + "1";
      }
      if (cell.interval) {
        text += fmt::format(" [{:.{}f}, {:.{}f}]", cell.interval->low, cell.decimals,
                            cell.interval->high, cell.decimals);
      }
      return text;
    }
    case Cell::Kind::accuracy: {
      if (cell.accuracy.total == 0) return "none";
      std::string text = fmt::format("{:.1f}", percent(cell.accuracy));
      if (cell.interval) {
        text += fmt::format(" [{:.1f}, {:.1f}]", 100 * cell.interval->low,
                            100 * cell.interval->high);
      }
      return text + fmt::format(" ({}/{})", cell.accuracy.correct, cell.accuracy.total);
    }
  }
  return "";
}

Cell unknown_cell() { return {}; }

Cell text_cell(std::string words) {
  Cell cell;
  cell.kind = Cell::Kind::text;
  cell.words = std::move(words);
  return cell;
}

Cell count_cell(std::int64_t value) {
  Cell cell;
  cell.kind = Cell::Kind::count;
  cell.whole = value;
  return cell;
}

Cell number_cell(double value, int decimals) {
  Cell cell;
  cell.kind = Cell::Kind::number;
  cell.real = value;
  cell.decimals = decimals;
  return cell;
}

Cell number_cell(double value, int decimals, Interval interval) {
  Cell cell = number_cell(value, decimals);
  cell.interval = interval;
  return cell;
}

Cell accuracy_cell(Accuracy value) {
  Cell cell;
  cell.kind = Cell::Kind::accuracy;
  cell.accuracy = value;
  return cell;
}

Cell accuracy_cell(Accuracy value, Interval interval) {
  Cell cell = accuracy_cell(value);
  if (value.total > 0) cell.interval = interval;
  return cell;
}

std::string render_text(const Table& table) {
  std::vector<std::vector<std::string>> cells(1);
  for (const Column& column : table.columns) cells[0].push_back(column.title);
  for (const auto& row : table.rows) {
    std::vector<std::string>& line = cells.emplace_back();
    for (const Cell& cell : row) line.push_back(cell_text(cell));
  }
  std::vector<std::size_t> widths(table.columns.size());
  for (const auto& line : cells) {
    for (std::size_t c = 0; c < line.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(line[c]));
    }
  }
  std::string text = table.title + "\n";
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::string line = " ";
    for (std::size_t c = 0; c < widths.size(); ++c) {
      line += " " + pad(cells[r][c], widths[c], right_aligned(table, c)) + " ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (r == 0) {
      std::string rule = " ";
      for (const std::size_t width : widths) rule += " " + std::string(width, '-') + " ";
      rule.back() = '\n';
      text += rule;
    }
  }
  if (!table.note.empty()) text += "  " + table.note + "\n";
  return text;
}

std::string render_csv(const Table& table) {
  std::vector<CsvShape> shapes;
  std::string text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const CsvShape& shape = shapes.emplace_back(csv_shape(table, c));
    const std::string name = csv_field(table.columns[c].name);
    if (c > 0) text += ",";
    text += shape.accuracy ? name + "_correct," + name + "_total," + name + "_percent" : name;
    if (shape.interval) text += "," + name + "_low," + name + "_high";
  }
  text += "\n";
  for (const auto& row : table.rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) line += ",";
      append_csv_cell(row[c], shapes[c], line);
    }
    text += line + "\n";
  }
  return text;
}

std::string render_markdown(const Table& table) {
  const auto escaped = [](const std::string& text) {
    return escape_with(text, [](char c) -> const char* {
      if (c == '|') return "\\|";
      if (c == '<') return "&lt;";
      return nullptr;
    });
  };
  std::string text = "**" + escaped(table.title) + "**\n\n|";
  std::string rule = "|";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    text += " " + escaped(table.columns[c].title) + " |";
    rule += right_aligned(table, c) ? "---:|" : "---|";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const Cell& cell : row) text += " " + escaped(cell_text(cell)) + " |";
    text += "\n";
  }
  if (!table.note.empty()) text += "\n" + escaped(table.note) + "\n";
  return text;
}

std::string render_latex(const Table& table) {
  const auto escaped = [](const std::string& text) {
    return escape_with(text, [](char c) -> const char* {
      switch (c) {
        case '\\': return "\\textbackslash{}";
        case '&': return "\\&";
        case '%': return "\\%";
        case '$': return "\\$";
        case '#': return "\\#";
        case '_': return "\\_";
        case '{': return "\\{";
        case '}': return "\\}";
        case '~': return "\\textasciitilde{}";
        case '^': return "\\textasciicircum{}";
        default: return nullptr;
      }
    });
  };
  std::string text = "% " + table.title + "\n\\begin{tabular}{";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    text += right_aligned(table, c) ? "r" : "l";
  }
  text += "}\n\\toprule\n";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    text += (c > 0 ? " & " : "") + escaped(table.columns[c].title);
  }
  text += " \\\\\n\\midrule\n";
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += (c > 0 ? " & " : "") + escaped(cell_text(row[c]));
    }
    text += " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace probe

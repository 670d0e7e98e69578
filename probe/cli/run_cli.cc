#include "probe/cli/run_cli.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <new>

#include "encoders/bundle_search.h"
#include "probe/cli/commands.h"
#include "probe/cli/config_file.h"
#include "probe/core/error.h"

namespace probe {
namespace {

constexpr int kDone = 0, kFailed = 1, kUsage = 2;

struct CommandEntry {
  const char* name;
  const char* help;
  Command (*add)(CLI::App&, const std::string&);
};

constexpr CommandEntry kCommands[] = {
    {"encoders", "list the encoder bundles that can be used", add_encoders},
    {"info", "show everything a bundle says about itself", add_info},
    {"verify", "run a bundle's golden self-test", add_verify},
    {"embed", "embed images and texts into an HDF5 file", add_embed},
    {"merge", "join shards, or files of several datasets, into one file", add_merge},
    {"shards", "which shards of a dataset are finished, unfinished or missing", add_shards},
    {"zeroshot", "answer multiple-choice questions with image and text embeddings",
     add_zeroshot},
    {"classify", "zero-shot over the whole label set: top-1, top-5, mean per class",
     add_classify},
    {"linear", "logistic regression and kNN on frozen vectors", add_linear},
    {"match", "top-k image matching: original or modified against originals", add_match},
    {"compare", "encoders side by side, with published MLLM scores", add_compare},
    {"similarity", "how alike encoders arrange the same items: CKA, mutual kNN, RSA",
     add_similarity},
    {"export", "write an embedding file in the formats of other tools", add_export},
    {"import", "make an embedding file of vectors that were made elsewhere", add_import},
    {"infimm", "InfiMM-Eval: judge prompts, and weighted scores of judged answers", add_infimm},
    {"locate", "LocateBench: build items, draw prompts, score, encoder baseline", add_locate},
    {"recolor", "make attribute-modified images: the object in another colour", add_recolor},
    {"report", "one HTML page, offline, with every table and figure of results", add_report},
    {"score", "MLLM responses to accuracies: open, choice and unsolvable questions", add_score},
    {"questions", "make choice, unsolvable and open questions for MLLMs", add_questions},
    {"doctor", "versions, CPU, memory, disk, encoders: what a report of a problem needs", add_doctor},
    {"completion", "print a completion script for bash or zsh", add_completion},
    {"man", "print the manual page", add_man},
};

std::string quoted_command_line(const std::vector<std::string>& words) {
  std::string line = "probe";
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%") ==
        std::string::npos;
    line += ' ';
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

// A wrong command name gets the nearest one.
std::string suggestion(const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return "";
  const std::string& wanted = words.front();
  const CommandEntry* nearest = nullptr;
  int smallest = 3;
  for (const CommandEntry& entry : kCommands) {
    if (wanted == entry.name) return "";
    const int distance = edit_distance(wanted, entry.name);
    if (distance < smallest) smallest = distance, nearest = &entry;
  }
  const std::string unknown = "unknown command \"" + wanted + "\"";
  return nearest == nullptr ? unknown + "; see probe --help"
                            : unknown + "; did you mean " + nearest->name + "?";
}

// The declared commands and what was typed for one of them.
struct CommandLine {
  CLI::App app{"What does a vision encoder know, and how much of it does a multimodal LLM keep?",
               "probe"};
  std::map<CLI::App*, Command> commands;
  bool print_config = false;

  // `text`: the line as the user would type it, for provenance.
  explicit CommandLine(const std::string& text) {
    app.set_version_flag("--version", "probe " PROBE_VERSION);
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  probe embed demo --encoder demo -o demo.h5\n"
        "  probe zeroshot demo --encoder demo\n"
        "  probe match demo.h5 --mode a2o\n"
        "Exit codes: 0 done, 1 failed or some items failed, 2 usage.");
    for (const CommandEntry& entry : kCommands) {
      CLI::App* command = app.add_subcommand(entry.name, entry.help);
      commands.emplace(command, entry.add(*command, text));
    }
    add_config_options(app, print_config);
  }

  void parse(const std::vector<std::string>& words) {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes the last first
  }
};

int exit_code(ErrorKind kind) { return kind == ErrorKind::usage ? kUsage : kFailed; }

}  // namespace

int run_cli(int argc, const char* const* argv) {
  // A reader that goes away (`probe ... | head -1`) ends us by a write error, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a file that grows past a limit (ulimit -f).
  std::signal(SIGXFSZ, SIG_IGN);
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  try {
    if (const auto config = take_config(words)) {
      // Parsed once without the file, to see which command it is and what it has already.
      CommandLine without("");
      try {
        without.parse(words);
      } catch (const CLI::ParseError&) {  // said below, if the file does not mend it
      }
      const std::vector<std::string> more = config_words(without.app, *config);
      words.insert(words.end(), more.begin(), more.end());
    }
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return exit_code(error.kind());
  }
  CommandLine line(quoted_command_line(words));
  try {
    line.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return line.app.exit(error);  // help or version
    const std::string better = suggestion(words);
    if (!better.empty()) {
      fmt::print(stderr, "error: {}\n", better);
    } else if (words.empty()) {
      fmt::print(stderr, "{}", line.app.help());
    } else {
      fmt::print(stderr, "error: {}\n", error.what());
    }
    return kUsage;
  }
  if (line.print_config) {
    fmt::print("{}", config_text(line.app));
    return kDone;
  }
  try {
    return line.commands.at(line.app.get_subcommands().front())();
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: not enough memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", first_line(error.what()));
  }
  return kFailed;
}

}  // namespace probe

#include "probe/cli/run_cli.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <map>
#include <new>

#include "encoders/bundle_search.h"
#include "probe/cli/commands.h"
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
    {"zeroshot", "answer multiple-choice questions with image and text embeddings",
     add_zeroshot},
    {"classify", "zero-shot over the whole label set: top-1, top-5, mean per class",
     add_classify},
    {"linear", "logistic regression and kNN on frozen vectors", add_linear},
    {"match", "top-k image matching: original or modified against originals", add_match},
    {"compare", "encoders side by side, with published MLLM scores", add_compare},
    {"similarity", "how alike encoders arrange the same items: CKA, mutual kNN, RSA",
     add_similarity},
    {"export", "write an embedding file as npy or csv", add_export},
    {"infimm", "InfiMM-Eval: judge prompts, and weighted scores of judged answers", add_infimm},
    {"locate", "LocateBench: build items, draw prompts, score, encoder baseline", add_locate},
    {"recolor", "make attribute-modified images: the object in another colour", add_recolor},
    {"report", "one HTML page, offline, with every table and figure of results", add_report},
    {"score", "MLLM responses to accuracies: open, choice and unsolvable questions", add_score},
    {"questions", "make choice, unsolvable and open questions for MLLMs", add_questions},
};

std::string quoted_command_line(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    const std::string word = i == 0 ? "probe" : argv[i];
    const bool plain = !word.empty() && word.find_first_not_of(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%") ==
        std::string::npos;
    line += (i == 0 ? "" : " ");
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
std::string suggestion(int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  const std::string wanted = argv[1];
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

int exit_code(ErrorKind kind) { return kind == ErrorKind::usage ? kUsage : kFailed; }

}  // namespace

int run_cli(int argc, const char* const* argv) {
  // A reader that goes away (`probe ... | head -1`) ends us by a write error, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a file that grows past a limit (ulimit -f).
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{"What does a vision encoder know, and how much of it does a multimodal LLM keep?",
               "probe"};
  app.set_version_flag("--version", "probe " PROBE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  probe embed demo --encoder demo -o demo.h5\n"
      "  probe zeroshot demo --encoder demo\n"
      "  probe match demo.h5 --mode a2o\n"
      "Exit codes: 0 done, 1 failed or some items failed, 2 usage.");
  const std::string command_line = quoted_command_line(argc, argv);
  std::map<CLI::App*, Command> commands;
  for (const CommandEntry& entry : kCommands) {
    CLI::App* command = app.add_subcommand(entry.name, entry.help);
    commands.emplace(command, entry.add(*command, command_line));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help or version
    const std::string better = suggestion(argc, argv);
    if (!better.empty()) {
      fmt::print(stderr, "error: {}\n", better);
    } else if (argc < 2) {
      fmt::print(stderr, "{}", app.help());
    } else {
      fmt::print(stderr, "error: {}\n", error.what());
    }
    return kUsage;
  }
  try {
    return commands.at(app.get_subcommands().front())();
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

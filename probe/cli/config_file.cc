#include "probe/cli/config_file.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/utf8.h"

namespace probe {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;

// The innermost command that was called, and its path: "locate.build".
const CLI::App* called_command(const CLI::App& app, std::string& path) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += (path.empty() ? "" : ".") + command->get_name();
  }
  return command;
}

const CLI::App* find_command(const CLI::App& app, const std::vector<std::string>& path) {
  const CLI::App* command = &app;
  for (const std::string& name : path) {
    const auto inner = command->get_subcommands([&](const CLI::App* candidate) {
      return candidate->get_name() == name;
    });
    if (inner.empty()) return nullptr;
    command = inner.front();
  }
  return command;
}

const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
  for (const std::string& written : {"--" + name, "-" + name, name}) {
    const CLI::Option* option = command.get_option_no_throw(written);
    if (option != nullptr && option->get_configurable()) return option;
  }
  return nullptr;
}

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0; }

void add_words(const CLI::Option& option, const CLI::ConfigItem& item, const std::string& where,
               std::vector<std::string>& words) {
  const std::string name = option.get_name();
  if (is_flag(option)) {
    const std::string value = item.inputs.empty() ? "" : item.inputs.front();
    if (value != "true" && value != "false") {
      throw Error(ErrorKind::usage, where + ": expected true or false, got \"" +
                                        printable(value) + "\"");
    }
    if (value == "true") words.push_back(name);
    return;
  }
  for (const std::string& value : item.inputs) {
    if (option.nonpositional()) words.push_back(name);
    words.push_back(value);
  }
}

}  // namespace

void add_config_options(CLI::App& app, bool& print_config) {
  for (CLI::App* command : app.get_subcommands({})) {
    command
        ->add_option_function<std::string>(
            "--config", [](const std::string&) {},
            "take options from this TOML file; those given here win")
        ->type_name("FILE")
        ->configurable(false);
    command
        ->add_flag("--print-config,--print_config", print_config,
                   "print this command's options as TOML, for --config, and stop")
        ->configurable(false);
    add_config_options(*command, print_config);
  }
}

std::optional<std::filesystem::path> take_config(std::vector<std::string>& words) {
  std::optional<std::filesystem::path> file;
  for (std::size_t i = 0; i < words.size() && words[i] != "--";) {
    const bool apart = words[i] == "--config", joined = words[i].starts_with("--config=");
    if (!apart && !joined) {
      ++i;
      continue;
    }
    if (file) throw Error(ErrorKind::usage, "--config: expected one file, got two");
    if (apart && i + 1 == words.size()) {
      throw Error(ErrorKind::usage, "--config: expected a file, got nothing");
    }
    file = apart ? words[i + 1] : words[i].substr(std::string("--config=").size());
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i + (apart ? 2 : 1)));
  }
  return file;
}

std::vector<std::string> config_words(const CLI::App& app, const std::filesystem::path& file) {
  std::istringstream text(read_file(file, kLargestFile));
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(text);
  } catch (const CLI::Error& error) {
    throw Error(ErrorKind::usage, file.string() + ": " + error.what());
  }
  std::string called_path;
  const CLI::App* called = called_command(app, called_path);
  std::vector<std::string> words;
  for (const CLI::ConfigItem& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // a section begins or ends
    const std::string where = file.string() + ": " + printable(item.fullname());
    const CLI::App* command = find_command(app, item.parents);
    if (command == nullptr || command == &app) {
      throw Error(ErrorKind::usage,
                  where + ": expected a section named after a command, such as [embed]");
    }
    const CLI::Option* option = find_option(*command, item.name);
    if (option == nullptr) {
      throw Error(ErrorKind::usage, where + ": the command has no such option");
    }
    if (command == called && option->count() == 0) add_words(*option, item, where, words);
  }
  return words;
}

std::string config_text(const CLI::App& app) {
  std::string path;
  const CLI::App* command = called_command(app, path);
  std::istringstream lines(CLI::ConfigTOML().to_config(command, true, false, ""));
  std::string text = "[" + path + "]\n";
  for (std::string line; std::getline(lines, line);) {
    if (!line.ends_with("=\"\"")) text += line + "\n";  // CLI11's word for an option without a value
  }
  return text;
}

}  // namespace probe

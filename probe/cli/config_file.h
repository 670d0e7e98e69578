// Options from a TOML file, for every command:
//     [embed]
//     encoder = "siglip"
//     batch-size = 16
// They become words of the command line, so that what a result file says of its making is whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace probe {

// Declares --config and --print-config on every command of `app`; call it when they are all there.
void add_config_options(CLI::App& app, bool& print_config);

// Takes --config FILE out of the words of a command line. Throws Error(usage) if it stands twice
// or without a file.
std::optional<std::filesystem::path> take_config(std::vector<std::string>& words);

// What `file` adds to a command line that `app` has parsed: the options of the command that was
// called which the line itself does not have. A file may have sections for other commands as well.
// Throws Error(io) if it cannot be read, Error(usage) for a section or an option that does not exist.
std::vector<std::string> config_words(const CLI::App& app, const std::filesystem::path& file);

// The section of the command that was called, with its options' values; those that have none are
// left out. Read back with --config it gives the same run.
std::string config_text(const CLI::App& app);

}  // namespace probe

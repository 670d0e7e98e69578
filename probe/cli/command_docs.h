// What the help says, for shells and for man: made from the declared options alone.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace probe {

// Functions that complete commands, options, the values of options that have a fixed set of them,
// encoder names (asked of `probe encoders`) and file names.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);

// A page in the man macros, section 1.
std::string man_page(const CLI::App& app);

}  // namespace probe

// probe completion, probe man.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "probe/cli/command_docs.h"
#include "probe/cli/commands.h"
#include "probe/cli/common_options.h"

namespace probe {

Command add_completion(CLI::App& app, const std::string&) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  add_examples(app, {"probe completion bash > ~/.local/share/bash-completion/completions/probe",
                     "probe completion zsh > ~/.zfunc/_probe     # a folder of $fpath"});
  return [shell, &app] {
    const CLI::App& root = *app.get_parent();
    fmt::print("{}", *shell == "bash" ? bash_completion(root) : zsh_completion(root));
    return 0;
  };
}

Command add_man(CLI::App& app, const std::string&) {
  add_examples(app, {"probe man > probe.1 && man ./probe.1"});
  return [&app] {
    fmt::print("{}", man_page(*app.get_parent()));
    return 0;
  };
}

}  // namespace probe

#include "probe/cli/command_docs.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

namespace probe {
namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  // Spellings with underscores are accepted, and not advertised.
  for (const std::string& name : option.get_lnames()) {
    if (name.find('_') == std::string::npos) names.push_back("--" + name);
  }
  return names;
}

// CLI11 names the type of an option with fixed values "TEXT:{one,two}".
std::vector<std::string> values_of(const CLI::Option& option) {
  std::vector<std::string> values;
  const std::string type = option.get_type_name();
  const std::size_t open = type.find(":{"), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return values;
  std::string value;
  for (std::size_t i = open + 2; i <= close; ++i) {
    if (i < close && type[i] != ',') {
      value += type[i];
    } else {
      values.push_back(value);
      value.clear();
    }
  }
  return values;
}

bool takes_value(const CLI::Option& option) { return option.get_expected_min() > 0; }

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// Calls visit(path, command) for each command, "probe locate build" after "probe locate".
void for_each_command(const CLI::App& app, const std::string& path,
                      const std::function<void(const std::string&, const CLI::App&)>& visit) {
  visit(path, app);
  for (const CLI::App* command : app.get_subcommands({})) {
    for_each_command(*command, path + " " + command->get_name(), visit);
  }
}

constexpr const char* kEncoderNames =
    "$(probe encoders --format csv -q 2>/dev/null | tail -n +2 | cut -d, -f1)";

bool names_encoder(const CLI::Option& option) { return option.check_lname("encoder"); }

std::string quoted_for_zsh(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
      quoted += std::string("\\") + c;
    } else {
      quoted += c;
    }
  }
  return quoted;
}

// roff takes a backslash as an escape, a leading dot or quote as a request, and '-' as a hyphen.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool line_start = escaped.empty() || escaped.back() == '\n';
    if (line_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string roff_option(const CLI::Option& option) {
  std::string names = option.nonpositional() ? joined(names_of(option), ", ")
                                             : option.get_name(true);
  std::string text = ".TP\n\\fB" + roff(names) + "\\fR";
  if (option.nonpositional() && takes_value(option)) {
    const std::vector<std::string> values = values_of(option);
    text += " " + (values.empty() ? "\\fI" + roff(option.get_type_name()) + "\\fR"
                                  : roff(joined(values, "|")));
  }
  if (!option.get_default_str().empty()) text += " [" + roff(option.get_default_str()) + "]";
  if (option.get_required()) text += " (required)";
  return text + "\n" + roff(option.get_description()) + "\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string paths, values, words;
  for_each_command(app, "probe", [&](const std::string& path, const CLI::App& command) {
    if (path != "probe") paths += (paths.empty() ? "" : " | ") + ("\"" + path + "\"");
    std::vector<std::string> all = command_names(command);
    for (const CLI::Option* option : command.get_options()) {
      const std::vector<std::string> names = names_of(*option);
      all.insert(all.end(), names.begin(), names.end());
      const std::vector<std::string> fixed = values_of(*option);
      if (!option->nonpositional()) all.insert(all.begin(), fixed.begin(), fixed.end());
      const std::string choice = names_encoder(*option) ? kEncoderNames : joined(fixed, " ");
      if (choice.empty() || names.empty()) continue;
      std::vector<std::string> cases;
      for (const std::string& name : names) cases.push_back("\"" + path + " " + name + "\"");
      values += "    " + joined(cases, " | ") + ") values=\"" + choice + "\" ;;\n";
    }
    words += "    \"" + path + "\") words=\"" + joined(all, " ") + "\" ;;\n";
  });
  return "# bash completion of probe; made by `probe completion bash`.\n"
         "_probe() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  local command=probe values= words= i\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    case \"$command ${COMP_WORDS[i]}\" in\n"
         "      " + paths + ") command=\"$command ${COMP_WORDS[i]}\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$command $before\" in\n" + values +
         "  esac\n"
         "  if [[ -n $values ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"$command\" in\n" + words +
         "  esac\n"
         "  # Nothing found: complete's -o default offers files.\n"
         "  COMPREPLY=()\n"
         "  if [[ $word == -* || $words != -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _probe probe\n";
}

std::string zsh_completion(const CLI::App& app) {
  std::string text =
      "#compdef probe\n"
      "# zsh completion of probe; made by `probe completion zsh`.\n\n"
      "_probe_encoders() { compadd -- ${(f)\"" + std::string(kEncoderNames) + "\"} }\n\n"
      "_probe() {\n"
      "  local command=probe\n"
      "  while (( CURRENT > 2 )) && (( $+functions[_${command// /_}_${words[2]}] )); do\n"
      "    command=\"$command $words[2]\"\n"
      "    shift words\n"
      "    (( CURRENT-- ))\n"
      "  done\n"
      "  _${command// /_}_words\n"
      "}\n";
  for_each_command(app, "probe", [&](const std::string& path, const CLI::App& command) {
    std::string name = path;
    for (char& c : name) c = c == ' ' ? '_' : c;
    text += "\n";
    if (path != "probe") text += "_" + name + "() { : }\n";  // says that the command exists
    text += "_" + name + "_words() {\n";
    std::string commands;
    for (const CLI::App* inner : command.get_subcommands({})) {
      commands += "    '" + inner->get_name() + ":" + quoted_for_zsh(inner->get_description()) +
                  "'\n";
    }
    if (!commands.empty()) {
      text += "  local -a commands=(\n" + commands +
              "  )\n  (( CURRENT == 2 )) && _describe command commands\n";
    }
    text += "  _arguments -s";
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& option_name : names_of(*option)) {
        const std::vector<std::string> values = values_of(*option);
        text += " \\\n    '" + option_name + "[" + quoted_for_zsh(option->get_description()) + "]";
        if (names_encoder(*option)) {
          text += ":encoder:_probe_encoders";
        } else if (!values.empty()) {
          text += ":value:(" + joined(values, " ") + ")";
        } else if (takes_value(*option)) {
          text += ":value:_files";
        }
        text += "'";
      }
    }
    text += std::string(commands.empty() ? " \\\n    '*:file:_files'" : "") + "\n}\n";
  });
  return text + "\ncompdef _probe probe\n";
}

std::string man_page(const CLI::App& app) {
  std::string text = ".\\\" Made by `probe man`.\n.TH PROBE 1\n.SH NAME\nprobe \\- " +
                     roff(app.get_description()) +
                     "\n.SH SYNOPSIS\n.B probe\n.I command\n[options]\n.SH COMMANDS\n";
  for_each_command(app, "probe", [&](const std::string& path, const CLI::App& command) {
    if (path == "probe") return;
    text += ".SS \"" + roff(path) + "\"\n" + roff(command.get_description()) + "\n";
    for (const CLI::Option* option : command.get_options()) text += roff_option(*option);
    if (!command.get_footer().empty()) text += ".PP\n.nf\n" + roff(command.get_footer()) + "\n.fi\n";
  });
  return text + ".SH EXIT STATUS\n0 done, 1 failed or some items failed, 2 usage.\n"
                ".SH ENVIRONMENT\n.TP\n\\fBPROBE_ENCODERS\\fR\nfolders of encoder bundles, separated "
                "by colons\n.TP\n\\fBXDG_CACHE_HOME\\fR\nwhere the cache of vectors is kept "
                "(default: ~/.cache)\n";
}

}  // namespace probe

// The commands. Each declares its options on `app` and, once the line was parsed, runs:
// the returned function gives the exit code, or throws Error.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace probe {

using Command = std::function<int()>;

// `command_line` is what the user typed, for provenance.
Command add_encoders(CLI::App& app, const std::string& command_line);
Command add_info(CLI::App& app, const std::string& command_line);
Command add_verify(CLI::App& app, const std::string& command_line);
Command add_embed(CLI::App& app, const std::string& command_line);
Command add_merge(CLI::App& app, const std::string& command_line);
Command add_shards(CLI::App& app, const std::string& command_line);
Command add_zeroshot(CLI::App& app, const std::string& command_line);
Command add_match(CLI::App& app, const std::string& command_line);
Command add_compare(CLI::App& app, const std::string& command_line);
Command add_classify(CLI::App& app, const std::string& command_line);
Command add_linear(CLI::App& app, const std::string& command_line);
Command add_similarity(CLI::App& app, const std::string& command_line);
Command add_export(CLI::App& app, const std::string& command_line);
Command add_import(CLI::App& app, const std::string& command_line);
Command add_infimm(CLI::App& app, const std::string& command_line);
Command add_locate(CLI::App& app, const std::string& command_line);
Command add_recolor(CLI::App& app, const std::string& command_line);
Command add_report(CLI::App& app, const std::string& command_line);
Command add_score(CLI::App& app, const std::string& command_line);
Command add_questions(CLI::App& app, const std::string& command_line);
Command add_doctor(CLI::App& app, const std::string& command_line);
Command add_completion(CLI::App& app, const std::string& command_line);
Command add_man(CLI::App& app, const std::string& command_line);

}  // namespace probe

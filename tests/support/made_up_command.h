// A command run on embedding files that were made up.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "probe/store/embedding_file.h"
#include "tests/support/made_up_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace probe::test {

class MadeUpCommand : public testing::Test {
 protected:
  explicit MadeUpCommand(std::string command) : command_(std::move(command)) {}

  TempDir home_;

  std::string write(const std::string& name, const EmbeddingSet& set) const {
    const std::filesystem::path file = home_.path() / name;
    write_embedding_file(set, file, {});
    return file;
  }

  ProgramResult run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), command_);
    return run_probe(arguments, home_.path());
  }

  nlohmann::json report(std::vector<std::string> arguments, int exit_code = 0) const {
    arguments.insert(arguments.end(), {"--json", "-q"});
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return nlohmann::json::parse(result.out);
  }

  static nlohmann::json table(const nlohmann::json& report, const std::string& name) {
    for (const nlohmann::json& entry : report.at("tables")) {
      if (entry.at("name") == name) return entry.at("rows");
    }
    ADD_FAILURE() << "no table " << name;
    return nlohmann::json::array();
  }

  static bool has_table(const nlohmann::json& report, const std::string& name) {
    for (const nlohmann::json& entry : report.at("tables")) {
      if (entry.at("name") == name) return true;
    }
    return false;
  }

  void expect_failure(const std::vector<std::string>& arguments, int code,
                      const std::string& message) const {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, code);
    EXPECT_NE(result.err.find(message), std::string::npos)
        << "expected: " << message << "\ngot: " << result.err;
  }

 private:
  std::string command_;
};

}  // namespace probe::test

// Options from files, and what is made from the declared options: completion and the manual page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

using nlohmann::json;

class Config : public testing::Test {
 protected:
  test::TempDir home_, data_;
  std::string items_ = test::write_small_dataset(data_, {"banana", "kiwi"}, {"egg", "fig", "lime"});

  test::ProgramResult run(const std::vector<std::string>& words) {
    return test::run_probe(words, home_.path());
  }
  void expect_usage_error(const std::string& text, const std::string& message) {
    const std::string file = home_.write("bad.toml", text);
    const test::ProgramResult result = run({"match", items_, "--config", file, "-q"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
};

TEST_F(Config, OptionsComeFromTheFileAndTheCommandLineWins) {
  const std::string file = home_.write("run.toml",
                                       "# for every run here\n[match]\nDATA = \"" + items_ +
                                           "\"\nk = [1, 2]\nmode = \"o2o\"\nquiet = true\nseed = 7\n"
                                           "json = false\n[embed]\nbatch-size = 3\n");
  const test::ProgramResult result = run({"match", "--config", file, "--seed", "9", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");  // quiet
  const json report = json::parse(result.out);
  EXPECT_EQ(report.at("provenance").at("seed"), "9");
  EXPECT_EQ(report.at("tables").at(0).at("rows").size(), 2u);  // k = 1 and k = 2
  // The result says what it was made with, wherever that stood.
  EXPECT_EQ(report.at("provenance").at("command_line"),
            "probe match --seed 9 --json " + items_ + " --k 1 --k 2 --mode o2o --quiet");
}

TEST_F(Config, WhatIsPrintedGivesTheSameRun) {
  const std::vector<std::string> words = {"match", items_, "--k", "1", "3", "--pool", "all", "-q",
                                          "--json"};
  std::vector<std::string> printing = words;
  printing.push_back("--print-config");
  const test::ProgramResult printed = run(printing);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_TRUE(printed.out.starts_with("[match]\nDATA=\"")) << printed.out;
  EXPECT_NE(printed.out.find("\nk=[1, 3]\n"), std::string::npos) << printed.out;
  EXPECT_NE(printed.out.find("\npool=\"all\"\n"), std::string::npos) << printed.out;
  EXPECT_NE(printed.out.find("\nbatch-size=8\n"), std::string::npos) << printed.out;
  const std::string file = home_.write("again.toml", printed.out);
  const test::ProgramResult again = run({"match", "--config=" + file});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const test::ProgramResult plain = run(words);
  EXPECT_EQ(json::parse(again.out).at("tables"), json::parse(plain.out).at("tables"));
}

TEST_F(Config, CommandsBelowCommandsHaveSectionsToo) {
  const test::ProgramResult printed =
      run({"locate", "build", "x.json", "-o", "out", "--print-config"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_TRUE(printed.out.starts_with("[locate.build]\n")) << printed.out;
}

TEST_F(Config, MistakesNameTheirPlace) {
  expect_usage_error("[match]\nkk = 3\n", "bad.toml: match.kk: the command has no such option");
  expect_usage_error("[mtach]\nk = 3\n",
                     "bad.toml: mtach.k: expected a section named after a command");
  expect_usage_error("k = 3\n", "bad.toml: k: expected a section named after a command");
  expect_usage_error("[match]\nneighbors = \"maybe\"\n",
                     "bad.toml: match.neighbors: expected true or false, got \"maybe\"");
  expect_usage_error("[match]\nk = 0\n", "--k");
  const test::ProgramResult missing = run({"match", items_, "--config", "/no/such.toml"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("/no/such.toml: "), std::string::npos) << missing.err;
  EXPECT_EQ(run({"match", items_, "--config"}).exit_code, 2);
}

// Runs `script` in bash after the completion was loaded, with probe on the path.
std::string in_bash(const test::TempDir& home, const std::string& completion,
                    const std::string& script) {
  const std::string completion_file = home.write("completion.bash", completion);
  home.write("ask.bash", "PATH=$(dirname '" PROBE_PROGRAM "'):$PATH\nsource '" +
                             home.path().string() + "/completion.bash'\n" + script + " > '" + home.path().string() +
                             "/out'\n");
  EXPECT_EQ(std::system(("bash '" + home.path().string() + "/ask.bash'").c_str()), 0);
  return test::slurp(home.path() / "out");
}

TEST_F(Config, BashCompletesCommandsOptionsValuesAndEncoders) {
  const std::string completion = run({"completion", "bash"}).out;
  const auto complete = [&](const std::string& words, int at) {
    return in_bash(home_, completion,
                   "COMP_WORDS=(" + words + ")\nCOMP_CWORD=" + std::to_string(at) +
                       "\n_probe\nprintf '%s ' \"${COMPREPLY[@]}\"");
  };
  EXPECT_EQ(complete("probe zer", 1), "zeroshot ");
  EXPECT_EQ(complete("probe locate b", 2), "build baseline ");
  EXPECT_EQ(complete("probe embed x --batch", 3), "--batch-size ");
  EXPECT_EQ(complete("probe embed x --dtype ''", 4), "float32 bfloat16 auto ");
  EXPECT_EQ(complete("probe embed x -e d", 4), "demo ");
  EXPECT_EQ(complete("probe completion z", 2), "zsh ");
}

TEST_F(Config, TheManualPageHasEveryCommandAndOption) {
  const std::string page = run({"man"}).out;
  EXPECT_TRUE(page.find("\n.TH PROBE 1\n") != std::string::npos);
  const test::ProgramResult help = run({"embed", "--help"});
  for (const char* part : {".SS \"probe embed\"", ".SS \"probe locate build\"",
                           "\\fB\\-\\-batch\\-size\\fR", "float32|bfloat16|auto [float32]"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  // No line of text begins as a request does.
  std::size_t begin = 0;
  while (begin < page.size()) {
    const std::size_t end = page.find('\n', begin);
    const std::string line = page.substr(begin, end - begin);
    if (line.starts_with(".")) {
      EXPECT_TRUE(line.starts_with(".TH ") || line.starts_with(".SH ") ||
                  line.starts_with(".SS ") || line == ".TP" || line == ".PP" || line == ".nf" ||
                  line == ".fi" || line.starts_with(".B ") || line.starts_with(".I ") ||
                  line.starts_with(".\\\""))
          << line;
    }
    begin = end + 1;
  }
}

TEST_F(Config, DoctorTellsVersionsAndEncoders) {
  const test::ProgramResult result = run({"doctor", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, std::string> found;
  const json report = json::parse(result.out);
  for (const json& row : report.at("tables").at(0).at("rows")) {
    found[row.at("part")] = row.at("found").is_null() ? "" : row.at("found");
  }
  EXPECT_TRUE(found.at("LibTorch").starts_with("2.13")) << found.at("LibTorch");
  EXPECT_TRUE(found.at("OpenCV codecs").starts_with("4.")) << found.at("OpenCV codecs");
  EXPECT_NE(found.at("encoder demo").find("EfficientNet-Lite0"), std::string::npos);
  const auto cache = found.lower_bound("cache " + home_.path().string());
  ASSERT_NE(cache, found.end());
  EXPECT_TRUE(cache->second.starts_with("0 files, 0.0 MiB; ")) << cache->first << cache->second;
}

// A broken bundle is told, and the rest with it.
TEST_F(Config, DoctorNamesABundleThatCannotBeUsed) {
  std::filesystem::create_directories(home_.path() / "bundles/broken");
  home_.write("bundles/broken/encoder.json", "{");
  const test::ProgramResult result = run({"doctor", "--encoder-dir", home_.path() / "bundles"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("failed: encoder broken: "), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("EfficientNet-Lite0"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace probe

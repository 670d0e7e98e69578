#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using test::run_probe;

class Usage : public testing::Test {
 protected:
  test::TempDir home_;

  test::ProgramResult run(const std::vector<std::string>& arguments) {
    return run_probe(arguments, home_.path());
  }

  void expect(const std::vector<std::string>& arguments, int exit_code, const std::string& text) {
    const test::ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_LE(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
  }
};

TEST_F(Usage, EveryCommandHelpsWithAnExample) {
  const test::ProgramResult all = run({"--help"});
  EXPECT_EQ(all.exit_code, 0);
  for (const char* command : {"encoders", "info", "verify", "embed", "zeroshot", "match",
                              "classify", "linear", "similarity", "compare", "export", "import", "recolor", "report"}) {
    EXPECT_NE(all.out.find(std::string("  ") + command), std::string::npos) << command;
    const test::ProgramResult help = run({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_NE(help.out.find(std::string("Examples:\n  probe ") + command), std::string::npos)
        << help.out;
    EXPECT_EQ(help.err, "");
  }
}

TEST_F(Usage, MistakesAreExitTwoAndOneLine) {
  expect({"zeroshoot"}, 2, "unknown command \"zeroshoot\"; did you mean zeroshot?");
  expect({"match", "x", "--mode", "b2b"}, 2, "--mode");
  expect({"match", "x", "--no-such-option"}, 2, "--no-such-option");
  expect({"embed", "x"}, 2, "--output is required");
  expect({"match", "x", "--k", "0"}, 2, "--k");
}

TEST_F(Usage, NoArgumentsShowTheHelpOnStderr) {
  const test::ProgramResult result = run({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("Subcommands:"), std::string::npos);
}

TEST_F(Usage, Version) {
  EXPECT_EQ(run({"--version"}).out.substr(0, 6), "probe ");
}

TEST_F(Usage, MissingDataIsExitOne) {
  expect({"zeroshot", "/no/such/data", "-q"}, 1, "/no/such/data: no such file or folder");
  expect({"match", "/no/such.h5", "-q"}, 1, "/no/such.h5: no such file");
}

// Checked before the data are read: the data do not exist here.
TEST_F(Usage, Bugcase58_WrongEncoderNames) {
  expect({"zeroshot", "/none", "-q", "-e", "dmo"}, 2,
         "unknown encoder \"dmo\"; did you mean demo? (known are demo)");
  expect({"zeroshot", "/none", "-q", "-e", ""}, 2, "expected a name or a path");
  const auto text = home_.write("plain.txt", "not a bundle");
  expect({"zeroshot", "/none", "-q", "-e", text}, 1,
         "plain.txt: expected a bundle folder with encoder.json");
  expect({"zeroshot", "/none", "-q", "-e", home_.path()}, 1, "got a folder without it");
  // A harmless spelling is resolved; only then is the missing data noticed.
  expect({"zeroshot", "/none", "-q", "-e", "DEMO"}, 1, "/none: no such file or folder");
}

TEST_F(Usage, AmbiguousSpellingsAreRefused) {
  for (const char* name : {"ViT-g-14", "ViT-G-14", "ViT-B-32"}) {
    home_.write(std::string("bundles/") + name + "/encoder.json", "{}");
  }
  const std::string folder = home_.path() / "bundles";
  expect({"info", "vit-g/14", "--encoder-dir", folder}, 2, "ambiguous encoder \"vit-g/14\"");
  expect({"info", "ViT-B/32", "--encoder-dir", folder}, 1, "ViT-B-32/encoder.json");
}

}  // namespace
}  // namespace probe

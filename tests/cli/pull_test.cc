// `probe encoders pull` on the built program. A script stands in for Python and exporter:
// it is given the argument vector, and copies a ready bundle. The real exporter, and a
// download from a hub of the test's own, are in encoders/export/tests/test_pull.py.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

namespace fs = std::filesystem;

class Pull : public testing::Test {
 protected:
  test::TempDir home_;
  fs::path encoders_ = home_.path() / ".cache/probe/encoders";

  // `export_step` runs with "$target" set; everything before it answers the question
  // whether the exporter is there, and writes the arguments down.
  std::string python(const std::string& export_step) {
    const fs::path path = home_.write("python", R"(#!/bin/sh
[ "$2" = -c ] && exit 0
log=')" + (home_.path() / "arguments").string() +
                                                    R"('
: >"$log"
for word; do printf '%s\n' "$word" >>"$log"; done
while [ "$1" != -o ]; do shift; done
target=$2
bundle=')" PROBE_SOURCE_DIR R"(/tests/data/bundles/clip'
)" + export_step);
    ::chmod(path.c_str(), 0700);
    return path;
  }

  test::ProgramResult pull(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"encoders", "pull"});
    return test::run_probe(arguments, home_.path());
  }

  void expect_nothing_left() const {
    if (!fs::exists(encoders_)) return;
    EXPECT_EQ(std::distance(fs::directory_iterator(encoders_), fs::directory_iterator()), 0);
  }

  void expect_one_line(const test::ProgramResult& result, int exit_code,
                       const std::string& text) const {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
  }
};

constexpr const char* kCopy =
    "echo 'probe-export: 0.1 M parameters' >&2\n"
    "cp -r \"$bundle\" \"$target\"\n";

TEST_F(Pull, ExportedBundleIsVerifiedAndFoundByItsName) {
  const test::ProgramResult result = pull({"clip", "--python", python(kCopy)});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("probe-export: 0.1 M parameters\n"), std::string::npos)
      << result.err;
  EXPECT_NE(result.out.find("exported and verified"), std::string::npos) << result.out;
  EXPECT_EQ(std::distance(fs::directory_iterator(encoders_), fs::directory_iterator()), 1);
  const test::ProgramResult info = test::run_probe({"info", "clip"}, home_.path());
  EXPECT_NE(info.out.find((encoders_ / "clip").string()), std::string::npos) << info.out;
}

TEST_F(Pull, ModelReachesTheExporterAsOneWordWithoutAShell) {
  const std::string model = "owner/x;touch " + (home_.path() / "ran").string();
  const test::ProgramResult result = pull({model, "--as", "x", "--layers=-2,last", "--dtype",
                                           "float16", "--python", python(kCopy), "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_FALSE(fs::exists(home_.path() / "ran"));
  const std::string words = test::slurp(home_.path() / "arguments");
  EXPECT_NE(words.find("-m\nprobe_export\n" + model + "\n-o\n"), std::string::npos) << words;
  EXPECT_NE(words.find("--name\nx\n--dtype\nfloat16\n--layers=-2,last\n"), std::string::npos)
      << words;
}

TEST_F(Pull, ExistingBundleIsKeptUnlessForced) {
  ASSERT_EQ(pull({"clip", "--python", python(kCopy)}).exit_code, 0);
  const fs::path mark = encoders_ / "clip/mark";
  home_.write(".cache/probe/encoders/clip/mark", "mine");
  const test::ProgramResult kept = pull({"clip", "--python", python("exit 9\n")});
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_NE(kept.out.find("kept"), std::string::npos) << kept.out;
  EXPECT_TRUE(fs::exists(mark));
  // An export that fails leaves the old bundle, --force or not.
  EXPECT_EQ(pull({"clip", "--force", "--python", python("exit 9\n")}).exit_code, 1);
  EXPECT_TRUE(fs::exists(mark));
  EXPECT_EQ(pull({"clip", "--force", "--python", python(kCopy)}).exit_code, 0);
  EXPECT_FALSE(fs::exists(mark));
  EXPECT_EQ(std::distance(fs::directory_iterator(encoders_), fs::directory_iterator()), 1);
}

TEST_F(Pull, ExportersLastLineIsTheReasonAndNothingIsLeft) {
  expect_one_line(pull({"clip", "--python",
                        python("mkdir \"$target\"\necho x >\"$target/image.pt\"\n"
                               "echo 'probe-export: the disk is full' >&2\n"
                               "exit 1\n")}),
                  1, "error: the disk is full\n");
  expect_nothing_left();
}

TEST_F(Pull, KilledExporterLeavesNothing) {
  expect_one_line(pull({"clip", "--python", python("mkdir \"$target\"\nkill -9 $$\n")}), 1,
                  "the exporter was killed by signal 9 (out of memory?)");
  expect_nothing_left();
}

TEST_F(Pull, BundleThatFailsItsSelfTestIsNotPutInPlace) {
  const test::ProgramResult result = pull(
      {"clip", "--python", python(std::string(kCopy) + "printf x >>\"$target/image.pt\"\n")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("image.pt"), std::string::npos) << result.err;
  expect_nothing_left();
}

TEST_F(Pull, UnknownNameSuggestsTheNearest) {
  expect_one_line(pull({"sigLP"}), 2,
                  "unknown encoder \"sigLP\"; did you mean siglip? (clip, siglip,");
  expect_one_line(pull({"clip_h"}), 2, "did you mean clip-h?");
  expect_one_line(pull({"clip", "--as", "../clip"}), 2, "--as ../clip: lower-case letters");
}

TEST_F(Pull, NamesOfBundlesComeFromTheModel) {
  for (const auto& [model, name] :
       {std::pair{"google/SigLIP-base@v1", "siglip-base"},
        std::pair{"open_clip:EVA02-L-14-336/merged2b", "eva02-l-14-336"}}) {
    ASSERT_EQ(pull({model, "--python", python(kCopy), "-q"}).exit_code, 0);
    EXPECT_TRUE(fs::exists(encoders_ / name / "encoder.json")) << name;
  }
}

TEST_F(Pull, PythonOrExporterThatIsMissing) {
  const std::string how =
      "pip install -r encoders/export/requirements.txt && pip install "
      "--no-deps encoders/export";
  expect_one_line(pull({"clip", "--python", "/nowhere/python"}), 1,
                  "--python: /nowhere/python: a Python (3.11 or later) with the exporter is "
                  "required; install it there with `" +
                      how);
  const fs::path bare = home_.write("bare", "#!/bin/sh\nexit 1\n");
  ::chmod(bare.c_str(), 0700);
  ::setenv("PROBE_PYTHON", bare.c_str(), 1);
  expect_one_line(pull({"clip"}), 1, "PROBE_PYTHON: " + bare.string());
  ::unsetenv("PROBE_PYTHON");
  expect_nothing_left();
}

TEST_F(Pull, FolderThatIsNoBundleIsNeverReplaced) {
  home_.write(".cache/probe/encoders/clip/notes.txt", "mine");
  expect_one_line(pull({"clip", "--force", "--python", python(kCopy)}), 1,
                  "exists and is not a bundle; move it away");
  EXPECT_TRUE(fs::exists(encoders_ / "clip/notes.txt"));
}

}  // namespace
}  // namespace probe

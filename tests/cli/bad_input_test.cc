// Bad input gets one clear line; the rest of the work is kept (DESIGN.md, ruling 3).
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

using nlohmann::json;
using test::run_probe;

const std::filesystem::path kImages = PROBE_SOURCE_DIR "/tests/data/images";

class BadInput : public testing::Test {
 protected:
  test::TempDir home_, data_;

  test::ProgramResult run(const std::vector<std::string>& arguments) {
    return run_probe(arguments, home_.path());
  }

  // Three good photos and the five files of the entry, one of which is good as well.
  void write_mixed_folder() {
    for (const char* number : {"01", "02", "03"}) {
      const std::string name = std::string("kiwi-") + number + ".jpg";
      std::filesystem::copy_file(test::demo_folder() / "originals/kiwi" / name,
                                 data_.path() / name);
    }
    for (const char* name : {"half.jpg", "no_end.jpg", "half.png", "empty.jpg", "page.jpg"}) {
      std::filesystem::copy_file(kImages / name, data_.path() / name);
    }
  }

  // Rows of an exported embedding CSV by id.
  std::map<std::string, std::string> exported(const std::string& file) {
    const auto folder = home_.path() / "csv";
    EXPECT_EQ(run({"export", file, "--to", "csv", "-o", folder, "-q"}).exit_code, 0);
    std::map<std::string, std::string> rows;
    std::istringstream lines(test::slurp(folder / "image_embedding.csv"));
    for (std::string line; std::getline(lines, line);) {
      rows[line.substr(0, line.find(','))] = line.substr(line.find(','));
    }
    return rows;
  }
};

TEST_F(BadInput, Bugcase05_BadImagesAreListedAndTheRestIsKept) {
  write_mixed_folder();
  const std::string mixed = home_.path() / "mixed.h5", good = home_.path() / "good.h5";
  const test::ProgramResult result =
      run({"embed", data_.path(), "-o", mixed, "--json", "-q", "--no-text"});
  EXPECT_EQ(result.exit_code, 1);
  const json report = json::parse(result.out);
  EXPECT_EQ(report.at("tables").at(0).at("rows").at(0).at("images"), 4);
  ASSERT_EQ(report.at("failures").size(), 4u);
  for (const char* line : {"failed: half.jpg: damaged JPEG: the data end early",
                           "failed: half.png: damaged image", "failed: empty.jpg: empty file",
                           "failed: page.jpg: expected JPEG, PNG"}) {
    EXPECT_NE(result.err.find(line), std::string::npos) << result.err;
  }
  for (const char* name : {"half.jpg", "half.png", "empty.jpg", "page.jpg"}) {
    std::filesystem::remove(data_.path() / name);
  }
  EXPECT_EQ(run({"embed", data_.path(), "-o", good, "-q", "--no-text"}).exit_code, 0);
  EXPECT_EQ(exported(mixed), exported(good));
}

TEST_F(BadInput, EqualBrokenFilesAreEachListed) {
  write_mixed_folder();
  std::filesystem::copy_file(kImages / "half.jpg", data_.path() / "also.jpg");
  const test::ProgramResult result =
      run({"embed", data_.path(), "-o", home_.path() / "x.h5", "--json", "-q", "--no-text"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(json::parse(result.out).at("failures").size(), 5u);
  for (const char* name : {"also.jpg", "half.jpg"}) {
    EXPECT_NE(result.err.find(std::string("failed: ") + name + ": damaged JPEG: the data end early"), std::string::npos)
        << result.err;
  }
}

TEST_F(BadInput, FailFastStopsAtTheFirstAndLosesNothing) {
  write_mixed_folder();
  const std::string file = home_.path() / "x.h5";
  const test::ProgramResult result =
      run({"embed", data_.path(), "-o", file, "-q", "--fail-fast"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("error: empty.jpg: empty file"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(run({"embed", data_.path(), "-o", file, "-q"}).exit_code, 1);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(BadInput, OddNamesAreShownOnOneLine) {
  std::filesystem::copy_file(kImages / "empty.jpg", data_.path() / "new\nline \x1b[31m\xFF.jpg");
  std::filesystem::create_directory(data_.path() / "folder.jpg");
  std::filesystem::create_symlink("/nowhere", data_.path() / "dangling.png");
  std::filesystem::copy_file(kImages / "whole.jpg", data_.path() / "狐 🦊.jpg");
  const test::ProgramResult result = run(
      {"embed", data_.path(), "-o", (home_.path() / "x.h5").string(), "--json", "-q", "--no-text"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
  EXPECT_NE(result.err.find("new\\nline"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("dangling.png: cannot open: No such file or directory"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(json::parse(result.out).at("tables").at(0).at("rows").at(0).at("images"), 1);
}

TEST_F(BadInput, NothingUsableIsAnError) {
  std::filesystem::copy_file(kImages / "empty.jpg", data_.path() / "empty.jpg");
  const std::string file = home_.path() / "x.h5";
  const test::ProgramResult result = run({"embed", data_.path(), "-o", file, "-q"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("none of its 1 images could be used; the first: empty file"),
            std::string::npos)
      << result.err;
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(BadInput, Bugcase35_TargetIsCheckedBeforeTheModelRuns) {
  write_mixed_folder();
  const test::ProgramResult missing =
      run({"embed", data_.path(), "-o", "/no/such/folder/x.h5", "-q"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("/no/such/folder/x.h5: cannot write into /no/such/folder"),
            std::string::npos)
      << missing.err;
  const auto text = home_.write("notes.h5", "my notes");
  const test::ProgramResult notes = run({"embed", data_.path(), "-o", text, "-q"});
  EXPECT_EQ(notes.exit_code, 2);
  EXPECT_EQ(test::slurp(text), "my notes");
}

TEST_F(BadInput, EmbeddingFilesOfOtherKindsAreRefused) {
  const auto text = data_.write("plain.h5", "not HDF5");
  const test::ProgramResult result = run({"match", text, "-q"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("plain.h5: expected an HDF5 file, got another format"),
            std::string::npos);
}

// A changed copy of the bundle is another encoder, even under the same name.
TEST_F(BadInput, VectorsOfAnotherEncoderAreRefused) {
  const std::string items = test::write_small_dataset(data_, {"kiwi"}, {"egg"});
  const std::string file = data_.path() / "out.h5";
  ASSERT_EQ(run({"embed", items, "-o", file, "-q"}).exit_code, 0);
  const auto other = home_.path() / "bundles/other";
  std::filesystem::create_directories(other.parent_path());
  std::filesystem::copy(PROBE_SOURCE_DIR "/encoders/demo/bundle", other);
  const std::string spec = test::slurp(other / "encoder.json");
  std::ofstream(other / "encoder.json") << spec << "\n\n";
  const test::ProgramResult result = run({"zeroshot", file, "-q", "-e", other});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("out.h5: expected vectors of encoder demo (bundle "),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("got those of demo (bundle "), std::string::npos);
}

TEST_F(BadInput, ClosedPipeIsNoCrash) {
  const std::string items = test::write_small_dataset(data_, {"kiwi"}, {"egg"});
  const test::ProgramResult result = run({"encoders"});
  EXPECT_EQ(result.exit_code, 0);
  const std::string command = std::string("HOME=") + home_.path().string() + " " + PROBE_PROGRAM +
                              " zeroshot " + items + " -q 2>" + home_.path().string() +
                              "/err | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}";
  const int status = std::system(("bash -c '" + command + "'").c_str());
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_LT(WEXITSTATUS(status), 2);
}

}  // namespace
}  // namespace probe

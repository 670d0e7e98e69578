// probe report, as the built program does it. What a browser makes of the page is tested in
// tests/browser.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using Json = nlohmann::json;

const std::filesystem::path kSamples = PROBE_SOURCE_DIR "/tests/data/report";

class ReportCommand : public testing::Test {
 protected:
  test::TempDir folder_;

  test::ProgramResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    return test::run_probe(arguments, folder_.path());
  }

  // The JSON inside the page.
  Json data(const std::filesystem::path& page) {
    const std::string html = test::slurp(page);
    const std::string open = "id=\"data\">";
    const std::size_t begin = html.find(open) + open.size();
    return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  }
};

TEST_F(ReportCommand, MakesAPageOfEveryResult) {
  const auto page = folder_.path() / "out.html";
  const auto result = run({page, kSamples / "zeroshot.json", kSamples / "compare.json",
                           kSamples / "match.json", "--title", "Fruit & <veg>", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json row = Json::parse(result.out)["tables"][0]["rows"][0];
  EXPECT_EQ(row["page"], page.string());
  EXPECT_EQ(row["results"], 3);
  EXPECT_EQ(row["tables"], 7);
  EXPECT_EQ(row["figures"], 8);
  EXPECT_EQ(row["pictures"], 0);
  const Json shown = data(page);
  EXPECT_EQ(shown["title"], "Fruit & <veg>");
  EXPECT_EQ(shown["results"][1]["command"], "compare");
  EXPECT_NE(shown["provenance"]["command_line"].get<std::string>().find("probe report"),
            std::string::npos);
}

// From the demo photos to thumbnails of neighbours.
TEST_F(ReportCommand, ShowsThePicturesThatAMatchNames) {
  const auto dataset = test::write_small_dataset(folder_, {"kiwi", "banana"}, {"plum"});
  const auto matched =
      test::run_probe({"match", dataset, "--neighbors", "--k", "1", "--json", "-q"}, folder_.path());
  ASSERT_EQ(matched.exit_code, 0) << matched.err;
  const auto file = folder_.write("match.json", matched.out);
  const auto page = folder_.path() / "out.html";
  const auto result = run({page, file, "--images", dataset, "-q"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json pictures = data(page)["pictures"];
  EXPECT_EQ(pictures.size(), 4u);
  EXPECT_EQ(pictures["kiwi-01"].get<std::string>().substr(0, 4), "/9j/");  // a JPEG's first bytes
  EXPECT_LT(pictures["kiwi-01"].get<std::string>().size(), 8000u);
  // Two at most: the others are counted.
  const auto fewer = run({page, file, "--images", dataset, "--max-pictures", "2"});
  EXPECT_EQ(fewer.exit_code, 0);
  EXPECT_EQ(data(page)["pictures"].size(), 2u);
  EXPECT_NE(fewer.err.find("2 pictures were left out (--max-pictures 2)"), std::string::npos);
}

TEST_F(ReportCommand, BadPicturesAreListedAndExitOne) {
  const auto dataset = test::write_small_dataset(folder_, {"kiwi"}, {"plum"});
  folder_.write("kiwi-02.jpg", "<html>not a picture</html>");
  const auto page = folder_.path() / "out.html";
  const auto result = run({page, kSamples / "zeroshot.json", "--images", dataset, "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const Json failures = Json::parse(result.out)["failures"];
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0]["id"], "banana-02");
  EXPECT_EQ(failures[0]["reason"], "no item of this id in the data of --images");
  EXPECT_EQ(failures[1]["id"], "kiwi-02");
  EXPECT_NE(failures[1]["reason"].get<std::string>().find(
                "kiwi-02.jpg: expected JPEG, PNG, WebP, BMP or TIFF, got another format"),
            std::string::npos);
  const Json shown = data(page);
  EXPECT_EQ(shown["pictures"].size(), 1u);
  EXPECT_EQ(shown["missing"].size(), 2u);
}

TEST_F(ReportCommand, MistakesAreOneLineAndLeaveTheOldPage) {
  const auto page = folder_.write("out.html", "old");
  const auto text = folder_.write("words.json", "not json");
  const auto expect = [&](const std::vector<std::string>& arguments, int code,
                          const std::string& message) {
    const auto result = run(arguments);
    EXPECT_EQ(result.exit_code, code);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(test::slurp(page), "old");
  };
  expect({page}, 2, "RESULT is required");
  expect({kSamples / "zeroshot.json", kSamples / "match.json"}, 2,
         "zeroshot.json: expected the page to write, a name in .html, before the results");
  expect({page, "/no/such.json"}, 1, "/no/such.json: cannot open: No such file or directory");
  expect({page, kSamples / "zeroshot.json", text}, 1, "words.json: expected JSON, got: ");
  expect({page, kSamples / "zeroshot.json", "--images", "/no/such/data"}, 1,
         "/no/such/data: no such file or folder");
  expect({page, kSamples / "zeroshot.json", "--picture-side", "3"}, 2, "--picture-side");
  const auto nowhere = run({folder_.path() / "none" / "out.html", kSamples / "zeroshot.json"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_NE(nowhere.err.find("none/out.html"), std::string::npos) << nowhere.err;
}

}  // namespace
}  // namespace probe

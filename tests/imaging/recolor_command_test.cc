// `probe recolor` on a dataset of two pictures.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "probe/data/image_file.h"
#include "probe/data/manifest.h"
#include "tests/imaging/pictures.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using Json = nlohmann::json;

constexpr const char* kTable =
    "object,color_1,color_2\nfig,sky blue,golden\nlime,rich purple,\n";
// Odd spacing and an unusual order: these lines must come back as they are.
constexpr const char* kItems =
    "{\"id\": \"fig-1\",  \"category\": \"fig\", \"image\": \"originals/fig.png\"}\n"
    "{\"id\": \"lime-1\", \"image\": \"originals/lime.png\", \"category\": \"lime\", "
    "\"condition\": \"original\"}\n";

class RecolorCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(data() / "originals");
    write_image(test::disc_picture(96, {150, 60, 120}), data() / "originals/fig.png");
    write_image(test::disc_picture(96, {90, 200, 40}), data() / "originals/lime.png");
    folder_.write("data/items.jsonl", kItems);
    folder_.write("colors.csv", kTable);
  }

  std::filesystem::path data() const { return folder_.path() / "data"; }

  test::ProgramResult run(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"recolor", data(), "-o", data(), "--json", "--quiet"};
    if (std::find(more.begin(), more.end(), "--colors") == more.end()) {
      arguments.insert(arguments.end(), {"--colors", folder_.path() / "colors.csv"});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_probe(arguments, folder_.path());
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> result;
    std::istringstream text(test::slurp(data() / "items.jsonl"));
    for (std::string line; std::getline(text, line);) result.push_back(line);
    return result;
  }

  const test::TempDir folder_;
};

TEST_F(RecolorCommand, MakesTwinsAndTheManifest) {
  const auto result = run({"--sheet", folder_.path() / "sheet.png"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto all = lines();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0] + "\n" + all[1] + "\n", kItems);  // byte for byte
  EXPECT_EQ(Json::parse(all[3]), Json::parse(R"({"id": "lime-1-rich-purple",
      "image": "modified/lime/lime-1-rich-purple.jpg", "category": "lime", "condition": "color",
      "original_id": "lime-1", "attribute": "rich purple"})"));
  const Json fig = Json::parse(all[2]);
  EXPECT_EQ(fig["original_id"], "fig-1");
  EXPECT_TRUE(fig["attribute"] == "sky blue" || fig["attribute"] == "golden");

  const RgbImage twin = read_image(data() / "modified/lime/lime-1-rich-purple.jpg");
  EXPECT_EQ(twin.width, 96);
  const Oklch middle = to_oklch(test::color_at(twin, 48, 48));
  EXPECT_LT(hue_distance(middle.hue, 312.0F), 15.0F);
  EXPECT_LT(to_oklch(test::color_at(twin, 5, 5)).chroma, 0.03F);
  EXPECT_NE(test::slurp(data() / "modified/lime/lime-1-rich-purple.jpg").find("SYNTHETIC"),
            std::string::npos);
  EXPECT_NE(test::slurp(data() / "SYNTHETIC.md").find("not photos"), std::string::npos);
  EXPECT_EQ(read_image(folder_.path() / "sheet.png").width, 2 * (3 * 150 + 4));

  // What `probe` reads back is what it wrote.
  const Dataset dataset = read_dataset(data(), {});
  EXPECT_EQ(dataset.items[3].condition, "color");
  EXPECT_EQ(dataset.items[3].original_id, "lime-1");

  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["tables"][0]["rows"][0]["twins"], 2);
}

TEST_F(RecolorCommand, TheSameSeedGivesTheSameBytes) {
  ASSERT_EQ(run().exit_code, 0);
  const std::string manifest = test::slurp(data() / "items.jsonl");
  const std::string picture = test::slurp(data() / "modified/lime/lime-1-rich-purple.jpg");
  ASSERT_EQ(run().exit_code, 0);
  EXPECT_EQ(test::slurp(data() / "items.jsonl"), manifest);
  EXPECT_EQ(test::slurp(data() / "modified/lime/lime-1-rich-purple.jpg"), picture);
}

TEST_F(RecolorCommand, VerdictsAreHonouredOnRerun) {
  ASSERT_EQ(run({"--per-item", "2"}).exit_code, 0);
  ASSERT_EQ(lines().size(), 5u);
  const auto file = data() / "modified/fig/fig-1-golden.jpg";
  ASSERT_TRUE(std::filesystem::exists(file));
  const auto csv = folder_.write("verdicts.csv",
                                 "id,verdict,note\nfig-1-golden,reject,\"leaves, too\"\n"
                                 "lime-1-rich-purple,accept,\nfig-1-sky-blue,,\n");
  const auto result = run({"--per-item", "2", "--review", csv});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(std::filesystem::exists(file));
  ASSERT_EQ(lines().size(), 4u);
  EXPECT_EQ(test::slurp(data() / "items.jsonl").find("golden"), std::string::npos);
  const Json row = Json::parse(result.out)["tables"][0]["rows"][0];
  EXPECT_EQ(row["rejected"], 1);
  EXPECT_EQ(row["accepted"], 1);
  EXPECT_EQ(row["open"], 1);

  // JSON Lines say the same; a verdict taken back brings the twin back.
  const auto jsonl =
      folder_.write("verdicts.jsonl", "{\"id\":\"fig-1-sky-blue\",\"verdict\":\"reject\"}\n");
  ASSERT_EQ(run({"--per-item", "2", "--review", jsonl}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(data() / "modified/fig/fig-1-sky-blue.jpg"));

  const auto wrong = folder_.write("wrong.csv", "id,verdict\nfig-1-golden,maybe\n");
  const auto refused = run({"--review", wrong});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("wrong.csv:2: verdict: expected accept or reject, got \"maybe\""),
            std::string::npos)
      << refused.err;
}

TEST_F(RecolorCommand, BadItemsAreListedAndTheRestIsKept) {
  folder_.write("data/items.jsonl", std::string(kItems) +
                                        "{\"id\":\"car-1\",\"image\":\"originals/fig.png\","
                                        "\"category\":\"car\"}\n"
                                        "{\"id\":\"bad-1\",\"image\":\"none.png\","
                                        "\"category\":\"fig\"}\n");
  const auto result = run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(lines().size(), 6u);  // four items as they were, two twins
  const Json failures = Json::parse(result.out)["failures"];
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0]["id"], "car-1");
  EXPECT_EQ(failures[0]["reason"], "category \"car\" is not in the table of colours");
  EXPECT_EQ(failures[1]["id"], "bad-1");
  const auto strict = run({"--fail-fast"});
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_NE(strict.err.find("car-1: category \"car\" is not in the table"), std::string::npos)
      << strict.err;
}

TEST_F(RecolorCommand, PoorResultsAreDroppedWithTheReason) {
  const auto result = run({"--min-area", "0.5"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(lines().size(), 2u);
  const Json failures = Json::parse(result.out)["failures"];
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_NE(failures[1]["reason"].get<std::string>().find(
                "mask too small: expected at least 50.0% of the picture, got 2"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(data() / "modified"));
}

TEST_F(RecolorCommand, RefusesWrongTablesAndOptions) {
  const auto table = folder_.write("bad.csv", "object,color\nfig,deep purpel\n");
  const auto unknown = run({"--colors", table});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("bad.csv:2: expected a colour of NEMO's Tables A and D, got "
                             "\"deep purpel\"; did you mean \"deep purple\"?"),
            std::string::npos)
      << unknown.err;
  const auto both = run({"--color", "golden"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.err.find("expected either --colors TABLE or --color NAME"), std::string::npos);
  const auto box = run({"--box", "1,2,3"});
  EXPECT_EQ(box.exit_code, 2);
  EXPECT_NE(box.err.find("--box: expected x,y,width,height, got \"1,2,3\""), std::string::npos);
  EXPECT_EQ(lines().size(), 2u);  // nothing was written
}

// Into another folder: the originals are named from there; --twins-only leaves them out.
// A dataset that holds twins already is recoloured elsewhere: the new twins take their places.
TEST_F(RecolorCommand, TwinsOfAnEarlierRunGiveWay) {
  ASSERT_EQ(run().exit_code, 0);
  const std::string other = folder_.path() / "other";
  const auto result =
      test::run_probe({"recolor", data(), "-o", other, "--colors", folder_.path() / "colors.csv",
                       "--quiet"}, folder_.path());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Dataset made = read_dataset(other, {{}, true, true});
  ASSERT_EQ(made.items.size(), lines().size());
  for (const Item& item : made.items) {
    const bool twin = !item.original_id.empty();
    EXPECT_EQ(item.image.string().starts_with(other + "/modified/"), twin) << item.image;
  }
}

TEST_F(RecolorCommand, IntoAnotherFolder) {
  const auto other = folder_.path() / "other";
  const auto result = test::run_probe(
      {"recolor", data(), "-o", other, "--color", "golden", "--quiet"}, folder_.path());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  DatasetOptions options;
  options.allow_outside = true;
  const Dataset dataset = read_dataset(other, options);
  ASSERT_EQ(dataset.items.size(), 4u);
  EXPECT_TRUE(std::filesystem::exists(dataset.items[0].image));
  EXPECT_EQ(dataset.items[2].attribute, "golden");
  ASSERT_EQ(test::run_probe({"recolor", data(), "-o", other, "--color", "golden", "--quiet",
                             "--twins-only"},
                            folder_.path())
                .exit_code,
            0);
  EXPECT_EQ(read_dataset(other, {}).items.size(), 2u);
}

}  // namespace
}  // namespace probe

// Tiles from the picture to the HDF5 file. What the towers must answer stands in
// tests/data/tiles/means.json, made with transformers (tests/parity/make_tiles.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "probe/store/embedding_file.h"
#include "tests/support/run_program.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

using nlohmann::json;

const std::string kBundles = PROBE_SOURCE_DIR "/tests/data/bundles";
const std::string kPictures = PROBE_SOURCE_DIR "/tests/data/tiles/";

class Tiles : public testing::Test {
 protected:
  test::TempDir home_, data_;
  json golden_ = json::parse(std::ifstream(kPictures + "means.json")).at("cases");
  std::string items_ = write_items();

  std::string write_items() {
    std::string lines;
    for (const json& picture : golden_) {
      const auto file = picture.at("file").get<std::string>();
      std::filesystem::copy_file(kPictures + file, data_.path() / file);
      lines += json{{"id", file}, {"image", file}, {"category", file.size() % 2 ? "a" : "b"}}
                   .dump() + "\n";
    }
    return data_.write("items.jsonl", lines);
  }

  test::ProgramResult run(std::vector<std::string> arguments) {
    for (const char* word : {"--encoder-dir", kBundles.c_str(), "-q"}) arguments.push_back(word);
    return test::run_probe(arguments, home_.path());
  }

  EmbeddingSet embed(std::vector<std::string> options, bool tokens = false) {
    const std::string file = home_.path() / "x.h5";
    std::filesystem::remove(file);
    options.insert(options.begin(), {"embed", items_, "-o", file});
    const test::ProgramResult result = run(options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return read_embedding_file(file, {.tokens = tokens});
  }

  // Every row against the golden field, 1e-4 of the vector's length.
  void expect_means(const EmbeddingSet& set, const char* field) {
    ASSERT_EQ(set.items.size(), golden_.size());
    for (std::size_t i = 0; i < golden_.size(); ++i) {
      const auto values = golden_[i].at(field).get<std::vector<float>>();
      const Eigen::Map<const Eigen::RowVectorXf> wanted(values.data(), std::ssize(values));
      ASSERT_EQ(set.mean_tokens.cols(), wanted.cols());
      const auto row = set.mean_tokens.row(static_cast<Eigen::Index>(i));
      EXPECT_LT((row - wanted).norm(), 1e-4 * wanted.norm()) << field << golden_[i]["file"];
    }
  }

  void expect_refusal(const std::vector<std::string>& arguments, const std::string& message) {
    const test::ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  }
};

TEST_F(Tiles, AnyresIsTheMeanOfTheTokensThatLlavaNextKeeps) {
  for (const char* batch : {"1", "3", "8"}) {
    const EmbeddingSet set =
        embed({"-e", "llava-next", "--tiles", "anyres", "--batch-size", batch});
    expect_means(set, "anyres");
    EXPECT_EQ(set.provenance.pooling, "mean of patch tokens of the whole image and its tiles");
    const json tiles = json::parse(set.provenance.tiles);
    EXPECT_EQ(tiles.at("scheme"), "anyres");
    EXPECT_EQ(tiles.at("tile"), 56);
    EXPECT_EQ(tiles.at("pinpoints").dump(), "[[56,112],[112,56],[112,112],[168,56],[56,168]]");
  }
}

TEST_F(Tiles, DynamicIsTheMeanOverTheTilesAndTheThumbnail) {
  for (const char* batch : {"1", "5", "8"}) {
    const EmbeddingSet set =
        embed({"-e", "internvit", "--tiles", "dynamic", "--batch-size", batch});
    expect_means(set, "dynamic");
    EXPECT_EQ(json::parse(set.provenance.tiles).at("max_tiles"), 12);
  }
}

TEST_F(Tiles, PixelShuffleJoinsFourTokensAsInternvlDoes) {
  const EmbeddingSet set =
      embed({"-e", "internvit", "--tiles", "dynamic", "--pixel-shuffle", "0.5"});
  EXPECT_EQ(set.mean_tokens.cols(), 4 * 32);
  expect_means(set, "dynamic_shuffled");
  EXPECT_EQ(set.provenance.pooling,
            "mean of patch tokens of the tiles and the thumbnail, pixel shuffle 0.5");
}

// Also without tiles, from the stored tokens: one CLS and 4 x 4 patches of width 32.
TEST_F(Tiles, PixelShuffleOfTheWholeImageEqualsALoop) {
  const EmbeddingSet set = embed({"-e", "internvit", "--pixel-shuffle", "0.5", "--tokens"}, true);
  EXPECT_EQ(set.provenance.tiles, kWholeImage);
  ASSERT_EQ(set.tokens.cols(), 17 * 32);
  for (Eigen::Index i = 0; i < set.tokens.rows(); ++i) {
    std::vector<double> sums(4 * 32);
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 4; ++x) {
        for (int c = 0; c < 32; ++c) {
          sums[(y % 2 * 2 + x % 2) * 32 + c] += set.tokens(i, (1 + 4 * y + x) * 32 + c);
        }
      }
    }
    for (int c = 0; c < 4 * 32; ++c) EXPECT_NEAR(set.mean_tokens(i, c), sums[c] / 4, 1e-4);
  }
}

// Other pictures are pooled, but the embedding stays that of the whole image.
TEST_F(Tiles, TheEmbeddingIsThatOfTheWholeImage) {
  const EmbeddingSet whole = embed({"-e", "clip", "--no-text"});
  EXPECT_EQ(whole.provenance.tiles, kWholeImage);
  EXPECT_EQ(whole.provenance.pooling, "mean of patch tokens");
  for (const char* scheme : {"anyres", "dynamic"}) {
    const EmbeddingSet tiled = embed({"-e", "clip", "--no-text", "--tiles", scheme});
    EXPECT_LT((tiled.embedding - whole.embedding).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_GT((tiled.mean_tokens - whole.mean_tokens).cwiseAbs().maxCoeff(), 1e-2);
  }
}

TEST_F(Tiles, OptionsOfTheSchemesChangeWhatIsCut) {
  const EmbeddingSet one = embed({"-e", "internvit", "--tiles", "dynamic", "--max-tiles", "1"});
  const EmbeddingSet whole = embed({"-e", "internvit"});  // squashes, as the one tile is
  EXPECT_LT((one.mean_tokens - whole.mean_tokens).cwiseAbs().maxCoeff(), 1e-5);
  const EmbeddingSet few = embed({"-e", "internvit", "--tiles", "dynamic", "--max-tiles", "4",
                                  "--min-tiles", "4"});
  EXPECT_EQ(json::parse(few.provenance.tiles).at("min_tiles"), 4);
  EXPECT_GT((few.mean_tokens - whole.mean_tokens).cwiseAbs().maxCoeff(), 1e-2);
  const EmbeddingSet tall = embed({"-e", "llava-next", "--tiles", "anyres", "--grid-pinpoints",
                                   "112x56,168x112"});
  EXPECT_EQ(json::parse(tall.provenance.tiles).at("pinpoints").dump(), "[[112,56],[168,112]]");
}

TEST_F(Tiles, ABadPictureLeavesTheOthersAsTheyAre) {
  std::ofstream(data_.path() / "150x70.png", std::ios::trunc) << "no picture";
  const std::string file = home_.path() / "x.h5";
  const test::ProgramResult result = run({"embed", items_, "-o", file, "-e", "llava-next",
                                          "--tiles", "anyres", "--batch-size", "2"});
  EXPECT_EQ(result.exit_code, 1);
  EmbeddingSet set = read_embedding_file(file, {});
  golden_.erase(0);
  expect_means(set, "anyres");
}

TEST_F(Tiles, MatchCachesEachSchemeApart) {
  const auto match = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"match", items_, "-e", "llava-next", "--json",
                                     "--neighbors", "--k", "4"});
    const test::ProgramResult result = run(options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  };
  const auto logs = [&] {
    const auto folder = home_.path() / ".cache/probe/embeddings";
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  const json whole = match({});
  EXPECT_EQ(logs(), 1);
  const json tiled = match({"--tiles", "anyres"});
  EXPECT_EQ(logs(), 2);
  EXPECT_EQ(tiled.at("tables"), match({"--tiles", "anyres"}).at("tables"));
  EXPECT_EQ(whole.at("tables"), match({"--tiles", "whole"}).at("tables"));
  EXPECT_EQ(logs(), 2);
  EXPECT_NE(whole.at("tables"), tiled.at("tables"));
  match({"--tiles", "anyres", "--grid-pinpoints", "56x112,112x56"});
  EXPECT_EQ(logs(), 3);
  EXPECT_EQ(whole.at("provenance").at("tiles"), kWholeImage);
  const auto tiles = tiled.at("provenance").at("tiles").get<std::string>();
  EXPECT_EQ(json::parse(tiles).at("scheme"), "anyres");
  // The file of the same options matches alike, and is refused with others.
  const std::string file = home_.path() / "x.h5";
  embed({"-e", "llava-next", "--tiles", "anyres"});
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--tiles", "anyres"}, {"--pool", "patches"}}) {
    std::vector<std::string> words{"match", file, "--json", "--neighbors", "--k", "4"};
    words.insert(words.end(), options.begin(), options.end());
    const test::ProgramResult result = run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(json::parse(result.out).at("provenance").at("tiles"), tiles);
  }
  expect_refusal({"match", file, "--tiles", "whole"}, "--tiles asks for {\"scheme\":\"whole\"}");
  expect_refusal({"match", file, "--tiles", "anyres", "--grid-pinpoints", "56x56"},
                 "but the file was made with {\"scheme\":\"anyres\"");
  expect_refusal({"match", file, "--pixel-shuffle", "0.5"}, "--pixel-shuffle asks for");
}

TEST_F(Tiles, CompareTakesTheSchemeToo) {
  const test::ProgramResult result =
      run({"compare", items_, "-e", "llava-next", "--tiles", "anyres", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  const auto tiles = report.at("provenance").at("llava-next.tiles").get<std::string>();
  EXPECT_EQ(json::parse(tiles).at("scheme"), "anyres");
}

TEST_F(Tiles, BadOptionsAreRefusedInOneLine) {
  const auto refuse = [&](std::vector<std::string> options, const std::string& message) {
    options.insert(options.begin(), {"match", items_, "-e", "llava-next"});
    expect_refusal(options, message);
  };
  refuse({"--tiles", "mosaic"}, "--tiles");
  refuse({"--max-tiles", "6"}, "--max-tiles: expected --tiles dynamic, got --tiles whole");
  refuse({"--tiles", "anyres", "--max-tiles", "6"},
         "--max-tiles: expected --tiles dynamic, got --tiles anyres");
  refuse({"--tiles", "dynamic", "--grid-pinpoints", "56x56"},
         "--grid-pinpoints: expected --tiles anyres, got --tiles dynamic");
  refuse({"--tiles", "dynamic", "--min-tiles", "13"},
         "--min-tiles: expected at most --max-tiles 12, got 13");
  refuse({"--tiles", "dynamic", "--max-tiles", "1000"}, "--max-tiles");
  for (const char* list : {"56", "56x", "x56", "56x56,", ",56x56", "56x56;56x56", "-56x56",
                           "0x56", "56x99999999999"}) {
    refuse({"--tiles", "anyres", "--grid-pinpoints=" + std::string(list)},
           "--grid-pinpoints: expected HEIGHTxWIDTH,HEIGHTxWIDTH,..., got \"");
  }
  refuse({"--tiles", "anyres", "--grid-pinpoints", "1120x1120"},
         "--grid-pinpoints: expected at most 256 tiles of 56 pixels, got 1120x1120");
  refuse({"--tiles", "anyres", "--grid-pinpoints", "60x56"},
         "multiples of the tower's 56 pixels, got 60x56");
  refuse({"--tiles", "anyres", "--pool", "all"}, "--pool: expected patches with --tiles anyres");
  refuse({"--tiles", "anyres", "--pixel-shuffle", "0.5"}, "--pixel-shuffle: expected --tiles");
  refuse({"--pixel-shuffle", "0.25"}, "--pixel-shuffle");
  expect_refusal({"embed", items_, "-o", home_.path() / "y.h5", "-e", "llava-next", "--tiles",
                  "anyres", "--tokens"},
                 "--tokens: expected --tiles whole");
}

}  // namespace
}  // namespace probe

// probe import: vectors that were made elsewhere, and what the other commands say to them.
#include <algorithm>
#include <limits>

#include "probe/core/sha256.h"
#include "probe/store/npy.h"
#include "tests/support/made_up_command.h"

namespace probe {
namespace {

using nlohmann::json;
using test::made_up_set;

class Import : public test::MadeUpCommand {
 protected:
  Import() : MadeUpCommand("import"), set_(made_up_set("theirs", 12, 6, 1)) {
    vectors_ = home_.write("vectors.npy", npy_bytes(set_.embedding, 0));
    std::string lines = "id,category\n";
    for (std::size_t i = 0; i < set_.items.size(); ++i) {
      lines += set_.items.id[i] + "," + set_.items.category[i] + "\n";
    }
    ids_ = home_.write("ids.csv", lines);
  }

  // The imported file's path.
  std::string import(std::vector<std::string> more = {}) const {
    const std::string file = home_.path() / "theirs.h5";
    more.insert(more.begin(), {vectors_, "--ids", ids_, "-o", file});
    const test::ProgramResult result = run(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return file;
  }

  void refuse(const std::string& vectors, const std::string& ids, const std::string& message,
              std::vector<std::string> more = {}, int code = 1) const {
    more.insert(more.begin(), {vectors, "--ids", ids, "-o", home_.path() / "no.h5"});
    expect_failure(more, code, message);
    EXPECT_FALSE(std::filesystem::exists(home_.path() / "no.h5"));
  }

  test::ProgramResult other(std::vector<std::string> arguments) const {
    return test::run_probe(arguments, home_.path());
  }

  void other_fails(const std::vector<std::string>& arguments, int code,
                   const std::string& message) const {
    const test::ProgramResult result = other(arguments);
    EXPECT_EQ(result.exit_code, code);
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }

  std::string path(const char* name) const { return home_.path() / name; }

  EmbeddingSet set_;
  std::string vectors_, ids_;
};

TEST_F(Import, NothingIsMadeUp) {
  const EmbeddingSet read = read_embedding_file(import(), {});
  EXPECT_EQ(read.embedding, set_.embedding);
  EXPECT_EQ(read.mean_tokens.cols(), 0);
  EXPECT_EQ(read.items.id, set_.items.id);
  EXPECT_EQ(read.items.category, set_.items.category);
  EXPECT_EQ(read.items.condition, set_.items.condition);
  EXPECT_EQ(read.items.content_sha256, std::vector<std::string>(12));
  const Provenance& made = read.provenance;
  EXPECT_EQ(made.preprocessing, "imported, preprocessing unknown");
  for (const std::string& field : {made.encoder, made.architecture, made.bundle_sha256, made.layer,
                                   made.pooling, made.compute_dtype, made.runtime}) {
    EXPECT_EQ(field, "unknown");
  }
  EXPECT_EQ(made.tiles, "{\"scheme\":\"unknown\"}");
  EXPECT_TRUE(made.command_line.starts_with("probe import ")) << made.command_line;
}

TEST_F(Import, MatchesAsTheSameVectorsDo) {
  const std::string theirs = import({"--as", "mean-tokens", "--encoder-name", "their CLIP"});
  const std::string ours = write("ours.h5", set_);
  const auto rows = [&](const std::string& file, const std::string& name) {
    const test::ProgramResult result =
        other({"match", file, "--neighbors", "--k", "3", "--json", "-q"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return table(json::parse(result.out), name);
  };
  EXPECT_EQ(rows(theirs, "match_o2o_neighbors"), rows(ours, "match_o2o_neighbors"));
  EXPECT_EQ(rows(theirs, "match_o2o"), rows(ours, "match_o2o"));
}

// What a file does not have is never taken from something else.
TEST_F(Import, MatchNamesTheOptionThatUsesTheEmbedding) {
  const std::string theirs = import();
  other_fails({"match", theirs, "-q"}, 1,
              "theirs.h5: expected /image/mean_tokens, got none; --of embedding uses the others");
  const test::ProgramResult result = other({"match", theirs, "--of", "embedding", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("representation: the tower's embedding, cosine, encoder unknown"),
            std::string::npos)
      << result.err;
  EmbeddingSet swapped = set_;
  swapped.mean_tokens = RowMatrix::Random(12, 6);  // not what is asked for
  const test::ProgramResult same =
      other({"match", write("swapped.h5", swapped), "--of", "embedding", "--json", "-q"});
  EXPECT_EQ(table(json::parse(result.out), "match_o2o"), table(json::parse(same.out), "match_o2o"));
}

TEST_F(Import, OtherCommandsWorkOnIt) {
  const std::string texts = home_.write("texts.npy", npy_bytes(set_.text_embedding, 0));
  const std::string prompts = home_.write("prompts.txt", "c0\nc1\nc2\n");
  const std::string theirs =
      import({"--text-vectors", texts, "--prompts", prompts, "--encoder-name", "their CLIP"});
  const std::string ours = write("ours.h5", set_);
  const auto same = [&](std::vector<std::string> command, const std::string& name) {
    const auto rows = [&](const std::string& file) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.begin() + 1, file);
      arguments.insert(arguments.end(), {"--json", "-q"});
      const test::ProgramResult result = other(arguments);
      EXPECT_EQ(result.exit_code, 0) << command[0] << ": " << result.err;
      return table(json::parse(result.out), name);
    };
    EXPECT_EQ(rows(theirs), rows(ours)) << command[0];
  };
  same({"classify", "--template", "{}"}, "classify_by_condition");
  same({"linear", "--folds", "2"}, "linear_summary");
  std::string questions;
  for (const std::string& id : set_.items.id) {
    questions += "{\"question_id\":\"" + id + "\",\"item_id\":\"" + id +
                 "\",\"type\":\"choice\",\"choices\":[\"c0\",\"c1\",\"c2\"],\"answer\":0}\n";
  }
  const std::string asked = home_.write("q.jsonl", questions);
  same({"zeroshot", "--template", "{}", "--questions", asked}, "choice_by_condition");
  const test::ProgramResult both =
      other({"similarity", theirs, ours, "--k", "3", "--json", "-q"});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(table(json::parse(both.out), "similarity_pairs").at(0).at("mutual_knn"), 1.0);
  EXPECT_EQ(other({"export", theirs, "-o", path("exported"), "-q"}).exit_code, 0);
  EXPECT_EQ(test::slurp(home_.path() / "exported/image_embedding.npy"), test::slurp(vectors_));
}

TEST_F(Import, CompareSaysWhatItCannotMatch) {
  const std::string theirs = import({"--encoder-name", "their CLIP"});
  const test::ProgramResult without = other({"compare", theirs, "--json"});
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_NE(without.err.find("warning: matching of their CLIP stays unknown: it has no mean "
                             "tokens; --of embedding matches by the others"),
            std::string::npos)
      << without.err;
  const test::ProgramResult with = other({"compare", theirs, "--of", "embedding", "--json", "-q"});
  EXPECT_EQ(with.err, "");
  EXPECT_NE(table(json::parse(with.out), "comparison").at(0).at("o2o_hit"),
            table(json::parse(without.out), "comparison").at(0).at("o2o_hit"));
}

TEST_F(Import, MergeSaysThatTheEncoderIsKnownByItsNameAlone) {
  import({"--encoder-name", "their CLIP"});
  const std::string ids = home_.write("more.txt", "m0\nm1\nm2\nm3\nm4\nm5\nm6\nm7\nm8\nm9\nma\nmb\n");
  EXPECT_EQ(run({vectors_, "--ids", ids, "--encoder-name", "their CLIP", "-o", path("more.h5")}).exit_code, 0);
  const test::ProgramResult result =
      other({"merge", path("theirs.h5"), path("more.h5"), "-o", path("all.h5")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("warning: the files do not say which bundle made them: that it was one "
                            "encoder rests on its name, \"their CLIP\""),
            std::string::npos)
      << result.err;
}

TEST_F(Import, WhatNeedsTheEncoderSaysSo) {
  const std::string theirs = import({"--encoder-name", "demo"});  // a name is no bundle
  other_fails({"classify", theirs, "-q"}, 2,
              "--template: expected one, since the bundle of encoder demo is not here");
  other_fails({"classify", theirs, "-q", "--template", "{}"}, 1,
              "the embedding file lacks some of the 3 prompts, and the bundle of encoder demo");
  other_fails({"match", theirs, "-q", "--of", "embedding", "--tiles", "anyres"}, 2,
              "the file was made with {\"scheme\":\"unknown\"}");
  std::string lines;
  for (const std::string& id : set_.items.id) lines += id + "\n";
  const std::string ids = home_.write("ids.txt", lines);
  EXPECT_EQ(run({vectors_, "--ids", ids, "-o", path("plain.h5")}).exit_code, 0);
  other_fails({"match", path("plain.h5"), "-q", "--of", "embedding"}, 1,
              "nothing to match: 0 originals ask and 0 originals answer; 12 items have no category");
}

TEST_F(Import, CountsMustAgree) {
  const std::string short_ids = home_.write("short.txt", "a\nb\n");
  refuse(vectors_, short_ids, "short.txt: expected 12 ids, one for each row of " + vectors_ + ", got 2");
  const std::string texts = home_.write("texts.npy", npy_bytes(set_.text_embedding, 0));
  const std::string prompts = home_.write("prompts.txt", "c0\nc1\n");
  refuse(vectors_, ids_, "prompts.txt: expected 3 prompts",
         {"--text-vectors", texts, "--prompts", prompts});
  const std::string wide = home_.write("wide.npy", npy_bytes(RowMatrix::Ones(2, 7), 0));
  refuse(vectors_, ids_, "wide.npy: expected width 6 as " + vectors_ + ", got 7",
         {"--text-vectors", wide, "--prompts", prompts});
}

TEST_F(Import, BadVectorsAreNamed) {
  RowMatrix bad = set_.embedding;
  bad.row(3).setZero();
  refuse(home_.write("zero.npy", npy_bytes(bad, 0)), ids_,
         "zero.npy: item item-03: a zero vector has no direction");
  bad(5, 2) = std::numeric_limits<float>::infinity();
  refuse(home_.write("inf.npy", npy_bytes(bad, 0)), ids_, "inf.npy: row 5: expected finite values");
  RowMatrix large = set_.embedding;
  large(0, 0) = 1e6f;
  refuse(home_.write("large.npy", npy_bytes(large, 0)), ids_, "row 0: 1000000.000000 does not fit float16",
         {"--store", "float16"});
  const std::string zero = home_.write("t0.npy", npy_bytes(RowMatrix::Zero(1, 6), 0));
  refuse(vectors_, ids_, "t0.npy: prompt \"c0\": a zero vector has no direction",
         {"--text-vectors", zero, "--prompts", home_.write("p.txt", "c0\n")});
}

TEST_F(Import, MistakesAreExitTwo) {
  const std::string texts = home_.write("texts.npy", npy_bytes(set_.text_embedding, 0));
  refuse(vectors_, ids_, "--prompts", {"--text-vectors", texts}, 2);
  refuse(vectors_, ids_, "--text-vectors: texts are compared with embeddings",
         {"--text-vectors", texts, "--prompts", ids_, "--as", "mean_tokens"}, 2);
  refuse(vectors_, ids_, "--encoder-name: expected a name", {"--encoder-name", ""}, 2);
  refuse(vectors_, ids_, "--hash-images: item item-00: expected a path, got none", {"--hash-images"}, 2);
  expect_failure({vectors_, "--ids", ids_, "-o", ids_}, 2, "exists and is not an embedding file");
}

TEST_F(Import, ImagesAreHashedWhenAsked) {
  const std::string items = home_.write("d/items.jsonl", "{\"id\":\"a\",\"image\":\"a.jpg\"}\n");
  home_.write("d/a.jpg", "any bytes");
  const std::string one = home_.write("one.npy", npy_bytes(RowMatrix::Ones(1, 4), 0));
  const std::string file = path("hashed.h5");
  EXPECT_EQ(run({one, "--ids", items, "-o", file, "--hash-images"}).exit_code, 0);
  EXPECT_EQ(read_embedding_file(file, {}).items.content_sha256.at(0), sha256_hex("any bytes"));
  std::filesystem::remove(home_.path() / "d/a.jpg");
  expect_failure({one, "--ids", items, "-o", file, "--hash-images"}, 1, "a.jpg: cannot open");
}

// clip-retrieval's output folder: parts in the order of their numbers.
TEST_F(Import, ClipRetrievalFoldersAreJoined) {
  for (int part = 0; part < 12; ++part) {
    home_.write("out/img_emb/img_emb_" + std::to_string(part) + ".npy",
                npy_bytes(set_.embedding.middleRows(part, 1), 0));
  }
  home_.write("out/metadata/metadata_0.parquet", "PAR1");
  const std::string file = path("joined.h5");
  const test::ProgramResult result = run({path("out"), "--ids", ids_, "-o", file});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_embedding_file(file, {}).embedding, set_.embedding);
  refuse(path("out"), path("out/metadata/metadata_0.parquet"), "got Parquet; in Python: ");
  home_.write("out/img_emb/img_emb_5.npy", npy_bytes(RowMatrix::Ones(1, 3), 0));
  refuse(path("out"), ids_, "img_emb_5.npy: expected width 6 as the parts before it, got 3");
  std::filesystem::remove(home_.path() / "out/img_emb/img_emb_5.npy");
  refuse(path("out"), ids_, "expected img_emb_5.npy, got img_emb_6.npy");
  refuse(path("out/metadata"), ids_, "expected an .npy file, or a folder with img_emb_0.npy");
}

}  // namespace
}  // namespace probe

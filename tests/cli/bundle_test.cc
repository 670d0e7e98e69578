// Bundles are untrusted input: each kind of damage is one sentence, before data are read.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "probe/core/sha256.h"
#include "probe/store/embedding_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using nlohmann::json;

class Bundle : public testing::Test {
 protected:
  test::TempDir home_;
  std::filesystem::path bundle_ = home_.path() / "copy";

  void SetUp() override {
    std::filesystem::copy(PROBE_SOURCE_DIR "/encoders/demo/bundle", bundle_);
  }

  json spec() { return json::parse(test::slurp(bundle_ / "encoder.json")); }

  void write_spec(const json& spec) { std::ofstream(bundle_ / "encoder.json") << spec.dump(); }

  // Puts other bytes in place of a file, with the hash an exporter would have written.
  void replace(const std::string& name, const std::string& content) {
    std::filesystem::remove_all(bundle_ / name);
    std::ofstream(bundle_ / name, std::ios::binary) << content;
    json changed = spec();
    changed["files"][name] = {{"sha256", sha256_hex(content)}, {"bytes", content.size()}};
    write_spec(changed);
  }

  void expect_refused(const std::string& text) {
    const test::ProgramResult result =
        test::run_probe({"verify", bundle_, "-q"}, home_.path());
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
    EXPECT_LE(std::count(result.err.begin(), result.err.end(), '\n'), 5) << result.err;
  }
};

TEST_F(Bundle, TheSelfTestPasses) {
  const test::ProgramResult result = test::run_probe({"verify", bundle_, "--json"}, home_.path());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  for (const json& row : report.at("tables").at(0).at("rows")) {
    EXPECT_EQ(row.at("result"), "ok") << row;
  }
}

// Code that would do more than compute is refused before it runs (tests/data/hostile).
TEST_F(Bundle, ArchivesThatDoMoreThanComputeAreRefused) {
  const std::string folder = PROBE_SOURCE_DIR "/tests/data/hostile/";
  for (const auto& [name, reason] :
       {std::pair{"reads_file", "calls \"torch.from_file\""},
        std::pair{"writes_file", "calls \"torch.save\""}, std::pair{"prints", "calls \"print\""},
        std::pair{"runs_when_loaded", "defines the method \"__getstate__\""}}) {
    replace("image.pt", test::slurp(folder + name + ".pt"));
    expect_refused(reason);
    EXPECT_FALSE(std::filesystem::exists("written-by-a-bundle.pt"));
  }
}

TEST_F(Bundle, ChangedWeightsAreNoticedBeforeLoading) {
  std::string weights = test::slurp(bundle_ / "image.pt");
  weights[weights.size() / 2] ^= 1;
  std::ofstream(bundle_ / "image.pt", std::ios::binary) << weights;
  expect_refused("image.pt");
  std::filesystem::remove(bundle_ / "image.pt");
  expect_refused("image.pt");
}

TEST_F(Bundle, Bugcase16_AnotherModelFailsTheSelfTest) {
  json golden = json::parse(test::slurp(bundle_ / "golden.json"));
  std::reverse(golden["image_embedding"].begin(), golden["image_embedding"].end());
  replace("golden.json", golden.dump());
  expect_refused("failed: image embedding: self-test differs: expected cosine >= ");
}

TEST_F(Bundle, Bugcase22_FilesThatAreNotTorchScript) {
  const std::string whole = test::slurp(bundle_ / "image.pt");
  replace("image.pt", whole.substr(0, whole.size() / 2));
  expect_refused("image.pt: damaged or cut-off TorchScript archive");
  replace("image.pt", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  expect_refused("Git LFS pointer");
  replace("image.pt", std::string("\x40\0\0\0\0\0\0\0", 8) + "{\"weight\":{\"dtype\":\"F32\"}}");
  expect_refused("image.pt: safetensors weights, not TorchScript: export them with probe-export");
  replace("image.pt", "plain text, no archive");
  expect_refused("image.pt: expected a TorchScript archive, got another format");
  replace("image.pt", "");
  std::filesystem::remove(bundle_ / "image.pt");
  std::filesystem::create_directory(bundle_ / "image.pt");
  expect_refused("image.pt");
}

TEST_F(Bundle, Bugcase19_OtherSizeThanTheExport) {
  json changed = spec();
  changed["embedding_dim"] = 256;
  write_spec(changed);
  expect_refused("image.pt: embedding: expected [4, 256] as encoder.json says, got [4, 512]");
}

TEST_F(Bundle, Bugcase23_DeviceInsideTheTrace) {
  replace("image.pt", test::slurp(PROBE_SOURCE_DIR "/tests/data/hostile/baked_device.pt"));
  expect_refused("image.pt: has a device baked in; export it again on this kind of device: ");
}

// The demo bundle is stored in float16 and runs in float32 unless told otherwise; what it runs in
// and what is stored are both said.
TEST_F(Bundle, Bugcase20_HalfPrecisionWeightsAndTypes) {
  EXPECT_EQ(spec().at("stored_dtype"), "float16");
  const std::string photos = PROBE_SOURCE_DIR "/demo/animals/originals";
  std::map<std::string, EmbeddingSet> sets;
  for (const char* dtype : {"float32", "bfloat16"}) {
    const std::string out = home_.path() / (std::string(dtype) + ".h5");
    const auto result = test::run_probe({"embed", photos, "--encoder", bundle_, "--no-text", "--dtype",
                                         dtype, "-o", out, "-q"}, home_.path());
    ASSERT_EQ(result.exit_code, 0) << result.err;
    sets[dtype] = read_embedding_file(out, {});
    EXPECT_EQ(sets[dtype].provenance.compute_dtype, dtype);
  }
  const RowMatrix &full = sets["float32"].embedding, &half = sets["bfloat16"].embedding;
  ASSERT_EQ(full.rows(), 22);
  EXPECT_NE(full, half);
  for (Eigen::Index i = 0; i < full.rows(); ++i) {
    EXPECT_GE(full.row(i).dot(half.row(i)) / (full.row(i).norm() * half.row(i).norm()), 0.999f) << i;
  }
  const auto refused = test::run_probe({"embed", photos, "--dtype", "fp8", "-o", "x.h5"}, home_.path());
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--dtype: "), std::string::npos) << refused.err;
}

TEST_F(Bundle, UnknownFieldsAreRefused) {
  json changed = spec();
  changed["colour"] = 1;
  write_spec(changed);
  expect_refused("colour");
}

TEST_F(Bundle, DeviceWithoutCudaIsRefusedClearly) {
  const test::ProgramResult result =
      test::run_probe({"verify", bundle_, "-q", "--device", "cuda"}, home_.path());
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("--device cuda: this LibTorch has no CUDA device"), std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace probe

#include "encoders/spec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

using nlohmann::json;

// Success if `text` holds `part`.
testing::AssertionResult holds(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << text << "\" lacks \"" << part << '"';
}

class SpecTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) const {
    temp_.write(name, content);
  }

  EncoderSpec read(const json& document) const {
    write("encoder.json", document.dump());
    return read_spec(folder_);
  }

  // The message of the error that reading `document` throws.
  std::string refusal(const json& document) const { return refusal_of_text(document.dump()); }

  std::string refusal_of_text(const std::string& text) const {
    write("encoder.json", text);
    try {
      read_spec(folder_);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::model);
      const std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos);
      const std::string start = (folder_ / "encoder.json").string() + ": ";
      EXPECT_TRUE(holds(message, start));
      return message.substr(std::min(start.size(), message.size()));
    }
    return "accepted";
  }

  std::string refusal_after(const std::function<void(json&)>& change) const {
    json document = valid();
    change(document);
    return refusal(document);
  }

  static json valid() {
    const std::string hash(64, 'a');
    json document = json::parse(R"({
      "format": "probe-encoder", "format_version": 1, "name": "tiny-clip", "family": "clip",
      "architecture": "CLIP ViT-Tiny/16",
      "source": {"checkpoint": "made up", "revision": null, "weights_sha256": null,
                 "exporter": "0.1", "torch": "2.13.0"},
      "licence": "MIT", "stored_dtype": "float16", "embedding_dim": 64,
      "image": {"file": "image.pt", "size": 224,
        "resize": {"rule": "shortest", "to": 224, "interpolation": "bicubic"},
        "crop": {"rule": "center", "rounding": "half_even"},
        "mean": [0.48145466, 0.4578275, 0.40821073],
        "std": [0.26862954, 0.26130258, 0.27577711], "patch": 16,
        "layers": [
          {"name": "last", "tokens": 197, "width": 32, "prefix_tokens": 1, "post_norm": true},
          {"name": "-2", "tokens": 197, "width": 32, "prefix_tokens": 1, "post_norm": false}],
        "match_layer": "-2"},
      "text": {"file": "text.pt", "context_length": 77,
        "tokenizer": {"type": "clip_bpe", "file": "merges.txt.gz", "lowercase": true,
          "clean": "ftfy", "canonicalize": "none", "start_id": 49406, "end_id": 49407,
          "pad_id": 0},
        "known_ids_file": "known.json"},
      "logits": {"scale_log": 4.6052, "bias": null, "probability": "softmax"},
      "templates": ["a photo of a {}."],
      "golden": "golden.json"
    })");
    for (const char* name :
         {"image.pt", "text.pt", "merges.txt.gz", "known.json", "golden.json", "golden.png"}) {
      document["files"][name] = {{"sha256", hash}, {"bytes", 7}};
    }
    return document;
  }

  test::TempDir temp_;
  std::filesystem::path folder_ = temp_.path();
};

TEST_F(SpecTest, ReadsEveryField) {
  const EncoderSpec spec = read(valid());
  EXPECT_EQ(spec.folder, folder_);
  EXPECT_EQ(spec.bundle_sha256, sha256_hex(valid().dump()));
  EXPECT_EQ(spec.name, "tiny-clip");
  EXPECT_EQ(spec.family, "clip");
  EXPECT_EQ(spec.architecture, "CLIP ViT-Tiny/16");
  EXPECT_EQ(spec.description, "");
  EXPECT_EQ(spec.source.at("torch"), "2.13.0");
  EXPECT_FALSE(spec.source.contains("revision"));
  EXPECT_EQ(spec.licence, "MIT");
  EXPECT_EQ(spec.stored_dtype, "float16");
  EXPECT_EQ(spec.embedding_dim, 64);
  EXPECT_EQ(spec.image_file, "image.pt");
  EXPECT_EQ(spec.image.size, 224);
  EXPECT_EQ(spec.image.resize, ResizeRule::shortest);
  EXPECT_EQ(spec.image.resize_to, 224);
  EXPECT_EQ(spec.image.interpolation, Interpolation::bicubic);
  EXPECT_EQ(spec.image.crop, CropRule::center);
  EXPECT_EQ(spec.image.crop_rounding, CropRounding::half_even);
  EXPECT_FLOAT_EQ(spec.image.mean[2], 0.40821073f);
  EXPECT_FLOAT_EQ(spec.image.std[0], 0.26862954f);
  EXPECT_EQ(spec.patch, 16);
  ASSERT_EQ(spec.layers.size(), 2u);
  EXPECT_EQ(spec.layers[1].name, "-2");
  EXPECT_EQ(spec.layers[1].tokens, 197);
  EXPECT_EQ(spec.layers[1].width, 32);
  EXPECT_EQ(spec.layers[1].prefix_tokens, 1);
  EXPECT_TRUE(spec.layers[0].post_norm);
  ASSERT_TRUE(spec.text);
  EXPECT_EQ(spec.text->file, "text.pt");
  EXPECT_EQ(spec.text->context_length, 77);
  EXPECT_EQ(spec.text->known_ids_file, "known.json");
  EXPECT_EQ(spec.text->tokenizer.type, TokenizerType::clip_bpe);
  EXPECT_TRUE(spec.text->tokenizer.clean_ftfy);
  EXPECT_FALSE(spec.text->tokenizer.canonicalize_siglip);
  EXPECT_EQ(spec.text->tokenizer.end_id, 49407);
  EXPECT_DOUBLE_EQ(*spec.logit_scale_log, 4.6052);
  EXPECT_FALSE(spec.logit_bias);
  EXPECT_EQ(spec.probability, ProbabilityRule::softmax);
  EXPECT_EQ(spec.templates, std::vector<std::string>{"a photo of a {}."});
  EXPECT_EQ(spec.files.at("golden.png").bytes, 7u);
  EXPECT_EQ(spec.golden_file, "golden.json");
}

TEST_F(SpecTest, ReadsAVisionOnlyTowerThatPads) {
  json document = valid();
  document["text"] = nullptr;
  document["embedding_dim"] = 0;
  document["family"] = "internvit";
  document["image"]["resize"] = {{"rule", "pad"}, {"to", 224}, {"interpolation", "bilinear"}};
  document["image"]["crop"] = {{"rule", "none"}};
  document["image"]["fill"] = {0, 128, 255};
  const EncoderSpec spec = read(document);
  EXPECT_FALSE(spec.text);
  EXPECT_EQ(spec.image.resize, ResizeRule::pad);
  EXPECT_EQ(spec.image.fill[2], 255);
}

TEST_F(SpecTest, FindsLayers) {
  const EncoderSpec spec = read(valid());
  EXPECT_EQ(find_layer(spec, "").name, "-2");
  EXPECT_EQ(find_layer(spec, "last").post_norm, true);
  try {
    find_layer(spec, "-3");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(),
                 "layer: expected one of the layers of encoder tiny-clip (last, -2), got -3");
  }
}

TEST_F(SpecTest, RefusesWhatIsNoBundle) {
  EXPECT_TRUE(holds(refusal_of_text("{"), "expected JSON, got "));
  EXPECT_EQ(refusal_of_text("[1]"), "expected an object, got a list of 1");
  EXPECT_TRUE(holds(refusal_of_text("{\"a\": 1, \"a\": 2}"),
                    "expected each field once, got \"a\" twice"));
  EXPECT_TRUE(holds(refusal_of_text("{\"a\": " + std::string(100000, '[')),
                    "expected at most 16 levels of nesting"));
  EXPECT_TRUE(
      holds(refusal_of_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
            "Git LFS pointer: run git lfs pull"));
  std::filesystem::remove(folder_ / "encoder.json");
  try {
    read_spec(folder_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model);
    EXPECT_TRUE(holds(error.what(), "expected a folder with encoder.json"));
    EXPECT_TRUE(holds(error.what(), folder_.string()));
  }
}

TEST_F(SpecTest, RefusesAFileOfMoreThan16MiB) {
  json document = valid();
  document["description"] = std::string(17 << 20, 'x');
  write("encoder.json", document.dump());
  EXPECT_THROW(read_spec(folder_), Error);
}

TEST_F(SpecTest, NamesTheFieldTheNeedAndWhatCame) {
  const auto set = [&](const char* pointer, const json& value) {
    return refusal_after([&](json& d) { d[json::json_pointer(pointer)] = value; });
  };
  EXPECT_EQ(set("/format", "other"), "format: expected probe-encoder, got \"other\"");
  EXPECT_EQ(set("/format_version", 2),
            "format_version: expected a whole number from 1 to 1, got 2");
  EXPECT_TRUE(holds(set("/name", "../evil"), "name: expected at most 128 of a-z"));
  EXPECT_TRUE(holds(set("/family", "bert"), "internvit or demo, got \"bert\""));
  EXPECT_EQ(set("/licence", ""), "licence: expected a text that is not empty, got \"\"");
  EXPECT_EQ(set("/source/torch", 2), "source.torch: expected a text or null, got 2");
  EXPECT_EQ(set("/image/size", 4097),
            "image.size: expected a whole number from 1 to 4096, got 4097");
  EXPECT_EQ(set("/image/size", 224.5),
            "image.size: expected a whole number from 1 to 4096, got 224.5");
  EXPECT_EQ(set("/image/std", {0.5, 0.0, 0.5}),
            "image.std: expected 3 numbers from 1e-06 to 1000000.0, got 0.0");
  EXPECT_EQ(set("/image/mean", {0.5, 0.5}),
            "image.mean: expected 3 numbers from -10.0 to 10.0, got a list of 2");
  EXPECT_EQ(set("/image/file", "../image.pt"),
            "image.file: expected a plain file name in the bundle, got \"../image.pt\"");
  EXPECT_EQ(set("/image/layers/1/prefix_tokens", 197),
            "image.layers[1].prefix_tokens: expected a whole number from 0 to 196, got 197");
  EXPECT_EQ(set("/image/layers/1/name", "last"),
            "image.layers[1].name: expected a name that no other layer has, got last");
  EXPECT_EQ(set("/image/match_layer", "-7"),
            "image.match_layer: expected the name of one of image.layers, got \"-7\"");
  EXPECT_EQ(set("/text/tokenizer/lowercase", 1),
            "text.tokenizer.lowercase: expected true or false, got 1");
  EXPECT_EQ(set("/text/context_length", 1),
            "text.context_length: expected a whole number from 2 to 65536, got 1");
  EXPECT_EQ(set("/embedding_dim", 0),
            "embedding_dim: expected at least 1 in a bundle with a text tower, got 0");
  EXPECT_EQ(set("/logits/scale_log", "4.6"),
            "logits.scale_log: expected a number from -50.0 to 50.0 or null, got \"4.6\"");
  EXPECT_EQ(set("/templates", json::array()),
            "templates: expected a list of 1 to 10000 texts, got a list of 0");
  EXPECT_EQ(set("/templates/0", "a photo"),
            "templates: expected texts with {} for the name, got \"a photo\"");
  EXPECT_EQ(set("/files/image.pt/sha256", "ABC"),
            "files.image.pt.sha256: expected 64 lower-case hex digits, got \"ABC\"");
  EXPECT_EQ(set("/files/image.pt/bytes", -1),
            "files.image.pt.bytes: expected a whole number from 0 to 1125899906842624, got -1");
  EXPECT_EQ(refusal_after([](json& d) { d["files"]["../x"] = d["files"]["image.pt"]; }),
            "files.\"../x\": expected plain names of files beside encoder.json, got this name");
  EXPECT_EQ(refusal_after([](json& d) { d["files"].erase("text.pt"); }),
            "files: expected an entry for every file that the bundle names, got none for "
            "\"text.pt\"");
  EXPECT_EQ(refusal_after([](json& d) { d.erase("licence"); }),
            "licence: expected a text that is not empty, got nothing");
}

TEST_F(SpecTest, RefusesUnknownFieldsAtEveryLevel) {
  for (const char* pointer : {"/new", "/source/new", "/image/new", "/image/resize/new",
                              "/image/crop/new", "/image/layers/0/new", "/text/new",
                              "/text/tokenizer/new", "/logits/new", "/files/image.pt/new"}) {
    EXPECT_TRUE(holds(refusal_after([&](json& d) { d[json::json_pointer(pointer)] = 1; }),
                      "new: expected only fields that bundle format 1 has"))
        << pointer;
  }
}

TEST_F(SpecTest, RefusesGeometryThatDoesNotGiveASquareOfTheSize) {
  const auto geometry = [&](const char* rule, int to, const char* crop) {
    return refusal_after([&](json& d) {
      d["image"]["resize"]["rule"] = rule;
      d["image"]["resize"]["to"] = to;
      d["image"]["crop"]["rule"] = crop;
    });
  };
  EXPECT_EQ(geometry("shortest", 224, "none"),
            "image.crop.rule: expected center after resize rule shortest, got none");
  EXPECT_EQ(geometry("shortest", 200, "center"),
            "image.resize.to: expected at least image.size 224, got 200");
  EXPECT_EQ(geometry("squash", 256, "none"),
            "image.resize.to: expected image.size 224 as nothing is cropped, got 256");
  EXPECT_EQ(geometry("pad", 256, "center"),
            "image.crop.rule: expected none after resize rule pad, got center");
  EXPECT_EQ(geometry("squash", 256, "center"), "accepted");
  EXPECT_EQ(refusal_after([](json& d) {
              d["image"]["fill"] = {0, 0, 0};
            }),
            "image.fill: expected no fill without rule pad, got a list of 3");
}

TEST_F(SpecTest, VerifiesSizeAndHashOfEveryFile) {
  json document = valid();
  for (const auto& [name, entry] : document["files"].items()) {
    const std::string content = "content of " + name;
    write(name, content);
    document["files"][name] = {{"sha256", sha256_hex(content)}, {"bytes", content.size()}};
  }
  const EncoderSpec spec = read(document);
  verify_files(spec);

  const auto problem = [&] {
    try {
      verify_files(spec);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::model);
      return std::string(error.what());
    }
    return std::string("none");
  };
  const std::string path = (folder_ / "text.pt").string();
  write("text.pt", "content of text.pT");
  EXPECT_TRUE(holds(problem(), path + ": expected SHA-256 "));
  write("text.pt", "content");
  EXPECT_EQ(problem(), path + ": expected 18 bytes listed in encoder.json, got 7 bytes");
  write("text.pt", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 18\n");
  EXPECT_EQ(problem(), path +
                           ": expected 18 bytes listed in encoder.json, got a Git LFS "
                           "pointer: run git lfs pull");
  std::filesystem::remove(folder_ / "text.pt");
  EXPECT_EQ(problem(), path + ": expected the file listed in encoder.json, got no such file");
  std::filesystem::create_directory(folder_ / "text.pt");
  EXPECT_EQ(problem(),
            path + ": expected the file listed in encoder.json, got no regular file");
}

TEST_F(SpecTest, PreprocessingJsonTellsSpecsApart) {
  const ImageSpec image = read(valid()).image;
  const std::string text = preprocessing_json(image);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const json parsed = json::parse(text);
  EXPECT_EQ(parsed["resize"], "shortest");
  EXPECT_EQ(parsed["to"], 224);
  EXPECT_EQ(parsed["version"], 1);
  ImageSpec other = image;
  other.crop_rounding = CropRounding::floor;
  EXPECT_NE(preprocessing_json(other), text);
  other = image;
  other.std[1] = std::nextafter(other.std[1], 1.0f);
  EXPECT_NE(preprocessing_json(other), text);
}

}  // namespace
}  // namespace probe

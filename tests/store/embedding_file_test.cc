// Written by us and read with bare HDF5 calls, and the reverse (FORMAT.md): a mistake in
// layout would cancel out if our reader checked our writer.
#include "probe/store/embedding_file.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <limits>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

EmbeddingSet sample() {
  EmbeddingSet set;
  set.provenance = {"demo", "a demo encoder", std::string(64, 'a'), "{\"size\":224}",
                    "last", "mean of patch tokens", "float32", "torchscript 2.13.0",
                    "probe embed", {{"probe", "0.1.0"}}};
  set.items = {{"x", "狐"}, {"x.jpg", "y.jpg"}, {"fig", ""}, {"original", "color"},
               {"", "x"},  {"", "deep red"},    {std::string(64, 'b'), std::string(64, 'c')}};
  set.embedding.resize(2, 3);
  set.embedding << 1, 2, 3, -4, 0.5f, 1e-3f;
  set.mean_tokens.resize(2, 2);
  set.mean_tokens << 10, 20, 30, 40;
  set.tokens.resize(2, 4);  // two tokens of width 2
  set.tokens << 1, 2, 3, 4, 5, 6, 7, 8;
  set.token_count = 2;
  set.prompts = {"a fig"};
  set.text_embedding.resize(1, 3);
  set.text_embedding << 7, 8, 9;
  return set;
}

// Bare HDF5 calls from here on; every identifier is closed with the process.
std::string bare_string_attribute(hid_t file, const char* name) {
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute);
  char* value = nullptr;
  EXPECT_GT(H5Tis_variable_str(type), 0);
  EXPECT_EQ(H5Tget_cset(type), H5T_CSET_UTF8);
  EXPECT_GE(H5Aread(attribute, type, &value), 0);
  return value == nullptr ? "" : value;
}

std::vector<hsize_t> bare_shape(hid_t dataset) {
  const hid_t space = H5Dget_space(dataset);
  std::vector<hsize_t> dims(H5Sget_simple_extent_ndims(space));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  return dims;
}

TEST(EmbeddingFile, BareHdf5ReadsWhatWeWrite) {
  const test::TempDir folder;
  const auto path = folder.path() / "out.h5";
  write_embedding_file(sample(), path, {});
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  EXPECT_EQ(bare_string_attribute(file, "format"), "probe-embeddings");
  EXPECT_EQ(bare_string_attribute(file, "schema_version"), "1");
  EXPECT_EQ(bare_string_attribute(file, "bundle_sha256"), std::string(64, 'a'));
  EXPECT_EQ(bare_string_attribute(file, "dtype"), "float32");
  EXPECT_EQ(bare_string_attribute(file, "versions"), "{\"probe\":\"0.1.0\"}");
  EXPECT_EQ(bare_string_attribute(file, "tiles"), "{\"scheme\":\"whole\"}");
  EXPECT_EQ(bare_string_attribute(file, "complete"), "true");
  const hid_t embedding = H5Dopen2(file, "/image/embedding", H5P_DEFAULT);
  EXPECT_EQ(bare_shape(embedding), (std::vector<hsize_t>{2, 3}));
  float values[6] = {};
  H5Dread(embedding, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  EXPECT_EQ(values[3], -4.0f);
  EXPECT_EQ(values[5], 1e-3f);
  EXPECT_EQ(bare_shape(H5Dopen2(file, "/image/tokens", H5P_DEFAULT)),
            (std::vector<hsize_t>{2, 2, 2}));
  const hid_t ids = H5Dopen2(file, "/items/id", H5P_DEFAULT);
  char* names[2] = {};
  H5Dread(ids, H5Dget_type(ids), H5S_ALL, H5S_ALL, H5P_DEFAULT, names);
  EXPECT_STREQ(names[1], "狐");
  H5Fclose(file);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

void bare_write_strings(hid_t parent, const char* name, std::vector<const char*> values) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const hsize_t size = values.size();
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  const hid_t data =
      H5Dcreate2(parent, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(data);
}

void bare_write_attribute(hid_t file, const char* name, const char* value) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t attribute =
      H5Acreate2(file, name, type, H5Screate(H5S_SCALAR), H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, &value);
  H5Aclose(attribute);
}

// A file as another program would write it: contiguous, no text, fixed little-endian.
void write_bare_file(const std::filesystem::path& path, const char* version,
                     hsize_t width, bool lie) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (const char* name : {"encoder", "architecture", "bundle_sha256", "preprocessing", "layer",
                           "pooling", "compute_dtype", "runtime", "command_line"}) {
    bare_write_attribute(file, name, name);
  }
  bare_write_attribute(file, "format", "probe-embeddings");
  bare_write_attribute(file, "schema_version", version);
  bare_write_attribute(file, "versions", "{}");
  const hid_t items = H5Gcreate2(file, "items", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  for (const char* name : {"id", "path", "category", "condition", "original_id", "attribute",
                           "content_sha256"}) {
    bare_write_strings(items, name, {"p", "q"});
  }
  const hid_t image = H5Gcreate2(file, "image", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t dims[2] = {2, width};
  const hid_t space = H5Screate_simple(2, dims, nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (lie) {  // chunked and never written: the file stores nothing of it
    const hsize_t chunk[2] = {1, 1024};
    H5Pset_chunk(properties, 2, chunk);
  }
  const hid_t data = H5Dcreate2(image, "mean_tokens", H5T_IEEE_F32LE, space, H5P_DEFAULT,
                                properties, H5P_DEFAULT);
  const float values[4] = {1, 2, 3, 4};
  if (!lie) H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(data);
  H5Gclose(items);
  H5Gclose(image);
  H5Fclose(file);
}

TEST(EmbeddingFile, WeReadWhatBareHdf5Writes) {
  const test::TempDir folder;
  const auto path = folder.path() / "bare.h5";
  write_bare_file(path, "1", 2, false);
  const EmbeddingSet set = read_embedding_file(path, {});
  EXPECT_EQ(set.items.id, (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(set.provenance.layer, "layer");
  EXPECT_EQ(set.provenance.tiles, kWholeImage);  // as files from before tiles
  EXPECT_EQ(set.mean_tokens(1, 0), 3.0f);
  EXPECT_EQ(set.embedding.cols(), 0);
  EXPECT_TRUE(set.prompts.empty());
}

TEST(EmbeddingFile, RoundTripInBothTypes) {
  const test::TempDir folder;
  EmbeddingSet wanted = sample();
  wanted.provenance.tiles = "{\"scheme\":\"anyres\"}";
  for (const StoredType type : {StoredType::float32, StoredType::float16}) {
    const auto path = folder.path() / "out.h5";
    write_embedding_file(wanted, path, {type});
    const EmbeddingSet found = read_embedding_file(path, {true, true, true, true});
    EXPECT_EQ(found.provenance, wanted.provenance);
    EXPECT_EQ(found.items, wanted.items);
    EXPECT_EQ(found.prompts, wanted.prompts);
    EXPECT_EQ(found.token_count, 2);
    const float tolerance = type == StoredType::float16 ? 1e-3f : 0.0f;
    EXPECT_TRUE(found.embedding.isApprox(wanted.embedding, tolerance));
    EXPECT_TRUE(found.tokens.isApprox(wanted.tokens, tolerance));
    EXPECT_TRUE(found.text_embedding.isApprox(wanted.text_embedding, tolerance));
  }
}

TEST(EmbeddingFile, RefusesOtherVersionsAndForeignFiles) {
  const test::TempDir folder;
  const auto path = folder.path() / "new.h5";
  write_bare_file(path, "2", 2, false);
  EXPECT_PROBE_ERROR(read_embedding_file(path, {}), ErrorKind::input,
                     "new.h5: expected schema version 1, got \"2\"");
  EXPECT_PROBE_ERROR(read_embedding_file(folder.write("t.h5", "plain text"), {}),
                     ErrorKind::input, "t.h5: expected an HDF5 file, got another format");
  EXPECT_PROBE_ERROR(read_embedding_file(folder.path() / "no.h5", {}), ErrorKind::io,
                     "no.h5: no such file");
}

// Dimensions that the file's bytes cannot hold are refused before memory is asked for.
TEST(EmbeddingFile, RefusesAbsurdDimensions) {
  const test::TempDir folder;
  const auto path = folder.path() / "lie.h5";
  write_bare_file(path, "1", hsize_t{1} << 40, true);
  EXPECT_PROBE_ERROR(read_embedding_file(path, {}), ErrorKind::input,
                     "lie.h5:/image/mean_tokens: expected 8796093022208 bytes for [2, "
                     "1099511627776], got 0");
}

TEST(EmbeddingFile, RefusesNaNWithItsRow) {
  const test::TempDir folder;
  const auto path = folder.path() / "nan.h5";
  write_bare_file(path, "1", 2, false);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, "/image/mean_tokens", H5P_DEFAULT);
  const float values[4] = {1, 2, std::numeric_limits<float>::quiet_NaN(), 4};
  H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(data);
  H5Fclose(file);
  EXPECT_PROBE_ERROR(read_embedding_file(path, {}), ErrorKind::input,
                     "nan.h5:/image/mean_tokens: row 1: expected finite values, got NaN");
}

TEST(EmbeddingFile, RefusesExternalLinks) {
  const test::TempDir folder;
  const auto path = folder.path() / "link.h5";
  write_bare_file(path, "1", 2, false);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Lcreate_external("/etc/other.h5", "/x", file, "/image/embedding", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_PROBE_ERROR(read_embedding_file(path, {}), ErrorKind::input,
                     "/image/embedding: is a soft or external link, which is refused");
}

TEST(EmbeddingFile, TruncatedFileIsOneSentence) {
  const test::TempDir folder;
  const auto path = folder.path() / "cut.h5";
  write_embedding_file(sample(), path, {});
  std::filesystem::resize_file(path, 900);
  EXPECT_PROBE_ERROR(read_embedding_file(path, {}), ErrorKind::io, "cut.h5: cannot open (another process may have it open");
}

TEST(EmbeddingFile, WriterRefusesNaNOverflowAndUnequalSizes) {
  const test::TempDir folder;
  const auto path = folder.path() / "bad.h5";
  EmbeddingSet set = sample();
  set.embedding(0, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_PROBE_ERROR(write_embedding_file(set, path, {}), ErrorKind::input,
                     "/image/embedding: expected finite values, got NaN or infinity");
  set = sample();
  set.embedding(1, 2) = 70000;  // BUGCASES 20: never a silent infinity
  EXPECT_PROBE_ERROR(write_embedding_file(set, path, {StoredType::float16}), ErrorKind::input,
                     "row 1: 70000.000000 does not fit float16");
  set = sample();
  set.items.category.pop_back();
  EXPECT_PROBE_ERROR(write_embedding_file(set, path, {}), ErrorKind::input,
                     "/items/category: expected 2 rows, got 1");
  set = sample();
  set.text_embedding = RowMatrix::Ones(1, 2);
  EXPECT_PROBE_ERROR(write_embedding_file(set, path, {}), ErrorKind::input,
                     "/text/embedding: expected width 3 as /image/embedding, got 2");
  set = sample();
  set.items.id = {"x", "x"};
  EXPECT_PROBE_ERROR(write_embedding_file(set, path, {}), ErrorKind::input,
                     "\"x\" stands twice");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Whole rows a chunk, about a megabyte at most, and little overhead.
TEST(Bugcase37, ChunkLayout) {
  const test::TempDir folder;
  EmbeddingSet set = sample();
  set.items = {};
  for (int i = 0; i < 4096; ++i) {
    set.items.id.push_back("item " + std::to_string(i));
    for (auto* column : {&set.items.path, &set.items.category, &set.items.condition,
                         &set.items.original_id, &set.items.attribute,
                         &set.items.content_sha256}) {
      column->push_back("");
    }
  }
  set.prompts.clear();
  set.text_embedding.resize(0, 0);
  set.embedding = RowMatrix::Random(4096, 768);
  set.mean_tokens = set.tokens = RowMatrix(4096, 0);
  set.token_count = 0;
  const auto path = folder.path() / "rows.h5";
  write_embedding_file(set, path, {});
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, "/image/embedding", H5P_DEFAULT);
  hsize_t chunk[2] = {};
  ASSERT_EQ(H5Pget_chunk(H5Dget_create_plist(data), 2, chunk), 2);
  EXPECT_EQ(chunk[1], 768u);
  EXPECT_EQ(chunk[0], 256u);
  H5Fclose(file);
  EXPECT_LT(std::filesystem::file_size(path), 1.1 * 4096 * 768 * 4);
}

}  // namespace
}  // namespace probe

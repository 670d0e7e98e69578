// Block by block against the whole file read at once.
#include "probe/store/embedding_rows.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <limits>

#include "probe/store/embedding_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/made_up_file.h"
#include "tests/support/temp_dir.h"

namespace probe {
namespace {

TEST(EmbeddingRows, BlocksAreTheFilesRows) {
  const test::TempDir folder;
  for (const StoredType type : {StoredType::float32, StoredType::float16}) {
    const auto path = folder.path() / "x.h5";
    write_embedding_file(test::made_up_set("demo", 700, 6, 1), path, {type});
    const EmbeddingSet whole = read_embedding_file(path, {});
    const EmbeddingRows embedding(path, VectorKind::embedding, false);
    const EmbeddingRows tokens(path, VectorKind::mean_tokens, false);
    ASSERT_EQ(embedding.size(), 700);
    EXPECT_EQ(embedding.width(), whole.embedding.cols());
    EXPECT_EQ(tokens.width(), whole.mean_tokens.cols());
    for (const auto& [first, count] : {std::pair{0, 700}, {0, 1}, {255, 3}, {699, 1}, {300, 257}}) {
      EXPECT_EQ(embedding.read(first, count), whole.embedding.middleRows(first, count));
      EXPECT_EQ(tokens.read(first, count), whole.mean_tokens.middleRows(first, count));
    }
  }
}

TEST(EmbeddingRows, AFileWithoutThemHasNone) {
  const test::TempDir folder;
  EmbeddingSet set = test::made_up_set("demo", 3, 6, 1);
  set.mean_tokens.resize(3, 0);
  write_embedding_file(set, folder.path() / "x.h5", {});
  const EmbeddingRows rows(folder.path() / "x.h5", VectorKind::mean_tokens, false);
  EXPECT_EQ(rows.size(), 0);
  EXPECT_EQ(rows.width(), 0);
}

// Written by HDF5 itself, since our writer refuses it.
TEST(EmbeddingRows, ANaNIsNamedByItsRow) {
  const test::TempDir folder;
  const auto path = folder.path() / "x.h5";
  write_embedding_file(test::made_up_set("demo", 40, 6, 1), path, {});
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, "/image/embedding", H5P_DEFAULT);
  EmbeddingSet set = test::made_up_set("demo", 40, 6, 1);
  set.embedding(31, 2) = std::numeric_limits<float>::infinity();
  ASSERT_GE(H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, set.embedding.data()), 0);
  H5Dclose(data);
  H5Fclose(file);
  const EmbeddingRows rows(path, VectorKind::embedding, false);
  EXPECT_NO_THROW(rows.read(0, 31));
  EXPECT_PROBE_ERROR(rows.read(20, 20), ErrorKind::input,
                     "x.h5:/image/embedding: row 31: expected finite values, got NaN or infinity");
}

}  // namespace
}  // namespace probe

// Embedding files, read whole.
#include "probe/store/embedding_file.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probe;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fuzz::accept_error([&] {
    const auto path = fuzz::write_file("vectors.h5", bytes);
    const EmbeddingSet set = read_embedding_file(path, {true, true, true, true});
    const auto items = static_cast<Eigen::Index>(set.items.size());
    for (const RowMatrix* rows : {&set.embedding, &set.mean_tokens, &set.tokens}) {
      FUZZ_EXPECT(rows->size() == 0 || rows->rows() == items);
      FUZZ_EXPECT(rows->allFinite());
    }
    FUZZ_EXPECT(set.items.path.size() == set.items.size());
    FUZZ_EXPECT(set.token_count >= 0);
    FUZZ_EXPECT(set.tokens.size() == 0 || set.tokens.cols() % set.token_count == 0);
    FUZZ_EXPECT(set.text_embedding.size() == 0 ||
                set.text_embedding.rows() == static_cast<Eigen::Index>(set.prompts.size()));
    FUZZ_EXPECT(set.text_embedding.allFinite());
  });
  return 0;
}

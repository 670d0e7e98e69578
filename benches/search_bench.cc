// Top-5 search: ours (exact, order of ties fixed) against FAISS IndexFlatIP on the same
// unit rows. Columns: queries in a batch, rows of the gallery.
#include <benchmark/benchmark.h>
#include <faiss/IndexFlat.h>

#include <random>

#include "index/flat_index.h"

namespace {

constexpr int kWidth = 1152;  // SigLIP SO400M
constexpr int kNeighbors = 5;

probe::RowMatrix random_unit_rows(std::int64_t rows, int seed) {
  std::mt19937 generator(static_cast<unsigned>(seed));
  std::normal_distribution<float> normal;
  probe::RowMatrix matrix(rows, kWidth);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = normal(generator);
  return probe::unit_rows(matrix);
}

void ours(benchmark::State& state) {
  const probe::RowMatrix queries = random_unit_rows(state.range(0), 1);
  const probe::FlatIndex index(random_unit_rows(state.range(1), 2));
  for (auto _ : state) {
    benchmark::DoNotOptimize(index.search(queries, kNeighbors, {}));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void faiss_flat(benchmark::State& state) {
  const probe::RowMatrix queries = random_unit_rows(state.range(0), 1);
  const probe::RowMatrix gallery = random_unit_rows(state.range(1), 2);
  faiss::IndexFlatIP index(kWidth);
  index.add(gallery.rows(), gallery.data());
  std::vector<float> scores(queries.rows() * kNeighbors);
  std::vector<faiss::Index::idx_t> rows(scores.size());
  for (auto _ : state) {
    index.search(queries.rows(), queries.data(), kNeighbors, scores.data(), rows.data());
    benchmark::DoNotOptimize(rows.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// The small ones are for a test that all of it runs.
void sizes(benchmark::internal::Benchmark* job) {
  for (const int queries : {1000, 1}) job->Args({queries, 100'000});
  job->Args({64, 10'000});
  job->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK(ours)->Apply(sizes);
BENCHMARK(faiss_flat)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();

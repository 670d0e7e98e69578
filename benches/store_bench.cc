// Embedding files against the bare system: 32,768 x 1152 vectors, 151 MB. Writing ends with fsync on both
// sides. Reading ours includes the check of every value.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <random>
#include <stdexcept>
#include <string>

#include "probe/store/embedding_file.h"
#include "probe/store/embedding_rows.h"
#include "tests/support/temp_dir.h"

namespace {

constexpr int kRows = 32768, kWidth = 1152;

probe::EmbeddingSet random_set() {
  probe::EmbeddingSet set;
  set.mean_tokens.resize(kRows, kWidth);
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (Eigen::Index i = 0; i < set.mean_tokens.size(); ++i) {
    set.mean_tokens.data()[i] = normal(generator);
  }
  set.embedding.resize(kRows, 0);
  for (int i = 0; i < kRows; ++i) {
    set.items.id.push_back("item-" + std::to_string(i));
    set.items.path.push_back("photos/" + std::to_string(i) + ".jpg");
    set.items.category.push_back("category");
    set.items.condition.push_back("original");
    set.items.original_id.emplace_back();
    set.items.attribute.emplace_back();
    set.items.content_sha256.push_back(std::string(64, '0'));
  }
  return set;
}

void write_ours(benchmark::State& state) {
  const probe::test::TempDir folder;
  const probe::EmbeddingSet set = random_set();
  for (auto _ : state) probe::write_embedding_file(set, folder.path() / "x.h5", {});
  state.SetBytesProcessed(state.iterations() * set.mean_tokens.size() * 4);
}

void write_raw(benchmark::State& state) {
  const probe::test::TempDir folder;
  const probe::EmbeddingSet set = random_set();
  const std::size_t bytes = set.mean_tokens.size() * 4;
  for (auto _ : state) {
    const std::string aside = (folder.path() / "x.partial").string();
    const int fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const char* at = reinterpret_cast<const char*>(set.mean_tokens.data());
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t wrote = ::write(fd, at + done, bytes - done);
      if (wrote <= 0) throw std::runtime_error("write failed");
      done += static_cast<std::size_t>(wrote);
    }
    ::fsync(fd);
    ::close(fd);
    ::rename(aside.c_str(), (folder.path() / "x.raw").c_str());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void read_halves_ours(benchmark::State& state) {
  const probe::test::TempDir folder;
  probe::write_embedding_file(random_set(), folder.path() / "x.h5", {probe::StoredType::float16});
  for (auto _ : state) {
    // Opening and the child process that opens it first are part of it.
    const probe::EmbeddingRows file(folder.path() / "x.h5", probe::VectorKind::mean_tokens, false);
    benchmark::DoNotOptimize(file.read(0, file.size()));
  }
  state.SetBytesProcessed(state.iterations() * std::int64_t{kRows} * kWidth * 2);
}

void read_halves_hdf5(benchmark::State& state) {
  const probe::test::TempDir folder;
  probe::write_embedding_file(random_set(), folder.path() / "x.h5", {probe::StoredType::float16});
  for (auto _ : state) {
    probe::RowMatrix rows(kRows, kWidth);
    const hid_t file = H5Fopen((folder.path() / "x.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t data = H5Dopen2(file, "/image/mean_tokens", H5P_DEFAULT);
    if (H5Dread(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0) {
      throw std::runtime_error("H5Dread failed");
    }
    H5Dclose(data);
    H5Fclose(file);
    benchmark::DoNotOptimize(rows.data());
  }
  state.SetBytesProcessed(state.iterations() * std::int64_t{kRows} * kWidth * 2);
}

BENCHMARK(write_ours)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(write_raw)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(read_halves_ours)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(read_halves_hdf5)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();

#include "index/approximate_index.h"

#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVFFlat.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/invlists/OnDiskInvertedLists.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "index/exact_score.h"
#include "probe/core/error.h"

namespace probe {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kRowsForEachList = 50;
constexpr std::int64_t kRowsOfASlice = 64;  // of the sample: rows that lie together in a file
constexpr int kLinks = 32;                  // of each node of the graph
constexpr int kValuesForEachCode = 8;
constexpr int kBitsOfACode = 8;

// A file of our own for as long as the index lives.
class ListsFile {
 public:
  // Of `bytes`, all of them on disk: FAISS writes through a mapping, where a full disk would end
  // the process.
  ListsFile(const fs::path& folder, std::size_t bytes)
      : path_((folder / "probe-lists-XXXXXX").string()) {
    const int fd = ::mkstemp(path_.data());
    if (fd < 0) fail(folder, errno);
    const int code = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    ::close(fd);
    if (code == 0) return;
    ::unlink(path_.c_str());
    fail(folder, code);
  }
  ~ListsFile() { ::unlink(path_.c_str()); }
  ListsFile(const ListsFile&) = delete;
  ListsFile& operator=(const ListsFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] static void fail(const fs::path& folder, int code) {
    throw Error(ErrorKind::io, folder.string() + ": cannot create a file for the index: " +
                                   std::strerror(code));
  }

  std::string path_;
};

// Codes of a row: the most that divide its width and stand for at least eight values each.
int codes_of(std::int64_t width) {
  std::int64_t codes = std::max<std::int64_t>(1, width / kValuesForEachCode);
  while (width % codes != 0) --codes;
  return static_cast<int>(codes);
}

// `wanted` unit rows in slices spread evenly over the gallery; all of it if it is not larger.
RowMatrix sample(std::int64_t size, std::int64_t block, std::int64_t wanted, const GalleryRows& rows) {
  wanted = std::min(wanted, size);
  const std::int64_t slice = std::min({kRowsOfASlice, block, wanted});
  const std::int64_t slices = (wanted + slice - 1) / slice;
  RowMatrix taken;
  std::int64_t filled = 0;
  for (std::int64_t s = 0; s < slices; ++s) {
    const std::int64_t count = std::min(slice, wanted - filled);
    // The last begins where `count` rows are left.
    const std::int64_t begin =
        slices == 1 ? 0 : static_cast<std::int64_t>(double(s) * double(size - count) / double(slices - 1));
    const RowMatrix some = rows(begin, count);
    if (taken.size() == 0) taken.resize(wanted, some.cols());
    taken.middleRows(filled, count) = some;
    filled += count;
  }
  normalize_rows(taken);
  return taken;
}

}  // namespace

struct ApproximateIndex::State {
  ApproximateOptions options;
  std::int64_t size = 0, trained_on = 0;
  // Destroyed from the last to the first: what is mapped goes before its file.
  std::unique_ptr<ListsFile> file;
  std::unique_ptr<faiss::IndexFlatIP> centroids;
  std::unique_ptr<faiss::Index> index;

  faiss::IndexIVF* inverted() const { return dynamic_cast<faiss::IndexIVF*>(index.get()); }

  void make_lists(std::int64_t block, const GalleryRows& rows) {
    const auto lists = static_cast<std::int64_t>(2 * std::sqrt(static_cast<double>(size)));
    const RowMatrix points = sample(size, block, lists * kRowsForEachList, rows);
    trained_on = points.rows();
    const auto width = static_cast<int>(points.cols());
    centroids = std::make_unique<faiss::IndexFlatIP>(width);
    if (options.kind == IndexKind::ivf) {
      index = std::make_unique<faiss::IndexIVFFlat>(centroids.get(), width, lists,
                                                    faiss::METRIC_INNER_PRODUCT);
    } else {
      index = std::make_unique<faiss::IndexIVFPQ>(centroids.get(), width, lists, codes_of(width),
                                                  kBitsOfACode, faiss::METRIC_INNER_PRODUCT);
    }
    inverted()->cp.spherical = true;
    inverted()->nprobe = static_cast<std::size_t>(std::min<std::int64_t>(options.probes, lists));
    index->train(points.rows(), points.data());
  }

  // Calls `use(first row, unit rows)` for the gallery, block by block.
  template <typename Use>
  void for_each_block(std::int64_t block, const GalleryRows& rows, const Use& use) const {
    for (std::int64_t begin = 0; begin < size; begin += block) {
      RowMatrix some = rows(begin, std::min(block, size - begin));
      normalize_rows(some);
      use(begin, some);
    }
  }

  // Lists of their final lengths, laid out end to end before they are filled: FAISS's own way of
  // growing them leaves gaps and prints to stdout.
  void fill_lists_on_disk(std::int64_t block, const GalleryRows& rows) {
    faiss::IndexIVF& lists = *inverted();
    std::vector<std::int32_t> list_of(size);
    std::vector<std::size_t> lengths(lists.nlist);
    std::vector<faiss::Index::idx_t> assigned;
    for_each_block(block, rows, [&](std::int64_t begin, const RowMatrix& some) {
      assigned.resize(some.rows());
      centroids->assign(some.rows(), some.data(), assigned.data());
      for (std::size_t i = 0; i < assigned.size(); ++i) {
        list_of[begin + i] = static_cast<std::int32_t>(assigned[i]);
        ++lengths[assigned[i]];
      }
    });
    const std::size_t bytes = size * (lists.code_size + sizeof(faiss::Index::idx_t));
    file = std::make_unique<ListsFile>(options.folder, bytes);
    auto on_disk = std::make_unique<faiss::OnDiskInvertedLists>(lists.nlist, lists.code_size,
                                                                file->path().c_str());
    on_disk->set_all_lists_sizes(lengths.data());
    on_disk->totsize = bytes;
    on_disk->do_mmap();
    std::vector<std::size_t> filled(lists.nlist);
    std::vector<std::uint8_t> codes;
    for_each_block(block, rows, [&](std::int64_t begin, const RowMatrix& some) {
      assigned.assign(list_of.begin() + begin, list_of.begin() + begin + some.rows());
      codes.resize(some.rows() * lists.code_size);
      lists.encode_vectors(some.rows(), some.data(), assigned.data(), codes.data());
      for (Eigen::Index i = 0; i < some.rows(); ++i) {
        const faiss::Index::idx_t row = begin + i;
        on_disk->update_entries(assigned[i], filled[assigned[i]]++, 1, &row,
                                codes.data() + i * lists.code_size);
      }
    });
    lists.replace_invlists(on_disk.release(), true);
    lists.ntotal = size;
  }

  void build(std::int64_t block, const GalleryRows& rows) {
    if (options.kind != IndexKind::hnsw) make_lists(block, rows);
    if (options.kind != IndexKind::hnsw && !options.folder.empty()) {
      return fill_lists_on_disk(block, rows);
    }
    for_each_block(block, rows, [&](std::int64_t, const RowMatrix& some) {
      if (!index) {
        auto graph = std::make_unique<faiss::IndexHNSWFlat>(static_cast<int>(some.cols()), kLinks,
                                                            faiss::METRIC_INNER_PRODUCT);
        graph->hnsw.efSearch = options.ef_search;
        index = std::move(graph);
      }
      index->add(some.rows(), some.data());
    });
  }
};

ApproximateIndex::ApproximateIndex(std::int64_t size, std::int64_t block, const GalleryRows& rows,
                                   const ApproximateOptions& options)
    : state_(std::make_unique<State>()) {
  if (size < kFewestRowsToApproximate) {
    throw Error(ErrorKind::input, "approximate search: expected " +
                                      std::to_string(kFewestRowsToApproximate) +
                                      " rows or more, got " + std::to_string(size));
  }
  state_->options = options;
  state_->size = size;
  try {
    state_->build(block, rows);
  } catch (const faiss::FaissException& error) {
    throw Error(ErrorKind::io, std::string("index: FAISS gave up: ") + error.what());
  }
}

ApproximateIndex::~ApproximateIndex() = default;

std::vector<Neighbors> ApproximateIndex::search(const RowMatrix& queries, int k,
                                                const std::vector<Excluded>& excluded) const {
  if (k < 1 || queries.cols() != state_->index->d) {
    throw Error(ErrorKind::input, "search: expected queries of " +
                                      std::to_string(state_->index->d) +
                                      " dimensions and k of 1 or more, got " +
                                      std::to_string(queries.cols()) + " and " + std::to_string(k));
  }
  const RowMatrix unit = unit_rows(queries);
  std::int64_t fetch = k;
  for (const Excluded& rows : excluded) fetch = std::max(fetch, k + std::ssize(rows));
  fetch = std::min(fetch, state_->size);
  std::vector<float> scores(unit.rows() * fetch);
  std::vector<faiss::Index::idx_t> rows(unit.rows() * fetch);
  state_->index->search(unit.rows(), unit.data(), fetch, scores.data(), rows.data());
  std::vector<Neighbors> result(unit.rows());
  for (std::size_t q = 0; q < result.size(); ++q) {
    for (std::size_t i = q * fetch; i < (q + 1) * fetch; ++i) {
      const bool skipped = !excluded.empty() && std::binary_search(excluded[q].begin(), excluded[q].end(),
                                                                   std::int64_t{rows[i]});
      if (rows[i] < 0 || skipped) continue;
      result[q].push_back({rows[i], std::clamp(scores[i], -1.0f, 1.0f)});
    }
    keep_best(result[q], k);
  }
  return result;
}

std::string ApproximateIndex::description() const {
  if (state_->options.kind == IndexKind::hnsw) {
    return "hnsw: " + std::to_string(kLinks) + " links a row, " +
           std::to_string(state_->options.ef_search) + " candidates kept";
  }
  const faiss::IndexIVF& lists = *state_->inverted();
  std::string text = state_->options.kind == IndexKind::ivf ? "ivf: " : "ivfpq: ";
  text += std::to_string(lists.nlist) + " lists trained on " + std::to_string(state_->trained_on) +
          " rows, " + std::to_string(lists.nprobe) + " looked into";
  if (state_->options.kind == IndexKind::ivfpq) {
    text += ", " + std::to_string(lists.code_size) + " bytes a row";
  }
  if (state_->file) text += ", lists on disk";
  return text;
}

}  // namespace probe

#include "probe/cli/image_loader.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "encoders/preprocess.h"
#include "probe/core/atomic_file.h"
#include "probe/core/error.h"
#include "probe/core/sha256.h"
#include "probe/data/image_file.h"

namespace probe {
namespace {

constexpr std::size_t kMostFiles = 64, kMostBytes = 64 << 20;  // read and waiting, one file at least
constexpr std::size_t kMostWaiting = 32;   // items drawn or being drawn that are in no batch yet
constexpr std::size_t kFlushAfter = 256;   // items without pixels that make a batch

// A file's bytes, or why none are needed or to be had.
struct ReadItem {
  LoadedItem loaded;
  std::string bytes;  // unless the item brings its own
  bool wanted = false;
};

// What the tower is shown of it; nothing if it failed or is not wanted.
struct DrawnItem {
  LoadedItem loaded;
  std::vector<View> views;
  std::vector<RgbImage> shown;
};

struct DrawnBatch {
  std::unique_ptr<ImageBatch> batch = std::make_unique<ImageBatch>();
  std::vector<RgbImage> shown;
};

}  // namespace

struct ImageLoader::State {
  const std::vector<Item>& items;
  const ImageSpec& spec;
  const Tiling& tiling;
  const std::size_t batch_size;
  const int fast_side;
  const std::function<bool(const std::string&)> known;

  std::mutex mutex;  // of all below
  std::condition_variable changed;
  std::deque<ReadItem> read;  // items taken, taken + 1, ...
  std::size_t bytes_read = 0;
  std::size_t taken = 0;                // items that someone draws or has drawn
  std::map<std::size_t, DrawnItem> drawn;  // those that wait for one before them
  std::size_t arranged = 0;             // items that are in a batch
  DrawnBatch filling;
  std::deque<DrawnBatch> full;
  std::size_t batches = 0;
  bool stopped = false;
  std::exception_ptr error;
  std::thread thread;

  State(const std::vector<Item>& all, const ImageSpec& image, const Tiling& tiles, int batch, int fast,
        std::function<bool(const std::string&)> is_known)
      : items(all),
        spec(image),
        tiling(tiles),
        batch_size(static_cast<std::size_t>(batch)),
        fast_side(fast),
        known(std::move(is_known)) {}

  const std::string& bytes_of(const ReadItem& item) const {
    const Item& of = items[item.loaded.index];
    return of.image_bytes.empty() ? item.bytes : of.image_bytes;
  }

  ReadItem read_item(std::size_t index, std::unordered_set<std::string>& seen) const {
    ReadItem item;
    item.loaded.index = index;
    try {
      if (!items[index].image_error.empty()) throw Error(ErrorKind::input, items[index].image_error);
      if (items[index].image_bytes.empty()) item.bytes = read_file(items[index].image, kMaxImageBytes);
      item.loaded.content_sha256 = sha256_hex(bytes_of(item));
      item.wanted = !known(item.loaded.content_sha256) && seen.insert(item.loaded.content_sha256).second;
      if (!item.wanted) item.bytes = {};
    } catch (const Error& error) {
      item.loaded.failure = error.what();
    }
    return item;
  }

  void read_all() {
    std::unordered_set<std::string> seen;
    for (std::size_t i = 0; i < items.size(); ++i) {
      ReadItem item = read_item(i, seen);
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopped || read.empty() || (read.size() < kMostFiles && bytes_read < kMostBytes); });
      if (stopped) return;
      bytes_read += item.bytes.size();
      read.push_back(std::move(item));
      changed.notify_all();
    }
  }

  DrawnItem draw(ReadItem item) const {
    DrawnItem drawn;
    try {
      if (item.wanted) {
        const RgbImage image = decode_image(bytes_of(item), fast_side);
        TilePlan plan = plan_tiles(image.width, image.height, spec, tiling);
        for (const View& view : plan.views) drawn.shown.push_back(draw_view(image, spec, plan, view));
        drawn.views = std::move(plan.views);
      }
    } catch (const Error& error) {
      drawn.shown.clear();
      item.loaded.failure = error.what();
    }
    drawn.loaded = std::move(item.loaded);
    return drawn;
  }

  void hand_over() {
    filling.batch->number = batches++;
    full.push_back(std::move(filling));
    filling = DrawnBatch();
  }

  void arrange(DrawnItem item) {
    for (std::size_t i = 0; i < item.views.size(); ++i) {
      if (filling.shown.size() == batch_size) hand_over();
      const bool last = i + 1 == item.views.size();
      filling.shown.push_back(std::move(item.shown[i]));
      filling.batch->views.push_back({item.loaded.index, item.views[i], last});
      // Only anyres drops patches; the others pool every token of a picture.
      if (tiling.options.scheme == TileScheme::anyres) filling.batch->windows.push_back(item.views[i].window);
    }
    auto& place = item.views.empty() ? filling.batch->done : filling.batch->items;
    place.push_back(std::move(item.loaded));
    if (filling.shown.size() == batch_size || filling.batch->done.size() >= kFlushAfter) hand_over();
  }

  // Takes the next item, draws it, and arranges those that have all before them.
  void draw_next(std::unique_lock<std::mutex>& lock) {
    ReadItem item = std::move(read.front());
    read.pop_front();
    bytes_read -= item.bytes.size();
    const std::size_t index = taken++;
    changed.notify_all();
    lock.unlock();
    DrawnItem result = draw(std::move(item));
    lock.lock();
    drawn.emplace(index, std::move(result));
    while (!drawn.empty() && drawn.begin()->first == arranged) {
      arrange(std::move(drawn.begin()->second));
      drawn.erase(drawn.begin());
      ++arranged;
    }
    changed.notify_all();
  }

  std::unique_ptr<ImageBatch> with_pixels(DrawnBatch drawn) const {
    const std::size_t floats = std::size_t{3} * spec.size * spec.size;
    std::unique_ptr<ImageBatch> batch = std::move(drawn.batch);
    batch->pixels = std::make_unique_for_overwrite<float[]>(floats * drawn.shown.size());
    for (std::size_t i = 0; i < drawn.shown.size(); ++i) {
      normalize_pixels(drawn.shown[i], spec, batch->pixels.get() + i * floats);
    }
    return batch;
  }

  std::unique_ptr<ImageBatch> next() {
    std::unique_lock lock(mutex);
    while (true) {
      if (error) std::rethrow_exception(error);
      if (stopped) return nullptr;
      if (full.empty() && arranged == items.size() && (!filling.batch->views.empty() || !filling.batch->done.empty())) {
        hand_over();
      }
      if (!full.empty()) {
        DrawnBatch batch = std::move(full.front());
        full.pop_front();
        lock.unlock();
        return with_pixels(std::move(batch));
      }
      if (arranged == items.size()) return nullptr;
      // Items must not pile up behind one that takes long.
      if (!read.empty() && taken - arranged < kMostWaiting) {
        draw_next(lock);
      } else {
        changed.wait(lock);
      }
    }
  }

  // Runs `step`; what it throws is thrown to all who ask for a batch.
  template <typename Step>
  auto guarded(Step step) {
    try {
      return step();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      changed.notify_all();
      throw;
    }
  }
};

ImageLoader::ImageLoader(const std::vector<Item>& items, const ImageSpec& spec,
                         const Tiling& tiling, int batch_size, int fast_side,
                         std::function<bool(const std::string&)> known)
    : state_(std::make_unique<State>(items, spec, tiling, batch_size, fast_side, std::move(known))) {
  state_->thread = std::thread([state = state_.get()] {
    try {
      state->guarded([&] { state->read_all(); });
    } catch (...) {  // told by next()
    }
  });
}

ImageLoader::~ImageLoader() {
  stop();
  state_->thread.join();
}

std::unique_ptr<ImageBatch> ImageLoader::next() {
  return state_->guarded([&] { return state_->next(); });
}

void ImageLoader::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->changed.notify_all();
}

}  // namespace probe

#include "probe/cli/image_loader.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
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

constexpr std::size_t kQueueLength = 4;   // batches waiting for the encoder
constexpr std::size_t kFlushAfter = 256;  // items without pixels that make a batch

template <typename T>
void append(std::vector<T>& all, std::vector<T>&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void append(ImageBatch& all, ImageBatch&& more) {
  append(all.items, std::move(more.items));
  append(all.views, std::move(more.views));
  append(all.pixels, std::move(more.pixels));
  append(all.done, std::move(more.done));
}

}  // namespace

struct ImageLoader::State {
  const std::vector<Item>& items;
  const ImageSpec& spec;
  const Tiling& tiling;
  std::size_t batch_size;
  int fast_side;
  std::function<bool(const std::string&)> known;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::unique_ptr<ImageBatch>> queue;
  bool finished = false, stop = false;
  std::exception_ptr error;
  std::thread thread;

  State(const std::vector<Item>& all, const ImageSpec& image, const Tiling& tiles, int batch,
        int fast, std::function<bool(const std::string&)> is_known)
      : items(all),
        spec(image),
        tiling(tiles),
        batch_size(static_cast<std::size_t>(batch)),
        fast_side(fast),
        known(std::move(is_known)) {}

  // Fills one item; the pixels of its views are appended to the batch if its vector is
  // missing, and full batches are handed over. False if the consumer has gone.
  bool load(std::size_t index, std::unordered_set<std::string>& scheduled,
            std::unique_ptr<ImageBatch>& batch) {
    LoadedItem loaded;
    loaded.index = index;
    try {
      const Item& item = items[index];
      if (!item.image_error.empty()) throw Error(ErrorKind::input, item.image_error);
      const std::string bytes = item.image_bytes.empty()
                                    ? read_file(item.image, kMaxImageBytes)
                                    : item.image_bytes;
      loaded.content_sha256 = sha256_hex(bytes);
      if (known(loaded.content_sha256) || scheduled.contains(loaded.content_sha256)) {
        batch->done.push_back(std::move(loaded));
        return true;
      }
      const RgbImage image = decode_image(bytes, fast_side);
      const TilePlan plan = plan_tiles(image.width, image.height, spec, tiling);
      for (std::size_t i = 0; i < plan.views.size(); ++i) {
        if (batch->views.size() == batch_size && !push_and_renew(batch)) return false;
        const RgbImage shown = draw_view(image, spec, plan, plan.views[i]);
        const std::size_t size = std::size_t{3} * spec.size * spec.size;
        batch->pixels.reserve(size * batch_size);
        batch->pixels.resize(batch->pixels.size() + size);
        normalize_pixels(shown, spec, batch->pixels.data() + batch->pixels.size() - size);
        batch->views.push_back({index, plan.views[i], i + 1 == plan.views.size()});
      }
      scheduled.insert(loaded.content_sha256);
      batch->items.push_back(std::move(loaded));
    } catch (const Error& error) {
      loaded.failure = error.what();
      batch->done.push_back(std::move(loaded));
    }
    return true;
  }

  // False if the consumer has gone.
  bool push(std::unique_ptr<ImageBatch> batch) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return queue.size() < kQueueLength || stop; });
    if (stop) return false;
    queue.push_back(std::move(batch));
    changed.notify_all();
    return true;
  }

  bool push_and_renew(std::unique_ptr<ImageBatch>& batch) {
    if (!push(std::move(batch))) return false;
    batch = std::make_unique<ImageBatch>();
    return true;
  }

  void run() {
    try {
      std::unordered_set<std::string> scheduled;
      auto batch = std::make_unique<ImageBatch>();
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (!load(i, scheduled, batch)) return;
        if (batch->views.size() < batch_size && batch->done.size() < kFlushAfter) continue;
        if (!push_and_renew(batch)) return;
      }
      if (!push(std::move(batch))) return;
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    finished = true;
    changed.notify_all();
  }
};

ImageLoader::ImageLoader(const std::vector<Item>& items, const ImageSpec& spec,
                         const Tiling& tiling, int batch_size, int fast_side,
                         std::function<bool(const std::string&)> known)
    : state_(std::make_unique<State>(items, spec, tiling, batch_size, fast_side,
                                     std::move(known))) {
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

ImageLoader::~ImageLoader() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

std::unique_ptr<ImageBatch> ImageLoader::next(int most) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->queue.empty() || state_->finished; });
  if (state_->queue.empty()) {
    if (state_->error) std::rethrow_exception(state_->error);
    return nullptr;
  }
  std::vector<std::unique_ptr<ImageBatch>> ready;
  // Nothing after a batch that is not full: a picture's place must not depend on what happened to be ready.
  for (; most > 0 && !state_->queue.empty() &&
         (ready.empty() || ready.back()->views.size() % state_->batch_size == 0); --most) {
    ready.push_back(std::move(state_->queue.front()));
    state_->queue.pop_front();
  }
  state_->changed.notify_all();
  lock.unlock();
  for (std::size_t i = 1; i < ready.size(); ++i) append(*ready.front(), std::move(*ready[i]));
  return std::move(ready.front());
}

}  // namespace probe

#include "probe/cli/image_loader.h"

#include <condition_variable>
#include <deque>
#include <exception>
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

constexpr std::size_t kQueueLength = 3;   // batches waiting for the encoder
constexpr std::size_t kFlushAfter = 256;  // items without pixels that make a batch

}  // namespace

struct ImageLoader::State {
  const std::vector<Item>& items;
  const ImageSpec& spec;
  std::size_t batch_size;
  std::function<bool(const std::string&)> known;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::unique_ptr<ImageBatch>> queue;
  bool finished = false, stop = false;
  std::exception_ptr error;
  std::thread thread;

  State(const std::vector<Item>& all, const ImageSpec& image, int batch,
        std::function<bool(const std::string&)> is_known)
      : items(all),
        spec(image),
        batch_size(static_cast<std::size_t>(batch)),
        known(std::move(is_known)) {}

  // Fills one item; pixels are appended to the batch if its vector is missing.
  void load(std::size_t index, std::unordered_set<std::string>& scheduled, ImageBatch& batch) {
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
        batch.done.push_back(std::move(loaded));
        return;
      }
      const RgbImage fitted = fit_to_tower(decode_image(bytes), spec);
      const std::size_t size = std::size_t{3} * spec.size * spec.size;
      batch.pixels.reserve(size * batch_size);
      batch.pixels.resize(batch.pixels.size() + size);
      normalize_pixels(fitted, spec, batch.pixels.data() + batch.pixels.size() - size);
      scheduled.insert(loaded.content_sha256);
      batch.items.push_back(std::move(loaded));
    } catch (const Error& error) {
      loaded.failure = error.what();
      batch.done.push_back(std::move(loaded));
    }
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

  void run() {
    try {
      std::unordered_set<std::string> scheduled;
      auto batch = std::make_unique<ImageBatch>();
      for (std::size_t i = 0; i < items.size(); ++i) {
        load(i, scheduled, *batch);
        if (batch->items.size() < batch_size && batch->done.size() < kFlushAfter) continue;
        if (!push(std::move(batch))) return;
        batch = std::make_unique<ImageBatch>();
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

ImageLoader::ImageLoader(const std::vector<Item>& items, const ImageSpec& spec, int batch_size,
                         std::function<bool(const std::string&)> known)
    : state_(std::make_unique<State>(items, spec, batch_size, std::move(known))) {
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

std::unique_ptr<ImageBatch> ImageLoader::next() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->queue.empty() || state_->finished; });
  if (state_->queue.empty()) {
    if (state_->error) std::rethrow_exception(state_->error);
    return nullptr;
  }
  std::unique_ptr<ImageBatch> batch = std::move(state_->queue.front());
  state_->queue.pop_front();
  state_->changed.notify_all();
  return batch;
}

}  // namespace probe

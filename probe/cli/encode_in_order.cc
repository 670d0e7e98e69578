#include "probe/cli/encode_in_order.h"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace probe {
namespace {

// Of a matrix product; more make it no faster (measured at B/32 and L/14-336 in bfloat16).
constexpr int kRows = 1024;

class Recorder {
 public:
  explicit Recorder(const std::function<void(const ImageBatch&, const ImageFeatures&)>& record) : record_(record) {}

  // Records it, or leaves it to whoever brings the one before.
  void add(std::unique_ptr<ImageBatch> batch, ImageFeatures features) {
    const std::lock_guard lock(mutex_);
    const std::size_t number = batch->number;
    waiting_.emplace(number, Encoded{std::move(batch), std::move(features)});
    for (; !waiting_.empty() && waiting_.begin()->first == next_; ++next_) {
      const Encoded now = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      record_(*now.batch, now.features);
    }
  }

 private:
  struct Encoded {
    std::unique_ptr<ImageBatch> batch;
    ImageFeatures features;
  };
  const std::function<void(const ImageBatch&, const ImageFeatures&)>& record_;
  std::mutex mutex_;
  std::map<std::size_t, Encoded> waiting_;
  std::size_t next_ = 0;
};

}  // namespace

SideBySide side_by_side(EncoderOptions options, int tokens) {
  const bool cpu = options.device == "cpu";
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = options.threads > 0 ? options.threads : cores;
  if (cpu) options.batch_size = std::min(options.batch_size, (kRows + tokens - 1) / tokens);
  options.threads = 1;
  return {options, threads, !cpu};
}

void encode_in_order(ImageLoader& loader, const SideBySide& side, const std::function<Encoder&()>& tower,
                     const std::function<void(const ImageBatch&, const ImageFeatures&)>& record) {
  Recorder recorder(record);
  std::mutex mutex, device;
  std::exception_ptr error;
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    if (!error) error = std::current_exception();
    loader.stop();
  };
  std::once_flag once;
  Encoder* encoder = nullptr;
  const auto load = [&] {  // the first to have pictures does; the others decode some meanwhile
    try {
      encoder = &tower();
    } catch (...) {
      fail();
    }
  };
  const auto encode = [&](std::unique_ptr<ImageBatch> batch) {
    ImageFeatures features;
    const auto count = static_cast<int>(batch->views.size());
    if (count > 0) {
      std::call_once(once, load);
      if (encoder == nullptr) return;
      std::unique_lock lock(device, std::defer_lock);
      if (side.one_at_a_time) lock.lock();
      features = encoder->encode_images(batch->pixels.get(), count, batch->windows);
    }
    batch->pixels.reset();
    recorder.add(std::move(batch), std::move(features));
  };
  const auto work = [&] {
    try {
      while (auto batch = loader.next()) encode(std::move(batch));
    } catch (...) {
      fail();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (int thread = 1; thread < side.threads; ++thread) others.emplace_back(work);
    } catch (const std::system_error&) {  // no more than the system gives
    }
    work();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace probe

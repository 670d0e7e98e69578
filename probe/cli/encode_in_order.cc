#include "probe/cli/encode_in_order.h"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
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
  if (options.device != "cpu") return {options, 1};
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = options.threads > 0 ? options.threads : cores;
  options.batch_size = std::min(options.batch_size, (kRows + tokens - 1) / tokens);
  options.threads = 1;
  return {options, threads};
}

void encode_in_order(ImageLoader& loader, int threads, const std::function<Encoder&()>& tower,
                     const std::function<void(const ImageBatch&, const ImageFeatures&)>& record) {
  Recorder recorder(record);
  std::mutex mutex;
  std::exception_ptr error;
  Encoder* encoder = nullptr;
  const auto encode = [&](std::unique_ptr<ImageBatch> batch) {
    ImageFeatures features;
    const auto count = static_cast<int>(batch->views.size());
    if (count > 0) features = encoder->encode_images(batch->pixels.get(), count, batch->windows);
    batch->pixels.reset();
    recorder.add(std::move(batch), std::move(features));
  };
  const auto guarded = [&](const auto& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      loader.stop();
    }
  };
  std::vector<std::thread> others;
  guarded([&] {
    while (auto batch = loader.next()) {
      if (encoder == nullptr && !batch->views.empty()) {
        encoder = &tower();
        for (int thread = 1; thread < threads; ++thread) {
          others.emplace_back([&] {
            guarded([&] {
              while (auto more = loader.next()) encode(std::move(more));
            });
          });
        }
      }
      encode(std::move(batch));
    }
  });
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace probe

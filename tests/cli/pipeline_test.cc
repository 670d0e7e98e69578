// From items to recorded features on several threads: what one thread does, in the same order.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "encoders/preprocess.h"
#include "probe/cli/encode_in_order.h"
#include "probe/core/error.h"
#include "probe/data/image_file.h"
#include "tests/support/small_dataset.h"

namespace probe {
namespace {

constexpr int kSide = 8, kBatch = 3;

// Its embedding is a picture's first value. Takes its time, differently from batch to batch.
class FakeEncoder final : public Encoder {
 public:
  int fails_at = -1;  // call
  std::atomic<int> calls = 0, under_way = 0, most_under_way = 0;

  const EncoderSpec& spec() const override { return spec_; }
  const LayerSpec& layer() const override { return layer_; }
  ImageFeatures encode_images(const float* pixels, int count, const std::vector<PatchWindow>&) override {
    const int call = calls++, now = ++under_way;
    for (int most = most_under_way; most < now && !most_under_way.compare_exchange_weak(most, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(call % 3 * 5));
    --under_way;
    if (call == fails_at) throw Error(ErrorKind::model, "tower: made to fail");
    ImageFeatures features;
    features.embedding.resize(count, 1);
    for (int i = 0; i < count; ++i) features.embedding(i, 0) = pixels[i * 3 * kSide * kSide];
    return features;
  }
  RowMatrix encode_texts(const std::vector<std::string>&, std::vector<std::string>*) override { return {}; }

 private:
  EncoderSpec spec_;
  LayerSpec layer_;
};

class Pipeline : public testing::Test {
 protected:
  std::vector<Item> items_;
  ImageSpec spec_;
  Tiling tiling_;

  void add(const std::filesystem::path& image) {
    items_.push_back({});
    items_.back().id = std::to_string(items_.size());
    items_.back().image = image;
  }

  // Twelve photos of which the sixth comes again, and between them a broken file, twice, and none at all.
  void SetUp() override {
    spec_.size = spec_.resize_to = kSide;
    spec_.mean = {0.5f, 0.4f, 0.3f};
    spec_.std = {0.2f, 0.3f, 0.4f};
    tiling_.embeds = true;
    const std::filesystem::path photos = test::demo_folder() / "originals", broken = PROBE_SOURCE_DIR "/tests/data/images/half.jpg";
    for (const char* category : {"apple", "kiwi", "lemon", "mango"}) {
      for (const char* number : {"-01.jpg", "-02.jpg", "-03.jpg"}) add(photos / category / (std::string(category) + number));
    }
    items_.insert(items_.begin() + 4, items_[5]);
    add(broken);
    std::swap(items_.back(), items_[1]);
    add(broken);
    add("/nowhere/none.jpg");
  }

  ImageLoader loader(std::function<bool(const std::string&)> known = [](const std::string&) { return false; }) const {
    return ImageLoader(items_, spec_, tiling_, kBatch, 0, std::move(known));
  }

  std::map<std::size_t, std::unique_ptr<ImageBatch>> batches(int threads) const {
    std::map<std::size_t, std::unique_ptr<ImageBatch>> all;
    std::mutex mutex;
    ImageLoader source = loader();
    std::vector<std::thread> callers;
    for (int i = 0; i < threads; ++i) {
      callers.emplace_back([&] {
        while (auto batch = source.next()) {
          const std::lock_guard lock(mutex);
          const std::size_t number = batch->number;
          all[number] = std::move(batch);
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    return all;
  }
};

TEST_F(Pipeline, BatchesAreThoseOfAPlainLoopHoweverManyThreadsAsk) {
  std::vector<std::size_t> wanted;  // the first of equal files, unless it is broken
  for (std::size_t i = 0; i < items_.size(); ++i) {
    bool first = items_[i].image.filename() != "half.jpg" && items_[i].image.filename() != "none.jpg";
    for (std::size_t j = 0; j < i; ++j) first = first && items_[j].image != items_[i].image;
    if (first) wanted.push_back(i);
  }
  ASSERT_EQ(wanted.size(), 12u);
  for (const int threads : {1, 2, 7}) {
    const auto all = batches(threads);
    std::size_t place = 0, done = 0, failed = 0;
    for (std::size_t number = 0; number < all.size(); ++number) {
      ASSERT_TRUE(all.contains(number));
      const ImageBatch& batch = *all.at(number);
      ASSERT_EQ(batch.items.size(), batch.views.size());
      EXPECT_LE(batch.views.size(), std::size_t{kBatch});
      for (std::size_t i = 0; i < batch.views.size(); ++i, ++place) {
        ASSERT_LT(place, wanted.size());
        EXPECT_EQ(batch.views[i].index, wanted[place]);
        EXPECT_EQ(batch.items[i].index, wanted[place]);
        std::vector<float> expected(3 * kSide * kSide);
        normalize_pixels(fit_to_tower(read_image(items_[wanted[place]].image), spec_), spec_, expected.data());
        const float* const got = batch.pixels.get() + i * expected.size();
        EXPECT_EQ(std::vector<float>(got, got + expected.size()), expected) << threads;
      }
      done += batch.done.size();
      for (const LoadedItem& item : batch.done) failed += !item.failure.empty();
    }
    EXPECT_EQ(place, wanted.size());
    EXPECT_EQ(done, items_.size() - wanted.size());
    EXPECT_EQ(failed, 2u);  // the broken file once: its reason holds for all that are equal
  }
}

TEST_F(Pipeline, FeaturesAreRecordedInOrder) {
  for (const int threads : {1, 2, 7}) {
    FakeEncoder encoder;
    ImageLoader source = loader();
    std::size_t next = 0;
    int towers = 0;
    encode_in_order(
        source, {.options = {}, .threads = threads},
        [&]() -> Encoder& {
          ++towers;
          return encoder;
        },
        [&](const ImageBatch& batch, const ImageFeatures& features) {
          EXPECT_EQ(batch.number, next++);
          for (std::size_t i = 0; i < batch.views.size(); ++i) {
            std::vector<float> expected(3 * kSide * kSide);
            normalize_pixels(fit_to_tower(read_image(items_[batch.views[i].index].image), spec_), spec_, expected.data());
            EXPECT_EQ(features.embedding(static_cast<Eigen::Index>(i), 0), expected[0]);
          }
        });
    EXPECT_EQ(towers, 1);
    EXPECT_EQ(encoder.calls, 4);
    EXPECT_GE(next, 4u);
  }
}

TEST_F(Pipeline, NoTowerIsLoadedForVectorsThatAreKnown) {
  ImageLoader source = loader([](const std::string&) { return true; });
  std::size_t done = 0;
  encode_in_order(
      source, {.options = {}, .threads = 4}, []() -> Encoder& { throw Error(ErrorKind::model, "was loaded"); },
      [&](const ImageBatch& batch, const ImageFeatures&) { done += batch.done.size(); });
  EXPECT_EQ(done, items_.size());
}

std::string failure_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST_F(Pipeline, TheFirstErrorOfAnyThreadEndsThemAll) {
  const auto ignore = [](const ImageBatch&, const ImageFeatures&) {};
  for (const int threads : {1, 4}) {
    const SideBySide side{.options = {}, .threads = threads};
    for (const int call : {0, 2, 3}) {
      FakeEncoder encoder;
      encoder.fails_at = call;
      ImageLoader source = loader();
      EXPECT_EQ(failure_of([&] { encode_in_order(source, side, [&]() -> Encoder& { return encoder; }, ignore); }),
                "tower: made to fail");
    }
    FakeEncoder encoder;
    ImageLoader source = loader();
    const auto full = [](const ImageBatch& batch, const ImageFeatures&) {
      if (batch.number == 1) throw Error(ErrorKind::io, "no space");
    };
    EXPECT_EQ(failure_of([&] { encode_in_order(source, side, [&]() -> Encoder& { return encoder; }, full); }), "no space");
    ImageLoader unread = loader([](const std::string&) -> bool { throw std::runtime_error("no memory"); });
    try {
      encode_in_order(unread, side, [&]() -> Encoder& { return encoder; }, ignore);
      ADD_FAILURE() << "expected what the reading thread threw";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "no memory");
    }
  }
}

TEST_F(Pipeline, ADeviceHasOneBatchAtATime) {
  FakeEncoder encoder;
  ImageLoader source = loader();
  encode_in_order(
      source, {.options = {}, .threads = 6, .one_at_a_time = true}, [&]() -> Encoder& { return encoder; },
      [](const ImageBatch&, const ImageFeatures&) {});
  EXPECT_EQ(encoder.calls, 4);
  EXPECT_EQ(encoder.most_under_way, 1);
}

TEST_F(Pipeline, AStoppedLoaderGivesNothingMore) {
  ImageLoader source = loader();
  EXPECT_NE(source.next(), nullptr);
  source.stop();
  EXPECT_EQ(source.next(), nullptr);
}

TEST(SideBySide, AThreadTakesAsManyPicturesAsATowerNeeds) {
  EncoderOptions options;
  options.batch_size = 8;
  options.threads = 3;
  const SideBySide b32 = side_by_side(options, 50), l14 = side_by_side(options, 577);
  EXPECT_EQ(b32.options.batch_size, 8);  // of the 21 that 1,024 rows are
  EXPECT_EQ(l14.options.batch_size, 2);
  EXPECT_EQ(l14.options.threads, 1);
  EXPECT_EQ(l14.threads, 3);
  EXPECT_FALSE(l14.one_at_a_time);
  options.batch_size = 1;
  EXPECT_EQ(side_by_side(options, 577).options.batch_size, 1);
  options.device = "cuda:0";
  options.batch_size = 64;
  EXPECT_EQ(side_by_side(options, 577).options.batch_size, 64);
  EXPECT_EQ(side_by_side(options, 577).threads, 3);
  EXPECT_TRUE(side_by_side(options, 577).one_at_a_time);
}

}  // namespace
}  // namespace probe

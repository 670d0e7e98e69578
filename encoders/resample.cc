#include "encoders/resample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "encoders/resample_kernels.h"

namespace probe {
namespace {

using resample_kernels::kLowBits;
using resample_kernels::kWeightBits;
using resample_kernels::Weights;

// Working memory stays under about twice this, whatever the shape of the picture.
constexpr std::size_t kMaxWorkBytes = std::size_t{16} << 20;
constexpr std::size_t kPadding = 32;  // bytes the kernels may read past a row

double filter_support(Interpolation filter) {
  return filter == Interpolation::bicubic ? 2.0 : 1.0;
}

// Triangle, or Keys' cubic with a = -0.5.
double filter_value(Interpolation filter, double x) {
  x = std::fabs(x);
  if (filter == Interpolation::bilinear) return x < 1.0 ? 1.0 - x : 0.0;
  constexpr double a = -0.5;
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
  return 0.0;
}

// One axis of a resize: `in` source positions to `out` positions. The filter is widened by
// the scale when shrinking (antialiasing) and cut at the borders.
struct Axis {
  int in = 0, out = 0;
  Interpolation filter = Interpolation::bicubic;

  bool changes() const { return in != out; }
  // Pillow keeps the source box in single precision.
  double scale() const { return static_cast<double>(static_cast<float>(in)) / out; }
  double support() const { return filter_support(filter) * std::max(scale(), 1.0); }
  double center(int position) const { return (position + 0.5) * scale(); }
  int first(int position) const {
    return std::max(static_cast<int>(center(position) - support() + 0.5), 0);
  }
  int end(int position) const {
    const double stop = center(position) + support() + 0.5;
    return stop >= in ? in : static_cast<int>(stop);
  }
  int taps() const {
    const std::int64_t most = 2 * static_cast<std::int64_t>(std::ceil(support())) + 1;
    return static_cast<int>((std::min<std::int64_t>(most, in) + 3) / 4 * 4);
  }
};

// Weights of `count` output positions from `begin`; the sums are formed in the order and
// precision of Pillow, then rounded half away from zero to kWeightBits.
void fill_weights(const Axis& axis, int begin, int count, Weights& weights) {
  const std::size_t taps = static_cast<std::size_t>(axis.taps());
  weights.taps = axis.taps();
  weights.first.resize(count);
  weights.used.resize(count);
  weights.high.assign(count * taps, 0);
  weights.low.assign(count * taps, 0);
  const double inverse = 1.0 / std::max(axis.scale(), 1.0);
  std::vector<double> values(taps);
  for (int i = 0; i < count; ++i) {
    const double center = axis.center(begin + i);
    const int first = axis.first(begin + i);
    const int used = axis.end(begin + i) - first;
    double sum = 0.0;
    for (int t = 0; t < used; ++t) {
      values[t] = filter_value(axis.filter, (t + first - center + 0.5) * inverse);
      sum += values[t];
    }
    weights.first[i] = first;
    weights.used[i] = used;
    for (int t = 0; t < used; ++t) {
      const double value = (sum != 0.0 ? values[t] / sum : values[t]) * (1 << kWeightBits);
      const int fixed = static_cast<int>(value < 0 ? value - 0.5 : value + 0.5);
      weights.high[i * taps + t] = static_cast<std::int16_t>(fixed >> kLowBits);
      weights.low[i * taps + t] = static_cast<std::int16_t>(fixed & ((1 << kLowBits) - 1));
    }
  }
}

// Rows of the picture with kPadding readable bytes behind each, without copying any but
// the last few.
class PaddedRows {
 public:
  explicit PaddedRows(const RgbImage& image)
      : pixels_(image.pixels.data()), row_bytes_(3 * static_cast<std::size_t>(image.width)) {
    const int last = static_cast<int>(kPadding / row_bytes_) + 1;
    tail_begin_ = std::max(image.height - last, 0);
    tail_.assign(pixels_ + tail_begin_ * row_bytes_, pixels_ + image.height * row_bytes_);
    tail_.resize(tail_.size() + kPadding);
  }

  const std::uint8_t* row(int y) const {
    return y < tail_begin_ ? pixels_ + y * row_bytes_
                           : tail_.data() + (y - tail_begin_) * row_bytes_;
  }

 private:
  const std::uint8_t* pixels_;
  std::size_t row_bytes_;
  int tail_begin_ = 0;
  std::vector<std::uint8_t> tail_;
};

// Source rows, resampled across, of the columns of one strip. Keeps the last `capacity`
// rows, so that rows which several output rows share are made once.
class RowSource {
 public:
  RowSource(const PaddedRows& source, const Axis& across, int begin, int count, int capacity)
      : source_(source),
        begin_(begin),
        count_(count),
        changes_(across.changes()),
        stride_(3 * static_cast<std::size_t>(count) + kPadding),
        kept_(capacity, -1),
        rows_(capacity * stride_) {
    if (changes_) fill_weights(across, begin, count, weights_);
  }

  // Valid until as many other rows as are kept were asked for; kPadding more bytes are
  // readable.
  const std::uint8_t* row(int y) {
    const std::size_t slot = static_cast<std::size_t>(y) % kept_.size();
    std::uint8_t* at = rows_.data() + slot * stride_;
    if (kept_[slot] == y) return at;
    kept_[slot] = y;
    if (changes_) {
      resample_kernels::horizontal(source_.row(y), weights_, at);
    } else {
      std::memcpy(at, source_.row(y) + 3 * static_cast<std::size_t>(begin_),
                  3 * static_cast<std::size_t>(count_));
    }
    return at;
  }

 private:
  const PaddedRows& source_;
  int begin_, count_;
  bool changes_;
  std::size_t stride_;
  Weights weights_;
  std::vector<int> kept_;
  std::vector<std::uint8_t> rows_;
};

// One output row of the vertical pass; `row_at(y)` gives `columns` bytes of source row y,
// and keeps the last `chunk` (even) of them valid.
template <typename RowAt>
void mix_rows(const Axis& down, int position, int columns, int chunk, const RowAt& row_at,
              Weights& weights, std::vector<std::int32_t>& sums, std::uint8_t* out) {
  fill_weights(down, position, 1, weights);
  sums.assign(columns + kPadding, 0);
  std::vector<const std::uint8_t*> rows(chunk);
  const int used = weights.used[0];
  for (int done = 0; done < used; done += chunk) {
    int count = std::min(chunk, used - done);
    for (int t = 0; t < count; ++t) rows[t] = row_at(weights.first[0] + done + t);
    if (count % 2 == 1) rows[count++] = rows[0];  // its weight is zero
    resample_kernels::vertical(rows.data(), weights.high.data() + done,
                               weights.low.data() + done, count, columns, sums.data());
  }
  resample_kernels::finish(sums.data(), columns, out);
}

// Across, then down: columns [begin, begin + count) of the resized picture and the rows
// of the window, into `out` (`out_stride` bytes a row).
void resample_strip(const PaddedRows& source, const Axis& across, const Axis& down, int begin,
                    int count, const Window& window, std::uint8_t* out,
                    std::size_t out_stride) {
  const int columns = 3 * count;
  const int most_rows =
      static_cast<int>(std::max<std::size_t>(64, kMaxWorkBytes / (columns + kPadding)));
  const int capacity = down.changes() ? std::min(down.taps(), most_rows / 2 * 2) : 1;
  RowSource rows(source, across, begin, count, capacity);
  Weights weights;
  std::vector<std::int32_t> sums;
  for (int y = 0; y < window.height; ++y, out += out_stride) {
    if (down.changes()) {
      mix_rows(
          down, window.y + y, columns, capacity, [&](int row) { return rows.row(row); },
          weights, sums, out);
    } else {
      std::memcpy(out, rows.row(window.y + y), columns);
    }
  }
}

void across_then_down(const RgbImage& image, const Axis& across, const Axis& down,
                      const Window& window, RgbImage& result) {
  const PaddedRows source(image);
  // Very wide sources need so many weights a column that the columns go in strips.
  const std::size_t column_bytes =
      across.changes() ? 4 * static_cast<std::size_t>(across.taps()) : 1;
  const int strip =
      static_cast<int>(std::clamp<std::size_t>(kMaxWorkBytes / column_bytes, 1, window.width));
  for (int x = 0; x < window.width; x += strip) {
    resample_strip(source, across, down, window.x + x, std::min(strip, window.width - x),
                   window, result.pixels.data() + 3 * static_cast<std::size_t>(x),
                   3 * static_cast<std::size_t>(window.width));
  }
}

// Both passes change something here, and the source is taller than it is wide, so that
// one row of it and its weights are small.
void down_then_across(const RgbImage& image, const Axis& across, const Axis& down,
                      const Window& window, RgbImage& result) {
  constexpr int kChunk = 1024;
  const PaddedRows source(image);
  Weights across_weights, weights;
  fill_weights(across, window.x, window.width, across_weights);
  const int begin = across.first(window.x);
  const int columns = 3 * (across.end(window.x + window.width - 1) - begin);
  for (int& first : across_weights.first) first -= begin;
  std::vector<std::int32_t> sums;
  std::vector<std::uint8_t> mixed(columns + kPadding);
  for (int y = 0; y < window.height; ++y) {
    mix_rows(
        down, window.y + y, columns, kChunk,
        [&](int row) { return source.row(row) + 3 * static_cast<std::size_t>(begin); }, weights,
        sums, mixed.data());
    resample_kernels::horizontal(
        mixed.data(), across_weights,
        result.pixels.data() + 3 * static_cast<std::size_t>(window.width) * y);
  }
}

// Pillow 13: down first if the height loses more than twice the pixels that the width
// loses. The levels between the passes are rounded and clamped, so the order shows.
bool goes_down_first(const Axis& across, const Axis& down, PassOrder order) {
  if (order == PassOrder::across_first || !across.changes() || !down.changes()) return false;
  const std::int64_t height_loss = static_cast<std::int64_t>(down.in) - down.out;
  const std::int64_t width_loss = static_cast<std::int64_t>(across.in) - across.out;
  return height_loss > 0 && height_loss > 2 * width_loss;
}

}  // namespace

RgbImage resample(const RgbImage& image, int width, int height, Interpolation filter,
                  const Window& window, PassOrder order) {
  const Axis across{image.width, width, filter};
  const Axis down{image.height, height, filter};
  RgbImage result;
  result.width = window.width;
  result.height = window.height;
  result.pixels.resize(3 * static_cast<std::size_t>(window.width) * window.height);
  if (goes_down_first(across, down, order)) {
    down_then_across(image, across, down, window, result);
  } else {
    across_then_down(image, across, down, window, result);
  }
  return result;
}

}  // namespace probe

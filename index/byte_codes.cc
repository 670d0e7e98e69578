#include "index/byte_codes.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>

namespace probe {
namespace {

// Makes lengths that were summed in float upper bounds, up to 10,000 dimensions.
constexpr float kUp = 1.0f + 1e-3f;

struct Range {
  float rows, queries;  // the largest codes
  int shift;            // of a row's
};
Range range_of(bool tiled) { return tiled ? Range{127, 127, 128} : Range{63, 64, 64}; }

struct Rounded {
  float scale = 0, error = 0, length = 0;  // r ~ scale code; |r - r^|, |r^|, rounded up
  std::int32_t sum = 0;                    // of the codes
};

__attribute__((target("avx2,fma"))) float add_up(__m256 values) {
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, values);
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

// Rounds r [count], count a multiple of 8, to codes in [-largest, largest], stored plus `shift`.
__attribute__((target("avx2,fma"))) Rounded round_to_bytes(const float* r, std::int64_t count,
                                                          float largest, int shift,
                                                          std::uint8_t* codes) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  __m256 most = _mm256_setzero_ps();
  for (std::int64_t j = 0; j < count; j += 8) {
    most = _mm256_max_ps(most, _mm256_andnot_ps(sign, _mm256_loadu_ps(r + j)));
  }
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, most);
  const float top = *std::max_element(lanes, lanes + 8);
  Rounded rounded;
  rounded.scale = top / largest;
  const __m256 inverse = _mm256_set1_ps(top > 0 ? largest / top : 0.0f);
  const __m256 scale = _mm256_set1_ps(rounded.scale);
  __m256 error = _mm256_setzero_ps(), length = _mm256_setzero_ps();
  alignas(32) std::int32_t whole[8];
  for (std::int64_t j = 0; j < count; j += 8) {
    const __m256 value = _mm256_loadu_ps(r + j);
    const __m256i code = _mm256_cvtps_epi32(_mm256_mul_ps(value, inverse));
    const __m256 back = _mm256_mul_ps(scale, _mm256_cvtepi32_ps(code));
    const __m256 miss = _mm256_sub_ps(value, back);
    error = _mm256_fmadd_ps(miss, miss, error);
    length = _mm256_fmadd_ps(back, back, length);
    _mm256_store_si256(reinterpret_cast<__m256i*>(whole), code);
    for (int lane = 0; lane < 8; ++lane) {
      codes[j + lane] = static_cast<std::uint8_t>(whole[lane] + shift);
      rounded.sum += whole[lane];
    }
  }
  rounded.error = std::sqrt(add_up(error)) * kUp;
  rounded.length = std::sqrt(add_up(length)) * kUp;
  return rounded;
}

// row - mean, padded with zeros to `stride`; their dot product with the mean, in double.
double center(const float* row, const Eigen::RowVectorXf& mean, std::vector<float>& rest) {
  double part = 0;
  for (Eigen::Index j = 0; j < mean.size(); ++j) {
    rest[j] = row[j] - mean[j];
    part += double{rest[j]} * mean[j];
  }
  return part;
}

}  // namespace

bool can_use_byte_codes() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

GalleryCodes encode_gallery(const RowMatrix& unit, bool tiled) {
  const Eigen::Index d = unit.cols();
  const Range range = range_of(tiled);
  GalleryCodes gallery;
  gallery.tiled = tiled;
  gallery.rows = unit.rows();
  gallery.stride = (d + 63) / 64 * 64;
  const std::int64_t room = gallery.rows + kSpareRows;
  gallery.codes.resize(room * gallery.stride / 64);
  for (std::vector<float>* column :
       {&gallery.scale, &gallery.mean_part, &gallery.error, &gallery.length}) {
    column->resize(room);
  }
  gallery.mean = unit.colwise().mean();
#pragma omp parallel
  {
    std::vector<float> rest(gallery.stride);
#pragma omp for
    for (std::int64_t i = 0; i < gallery.rows; ++i) {
      gallery.mean_part[i] =
          static_cast<float>(center(unit.data() + i * d, gallery.mean, rest));
      const Rounded rounded = round_to_bytes(rest.data(), gallery.stride, range.rows, range.shift,
                                             gallery.codes.front().bytes + i * gallery.stride);
      gallery.scale[i] = rounded.scale;
      gallery.error[i] = rounded.error;
      gallery.length[i] = rounded.length;
    }
  }
  return gallery;
}

QueryCodes encode_queries(const RowMatrix& unit, const GalleryCodes& gallery) {
  const Range range = range_of(gallery.tiled);
  QueryCodes queries;
  queries.codes.resize((unit.rows() + 1) * gallery.stride / 64);
  const double mean_square = gallery.mean.cast<double>().squaredNorm();
  std::vector<float> rest(gallery.stride);
  for (Eigen::Index i = 0; i < unit.rows(); ++i) {
    const double part = center(unit.data() + i * unit.cols(), gallery.mean, rest);
    const Rounded rounded = round_to_bytes(rest.data(), gallery.stride, range.queries, 0,
                                           queries.codes.front().bytes + i * gallery.stride);
    queries.offset.push_back(range.shift * rounded.sum);
    queries.scale.push_back(rounded.scale);
    queries.error.push_back(rounded.error);
    queries.length.push_back(
        Eigen::Map<const Eigen::VectorXf>(rest.data(), std::ssize(rest)).norm() * kUp);
    queries.mean_part.push_back(static_cast<float>(part + mean_square));
  }
  const std::int64_t padded = (unit.rows() + kQueryStep - 1) / kQueryStep * kQueryStep;
  queries.offset.resize(padded);
  for (std::vector<float>* column :
       {&queries.scale, &queries.mean_part, &queries.length, &queries.error}) {
    column->resize(padded);
  }
  return queries;
}

}  // namespace probe

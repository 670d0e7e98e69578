// Parity tool: pictures in, decoded and fitted pictures out, so that a script can compare
// them with Pillow's.
//
// dump_pixels < requests > pixels
//   request: one line "width height rule to size interpolation crop rounding\n", then
//            3 * width * height bytes; rule, interpolation, crop and rounding are named
//            as in encoders/BUNDLE.md. The fill of rule pad is (0, 128, 255).
//   answer:  3 * size * size bytes.
//   request: one line "file PATH\n": decodes it as `probe` does.
//   answer:  one line "width height\n" and 3 * width * height bytes, or "error: why\n".
//   request: one line "again rule to size interpolation crop rounding\n": fits the picture
//            that the last file or bytes gave.
// dump_pixels --time N < one request: N fits, prints the milliseconds of the fastest.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "encoders/preprocess.h"
#include "probe/core/error.h"
#include "probe/data/image_file.h"

namespace {

template <typename T>
T pick(const std::map<std::string, T>& choices, const std::string& name) {
  const auto found = choices.find(name);
  if (found == choices.end()) throw std::runtime_error("unknown word: " + name);
  return found->second;
}

probe::ImageSpec parse_rule(std::istream& words) {
  std::string rule, interpolation, crop, rounding;
  probe::ImageSpec spec;
  words >> rule >> spec.resize_to >> spec.size >> interpolation >> crop >> rounding;
  if (!words) throw std::runtime_error("bad rule");
  using probe::ResizeRule, probe::Interpolation, probe::CropRule, probe::CropRounding;
  spec.resize = pick<ResizeRule>({{"shortest", ResizeRule::shortest},
                                  {"squash", ResizeRule::squash},
                                  {"pad", ResizeRule::pad}},
                                 rule);
  spec.interpolation = pick<Interpolation>(
      {{"bicubic", Interpolation::bicubic}, {"bilinear", Interpolation::bilinear}},
      interpolation);
  spec.crop = pick<CropRule>({{"center", CropRule::center}, {"none", CropRule::none}}, crop);
  spec.crop_rounding = pick<CropRounding>(
      {{"half_even", CropRounding::half_even}, {"floor", CropRounding::floor}}, rounding);
  spec.fill = {0, 128, 255};
  return spec;
}

void write_pixels(const probe::RgbImage& image) {
  std::cout.write(reinterpret_cast<const char*>(image.pixels.data()),
                  static_cast<std::streamsize>(image.pixels.size()));
}

void decode_file(const std::string& path, probe::RgbImage& image) {
  try {
    image = probe::read_image(path);
  } catch (const probe::Error& error) {
    std::cout << "error: " << error.what() << '\n';
    return;
  }
  std::cout << image.width << ' ' << image.height << '\n';
  write_pixels(image);
}

void read_pixels(int width, int height, probe::RgbImage& image) {
  image.width = width;
  image.height = height;
  image.pixels.resize(3 * static_cast<std::size_t>(image.width) * image.height);
  std::cin.read(reinterpret_cast<char*>(image.pixels.data()),
                static_cast<std::streamsize>(image.pixels.size()));
  if (!std::cin) throw std::runtime_error("too few bytes");
}

void print_fastest(const probe::RgbImage& image, const probe::ImageSpec& spec, int repeats) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    probe::fit_to_tower(image, spec);
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count());
  }
  std::cout << best << '\n';
}

void answer(const std::string& line, probe::RgbImage& image, int repeats) {
  if (line.starts_with("file ")) {
    decode_file(line.substr(5), image);
    return;
  }
  std::istringstream words(line);
  std::string first;
  words >> first;
  int width = 0, height = 0;
  if (first != "again") {
    width = std::stoi(first);
    words >> height;
  }
  const probe::ImageSpec spec = parse_rule(words);
  if (first != "again") read_pixels(width, height, image);
  if (repeats > 0) {
    print_fastest(image, spec, repeats);
  } else {
    write_pixels(probe::fit_to_tower(image, spec));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int repeats = argc == 3 ? std::atoi(argv[2]) : 0;
    probe::RgbImage image;
    for (std::string line; std::getline(std::cin, line);) {
      answer(line, image, repeats);
      std::cout.flush();
    }
  } catch (const std::exception& error) {
    std::cerr << "dump_pixels: " << error.what() << '\n';
    return 1;
  }
}

// Parity tool: raw RGB pictures in, fitted pictures out, so that a script can compare
// them with Pillow's. Decoding is left to the script; this isolates the resampling.
//
// dump_pixels < requests > pixels
//   request: one line "width height rule to size interpolation crop rounding\n", then
//            3 * width * height bytes; rule, interpolation, crop and rounding are named
//            as in encoders/BUNDLE.md. The fill of rule pad is (0, 128, 255).
//   answer:  3 * size * size bytes.
// dump_pixels --time N < one request: N fits, prints the milliseconds of the fastest.
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "encoders/preprocess.h"

namespace {

template <typename T>
T pick(const std::map<std::string, T>& choices, const std::string& name) {
  const auto found = choices.find(name);
  if (found == choices.end()) throw std::runtime_error("unknown word: " + name);
  return found->second;
}

probe::ImageSpec parse_request(const std::string& line, probe::RgbImage& image) {
  std::istringstream words(line);
  std::string rule, interpolation, crop, rounding;
  probe::ImageSpec spec;
  words >> image.width >> image.height >> rule >> spec.resize_to >> spec.size >>
      interpolation >> crop >> rounding;
  if (!words) throw std::runtime_error("bad request: " + line);
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

}  // namespace

int main(int argc, char** argv) {
  try {
    const int repeats = argc == 3 ? std::atoi(argv[2]) : 0;
    std::string line;
    while (std::getline(std::cin, line)) {
      probe::RgbImage image;
      const probe::ImageSpec spec = parse_request(line, image);
      image.pixels.resize(3 * static_cast<std::size_t>(image.width) * image.height);
      std::cin.read(reinterpret_cast<char*>(image.pixels.data()),
                    static_cast<std::streamsize>(image.pixels.size()));
      if (!std::cin) throw std::runtime_error("too few bytes after: " + line);
      double best = 1e9;
      for (int i = 0; i < repeats; ++i) {
        const auto start = std::chrono::steady_clock::now();
        probe::fit_to_tower(image, spec);
        const std::chrono::duration<double, std::milli> spent =
            std::chrono::steady_clock::now() - start;
        best = std::min(best, spent.count());
      }
      if (repeats > 0) {
        std::cout << best << '\n';
        continue;
      }
      const probe::RgbImage fitted = probe::fit_to_tower(image, spec);
      std::cout.write(reinterpret_cast<const char*>(fitted.pixels.data()),
                      static_cast<std::streamsize>(fitted.pixels.size()));
    }
  } catch (const std::exception& error) {
    std::cerr << "dump_pixels: " << error.what() << '\n';
    return 1;
  }
}

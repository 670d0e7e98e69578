#include "probe/imaging/color_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace probe {
namespace {

// name, {lightness, chroma, hue}, slack
constexpr std::array kColors = {
    NamedColor{"black", {0.20F, 0.000F, 0.0F}, 0.03F},
    NamedColor{"blush pink", {0.83F, 0.075F, 12.0F}, 0.04F},
    NamedColor{"bright blue", {0.58F, 0.190F, 258.0F}, 0.05F},
    NamedColor{"bright cyan", {0.86F, 0.140F, 196.0F}, 0.05F},
    NamedColor{"bright magenta", {0.66F, 0.270F, 332.0F}, 0.05F},
    NamedColor{"bright purple", {0.58F, 0.240F, 308.0F}, 0.05F},
    NamedColor{"bright red", {0.61F, 0.235F, 28.0F}, 0.03F},
    NamedColor{"bright yellow", {0.91F, 0.180F, 102.0F}, 0.05F},
    NamedColor{"crimson red", {0.55F, 0.210F, 21.0F}, 0.03F},
    NamedColor{"deep blue", {0.40F, 0.180F, 263.0F}, 0.04F},
    NamedColor{"deep cyan", {0.60F, 0.100F, 200.0F}, 0.04F},
    NamedColor{"deep green", {0.45F, 0.120F, 147.0F}, 0.04F},
    NamedColor{"deep orange", {0.66F, 0.170F, 48.0F}, 0.04F},
    NamedColor{"deep purple", {0.38F, 0.160F, 308.0F}, 0.04F},
    NamedColor{"deep red", {0.45F, 0.175F, 26.0F}, 0.03F},
    NamedColor{"emerald green", {0.62F, 0.140F, 157.0F}, 0.05F},
    NamedColor{"fiery red", {0.62F, 0.220F, 32.0F}, 0.03F},
    NamedColor{"golden", {0.78F, 0.150F, 86.0F}, 0.05F},
    NamedColor{"iridescent blue", {0.62F, 0.170F, 250.0F}, 0.05F},
    NamedColor{"lemon yellow", {0.94F, 0.170F, 108.0F}, 0.04F},
    NamedColor{"light blue", {0.82F, 0.090F, 240.0F}, 0.05F},
    NamedColor{"light cyan", {0.91F, 0.075F, 200.0F}, 0.05F},
    NamedColor{"light green", {0.86F, 0.160F, 142.0F}, 0.05F},
    NamedColor{"light pink", {0.87F, 0.070F, 5.0F}, 0.04F},
    NamedColor{"light purple", {0.78F, 0.110F, 308.0F}, 0.05F},
    NamedColor{"light red", {0.72F, 0.150F, 24.0F}, 0.03F},
    NamedColor{"light yellow", {0.95F, 0.100F, 105.0F}, 0.04F},
    NamedColor{"neon pink", {0.70F, 0.220F, 352.0F}, 0.05F},
    NamedColor{"pure white", {0.98F, 0.000F, 0.0F}, 0.04F},
    NamedColor{"rich blue", {0.48F, 0.200F, 262.0F}, 0.04F},
    NamedColor{"rich cyan", {0.72F, 0.120F, 203.0F}, 0.04F},
    NamedColor{"rich purple", {0.45F, 0.190F, 312.0F}, 0.04F},
    NamedColor{"sky blue", {0.77F, 0.120F, 236.0F}, 0.05F},
    NamedColor{"soft green", {0.80F, 0.100F, 145.0F}, 0.05F},
    NamedColor{"soft pink", {0.83F, 0.090F, 2.0F}, 0.04F},
    NamedColor{"soft purple", {0.74F, 0.100F, 308.0F}, 0.05F},
    NamedColor{"soft tangerine", {0.80F, 0.120F, 60.0F}, 0.05F},
    NamedColor{"turquoise", {0.82F, 0.130F, 185.0F}, 0.05F},
    NamedColor{"vibrant blue", {0.52F, 0.220F, 262.0F}, 0.05F},
    NamedColor{"vibrant cyan", {0.84F, 0.135F, 200.0F}, 0.05F},
    NamedColor{"vibrant green", {0.72F, 0.210F, 143.0F}, 0.05F},
    NamedColor{"vibrant orange", {0.75F, 0.170F, 57.0F}, 0.05F},
    NamedColor{"vibrant pink", {0.68F, 0.230F, 355.0F}, 0.05F},
    NamedColor{"vibrant red", {0.61F, 0.235F, 28.0F}, 0.03F},
    NamedColor{"vibrant turquoise", {0.82F, 0.135F, 183.0F}, 0.05F},
    NamedColor{"violet", {0.56F, 0.220F, 300.0F}, 0.05F},
    NamedColor{"vivid green", {0.74F, 0.220F, 143.0F}, 0.05F},
    NamedColor{"vivid pink", {0.69F, 0.220F, 355.0F}, 0.05F},
    NamedColor{"vivid red", {0.60F, 0.230F, 28.0F}, 0.03F},
    NamedColor{"warm brown", {0.48F, 0.090F, 52.0F}, 0.04F},
    NamedColor{"warm purple", {0.50F, 0.170F, 322.0F}, 0.05F},
};

std::string plain(std::string_view name) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!name.empty() && is_space(name.front())) name.remove_prefix(1);
  while (!name.empty() && is_space(name.back())) name.remove_suffix(1);
  std::string result(name);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

std::span<const NamedColor> named_colors() {
  return kColors;
}

std::optional<NamedColor> find_named_color(std::string_view name) {
  const std::string wanted = plain(name);
  const auto it = std::find_if(kColors.begin(), kColors.end(),
                               [&](const NamedColor& color) { return color.name == wanted; });
  if (it == kColors.end()) return std::nullopt;
  return *it;
}

std::string color_slug(std::string_view name) {
  std::string slug = plain(name);
  std::replace(slug.begin(), slug.end(), ' ', '-');
  return slug;
}

}  // namespace probe

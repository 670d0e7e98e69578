// The classes of characters on which the repair of mojibake rests; see mojibake.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace probe::mojibake {

struct CharacterClasses {
  char16_t code;
  std::uint32_t classes;
};

#include "encoders/mojibake_tables.inc"

// Bits of the classes of `c`, 0 if it is in none.
inline std::uint32_t classes_of(char32_t c) {
  const auto* found = std::lower_bound(
      std::begin(kCharacterClasses), std::end(kCharacterClasses), c,
      [](const CharacterClasses& entry, char32_t code) { return entry.code < code; });
  return found != std::end(kCharacterClasses) && found->code == c ? found->classes : 0;
}

}  // namespace probe::mojibake

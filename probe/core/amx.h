// AMX, the tiles of Intel's CPUs: eight registers of 16 rows of 64 bytes.
#pragma once

#include <cstdint>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace probe {

// Linux lends the tiles to a process that asks (arch_prctl(2), ARCH_REQ_XCOMP_PERM); false where the
// CPU or the kernel has none. A CPU with tiles multiplies int8 and bfloat16 in them.
inline bool can_use_amx() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

// What _tile_loadconfig takes: all eight whole.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// In memory that is written before the program runs: to GCC 12 _tile_loadconfig reads eight bytes, and
// what stands behind them in a local variable may never be written.
inline constexpr TileShapes kWholeTiles;

}  // namespace probe

#include "encoders/tower_kernels.h"

#include "encoders/tower_kernel_sets.h"
#include "probe/core/amx.h"
#include "probe/core/avx512.h"

namespace probe {

#ifdef PROBE_HAS_X86_KERNELS

std::vector<TowerKernels> tower_kernels() {
  std::vector<TowerKernels> sets;
  const bool avx512 = can_use_avx512();
  if (avx512 && __builtin_cpu_supports("avx512bf16") && can_use_amx()) sets.push_back(amx_kernels());
  if (avx512) {
    sets.push_back(avx512_kernels());
    if (!__builtin_cpu_supports("avx512bf16")) sets.back().halves = {};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back(avx2_kernels());
  return sets;
}

#else

std::vector<TowerKernels> tower_kernels() { return {}; }

#endif

}  // namespace probe

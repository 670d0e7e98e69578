// AVX-512 as kernels here use it.
#pragma once

namespace probe {

// True if this CPU has its parts F, BW, DQ and VL.
inline bool can_use_avx512() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

}  // namespace probe

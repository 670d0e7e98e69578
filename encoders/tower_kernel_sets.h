// The kernels of each set of instructions; whether the CPU has them is asked in tower_kernels.cc.
// Private to the kernels.
#pragma once

#include "encoders/tower_kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define PROBE_HAS_X86_KERNELS 1
#endif

namespace probe {

TowerKernels avx2_kernels();    // AVX2, FMA
TowerKernels avx512_kernels();  // AVX-512 F, BW, DQ, VL; halves: BF16 too, multiplied in float32
ProductKernels<Bfloat16> amx_products();
ProductKernels<float> avx512_products();
void amx_layer_norm(const LayerNorm<Bfloat16>&);
TowerKernels amx_kernels();     // those of AVX-512, and AMX's tiles for attention in bfloat16

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
//
// Vector instructions of this machine. The library is built for the baseline of its architecture; functions
// marked TERRAZZO_TARGET_AVX2 are compiled for AVX2 and may be called only if has_avx2().
#pragma once

// -DTERRAZZO_HAVE_X86=0 builds only the scalar definitions, as on other architectures.
#if !defined(TERRAZZO_HAVE_X86)
#if defined(__x86_64__) && defined(__GNUC__)
#define TERRAZZO_HAVE_X86 1
#else
#define TERRAZZO_HAVE_X86 0
#endif
#endif

#if TERRAZZO_HAVE_X86
#define TERRAZZO_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2")))
#endif

namespace terrazzo::tile {

#if TERRAZZO_HAVE_X86
// BMI is checked too: every AVX2 machine has it, but a hypervisor may mask it.
[[nodiscard]] inline bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#endif

}  // namespace terrazzo::tile

// Picks the widest instruction set that was compiled in and that this processor supports. The environment variable
// SUFFICE_INSTRUCTION_SET=baseline|avx2|avx512 selects a narrower one (for tests).
#include <cstdlib>
#include <cstring>

#include "kernels.hpp"

namespace suffice {

extern const Kernels kernels_baseline;
#ifdef SUFFICE_HAS_AVX2
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

namespace {

const Kernels &choose() {
#ifdef SUFFICE_HAS_AVX2
    const char *asked = std::getenv("SUFFICE_INSTRUCTION_SET");
    const bool narrow = asked && !std::strcmp(asked, "baseline");
    const bool middle = asked && !std::strcmp(asked, "avx2");
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("fma")) return kernels_baseline;
    if (!narrow && !middle && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return kernels_avx512;
    if (!narrow && __builtin_cpu_supports("avx2")) return kernels_avx2;
#endif
    return kernels_baseline;
}

}  // namespace

const Kernels &kernels() {
    static const Kernels &chosen = choose();
    return chosen;
}

}  // namespace suffice

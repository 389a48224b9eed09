// The loops over memory. Compiled once per instruction set, each time into its own namespace. Nothing here may
// instantiate a template of the standard library, or the linker could use code made for a wide instruction set on a
// narrow processor.
#include <math.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "compensated.hpp"
#include "kernels.hpp"
#include "simd.hpp"

#define SUFFICE_JOIN(a, b) a##b
#define SUFFICE_NAME(a, b) SUFFICE_JOIN(a, b)
#define SUFFICE_TEXT(a) #a
#define SUFFICE_STRING(a) SUFFICE_TEXT(a)

#if defined(_MSC_VER)
#define RESTRICT __restrict
#else
#define RESTRICT __restrict__
#endif

namespace suffice {
namespace SUFFICE_SET {
namespace {

#include "loops/reading.hpp"

#include "loops/value_flags.hpp"
#include "loops/tiles.hpp"
#include "loops/posterior.hpp"

#include "loops/arrow.hpp"
#include "loops/bin_counts.hpp"
#include "loops/counts.hpp"
#include "loops/fourth_moments.hpp"
#include "loops/gaussian.hpp"
#include "loops/held_out.hpp"
#include "loops/linear.hpp"
#include "loops/moments.hpp"
#include "loops/grouped_moments.hpp"
#include "loops/pairs.hpp"
#include "loops/scatter.hpp"
#include "loops/sparse.hpp"
#include "loops/sums.hpp"

#include "loops/joining.hpp"  // after the moments, since it uses their smallest square

}  // namespace
}  // namespace SUFFICE_SET

extern const Kernels SUFFICE_NAME(kernels_, SUFFICE_SET);
const Kernels SUFFICE_NAME(kernels_, SUFFICE_SET) = {
    SUFFICE_STRING(SUFFICE_SET),   SUFFICE_SET::sum_kernels,           SUFFICE_SET::moment_kernels,
    SUFFICE_SET::scatter_kernels,  SUFFICE_SET::fourth_moment_kernels, SUFFICE_SET::gaussian_kernels,
    SUFFICE_SET::held_out_kernels, SUFFICE_SET::linear_kernels,        SUFFICE_SET::posterior_kernels,
    SUFFICE_SET::joining_kernels,  SUFFICE_SET::sparse_kernels,        SUFFICE_SET::count_kernels,
    SUFFICE_SET::arrow_kernels,    SUFFICE_SET::bin_kernels,           SUFFICE_SET::pair_kernels,
};

}  // namespace suffice

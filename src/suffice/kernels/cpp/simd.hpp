// Vectors of doubles, as wide as the instruction set supports. Lanes hold different rows and are never added to each
// other, so that results do not depend on the width. Internal linkage: each instruction set has its own.
#pragma once

#include <float.h>
#include <stdint.h>
#include <string.h>

#include "kernels.hpp"

namespace suffice {
namespace {

#if defined(__AVX512F__)
constexpr int64_t LANES = 8;
#elif defined(__AVX2__)
constexpr int64_t LANES = 4;
#else
constexpr int64_t LANES = 2;
#endif

#if defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t Bits __attribute__((vector_size(8 * LANES)));

inline Lanes all(double value) { return value - Lanes{}; }
inline Lanes load(const double *from) {
    Lanes out;
    memcpy(&out, from, sizeof(out));
    return out;
}
inline void store(double *to, Lanes value) { memcpy(to, &value, sizeof(value)); }

// The lanes of `value` where `here` is set, zero elsewhere.
inline Lanes where(Bits here, Lanes value) { return (Lanes)((Bits)value & here); }
inline Bits present(Lanes value) { return value == value; }
inline Lanes if_larger(Lanes a, Lanes b, Lanes yes, Lanes no) { return a > b ? yes : no; }
// 2^(n + more), where `whole` is an integer n plus 1.5 * 2^52.
inline Lanes power_of_two(Lanes whole, int64_t more) { return (Lanes)(((Bits)whole + (1023 + more)) << 52); }
#else
struct Bits {
    int64_t at[LANES];
};
struct Lanes {
    double at[LANES];
};
#define SUFFICE_LANEWISE(expression)                                                                                   \
    Lanes out;                                                                                                         \
    for (int64_t i = 0; i < LANES; ++i) out.at[i] = expression;                                                        \
    return out
inline Lanes all(double value) { SUFFICE_LANEWISE(value); }
inline Lanes load(const double *from) { SUFFICE_LANEWISE(from[i]); }
inline void store(double *to, Lanes value) {
    for (int64_t i = 0; i < LANES; ++i) to[i] = value.at[i];
}
inline Lanes operator+(Lanes a, Lanes b) { SUFFICE_LANEWISE(a.at[i] + b.at[i]); }
inline Lanes operator-(Lanes a, Lanes b) { SUFFICE_LANEWISE(a.at[i] - b.at[i]); }
inline Lanes operator*(Lanes a, Lanes b) { SUFFICE_LANEWISE(a.at[i] * b.at[i]); }
inline Lanes operator/(Lanes a, Lanes b) { SUFFICE_LANEWISE(a.at[i] / b.at[i]); }
inline Lanes &operator+=(Lanes &a, Lanes b) { return a = a + b; }
inline Lanes &operator-=(Lanes &a, Lanes b) { return a = a - b; }
inline Lanes where(Bits here, Lanes value) { SUFFICE_LANEWISE(here.at[i] ? value.at[i] : 0.0); }
inline Bits present(Lanes value) {
    Bits out;
    for (int64_t i = 0; i < LANES; ++i) out.at[i] = value.at[i] == value.at[i] ? -1 : 0;
    return out;
}
inline Lanes if_larger(Lanes a, Lanes b, Lanes yes, Lanes no) {
    SUFFICE_LANEWISE(a.at[i] > b.at[i] ? yes.at[i] : no.at[i]);
}
inline Lanes power_of_two(Lanes whole, int64_t more) {
    Lanes out;
    for (int64_t i = 0; i < LANES; ++i) {
        uint64_t bits;
        memcpy(&bits, &whole.at[i], 8);
        bits = (bits + 1023 + static_cast<uint64_t>(more)) << 52;
        memcpy(&out.at[i], &bits, 8);
    }
    return out;
}
#undef SUFFICE_LANEWISE
#endif

inline Lanes larger(Lanes a, Lanes b) { return if_larger(a, b, a, b); }  // b if either is NaN

inline bool is_zero(Lanes value) {
    double each[LANES];
    store(each, value);
    bool zero = true;
    for (int64_t i = 0; i < LANES; ++i) zero &= each[i] == 0;
    return zero;
}

constexpr int64_t GROUPS = TILE / LANES;  // vectors in a tile

}  // namespace
}  // namespace suffice

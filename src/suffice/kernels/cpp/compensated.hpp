// Numbers kept as an unevaluated sum of two doubles. Internal linkage: each instruction set has its own.
#pragma once

namespace suffice {
namespace {

// sum + error == a + b exactly.
inline void two_sum(double a, double b, double &sum, double &error) {
    sum = a + b;
    const double t = sum - a;
    error = (a - (sum - t)) + (b - t);
}

// high + low += value.
inline void add(double &high, double &low, double value) {
    double sum, error;
    two_sum(high, value, sum, error);
    low += error;
    high = sum + low;
    low -= high - sum;
}

// product + error == a b exactly, barring overflow and underflow; the same bits with and without a fused multiply-add.
inline void two_product(double a, double b, double &product, double &error) {
    product = a * b;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    error = __builtin_fma(a, b, -product);
#else
    constexpr double splitter = 134217729.0;  // 2^27 + 1
    const double s = splitter * a, t = splitter * b;
    const double a_high = s - (s - a), b_high = t - (t - b);
    const double a_low = a - a_high, b_low = b - b_high;
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}

}  // namespace
}  // namespace suffice

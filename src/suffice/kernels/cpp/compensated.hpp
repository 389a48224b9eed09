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

}  // namespace
}  // namespace suffice

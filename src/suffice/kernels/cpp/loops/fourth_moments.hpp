// Included by instruction_set.cpp, within its namespace: sums of products of up to four deviations, about another
// point.

// An unevaluated sum of two doubles, with the arithmetic of numerics/compensated.py.
struct Two {
    double high, low;
};

inline Two operator+(Two a, Two b) {
    double sum, error;
    two_sum(a.high, b.high, sum, error);
    const double low = error + (a.low + b.low), high = sum + low;
    return {high, low - (high - sum)};
}

inline Two operator*(Two a, Two b) {
    double product, error;
    two_product(a.high, b.high, product, error);
    const double low = error + (a.high * b.low + a.low * b.high), high = product + low;
    return {high, low - (high - product)};
}

inline Two times(double power_of_two, Two a) { return {power_of_two * a.high, power_of_two * a.low}; }

inline void add_to(double &high, double &low, Two value) {
    const Two sum = Two{high, low} + value;
    high = sum.high;
    low = sum.low;
}

// Columns `first`..`last` - 1 of a matrix (d x d), as rows.
void transpose_columns(const double *RESTRICT matrix, int64_t d, int64_t first, int64_t last, double *RESTRICT out) {
    for (int64_t j = 0; j < d; ++j)
        for (int64_t i = first; i < last; ++i) out[(i - first) * d + j] = matrix[j * d + i];
}

void add_moved(const FourthMoments &m, int64_t first, int64_t last, double sign, double *buffer, FourthTotals out) {
    const int64_t d = m.columns, size = (last - first) * d;
    double *const turned = buffer, *const turned_low = buffer + size, *const v = turned_low + size,
                  *const v_low = v + d;
    transpose_columns(m.cubic, d, first, last, turned);
    transpose_columns(m.cubic_low, d, first, last, turned_low);
    for (int64_t j = 0; j < d; ++j) {
        v[j] = m.scatter[j * (d + 1)];
        v_low[j] = m.scatter_low[j * (d + 1)];
    }
    const Two n = {m.weight, m.weight_low};
    for (int64_t i = first; i < last; ++i) {
        const Two s_i = {m.shift[i], m.shift_low[i]}, v_i = {v[i], v_low[i]}, square_i = s_i * s_i;
        const double *RESTRICT const shift = m.shift, *RESTRICT const shift_low = m.shift_low;
        const double *RESTRICT const scatter = m.scatter + i * d, *RESTRICT const scatter_low = m.scatter_low + i * d;
        const double *RESTRICT const cubic = m.cubic + i * d, *RESTRICT const cubic_low = m.cubic_low + i * d;
        const double *RESTRICT const quartic = m.quartic + i * d, *RESTRICT const quartic_low = m.quartic_low + i * d;
        const double *RESTRICT const across = turned + (i - first) * d;
        const double *RESTRICT const across_low = turned_low + (i - first) * d;
        double *RESTRICT const second = out.scatter + i * d, *RESTRICT const second_low = out.scatter_low + i * d;
        double *RESTRICT const third = out.cubic + i * d, *RESTRICT const third_low = out.cubic_low + i * d;
        double *RESTRICT const fourth = out.quartic + i * d, *RESTRICT const fourth_low = out.quartic_low + i * d;
        for (int64_t j = 0; j < d; ++j) {
            const Two s_j = {shift[j], shift_low[j]}, v_j = {v[j], v_low[j]}, apart = s_i * s_j;
            const Two product = {scatter[j], scatter_low[j]}, here = {cubic[j], cubic_low[j]};
            const Two there = {across[j], across_low[j]}, most = {quartic[j], quartic_low[j]};
            add_to(second[j], second_low[j], times(sign, product + apart * n));
            add_to(third[j], third_low[j],
                   times(sign, here + s_j * v_i + times(2, s_i * product) + square_i * s_j * n));
            add_to(fourth[j], fourth_low[j],
                   times(sign, most + times(2, s_j * here + s_i * there) + (s_j * s_j * v_i + square_i * v_j) +
                                   times(4, apart * product) + apart * apart * n));
        }
    }
}

constexpr FourthMomentKernels fourth_moment_kernels = {add_moved};

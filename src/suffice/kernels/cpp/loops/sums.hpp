// Included by instruction_set.cpp, within its namespace: per-class sums.

// Adds a row to the totals of its class. Checks the values in the same loop, which costs little while it waits for
// memory.
template <CellCount cell, typename T>
inline uint64_t add_cells(const T *RESTRICT value, int64_t d, double w, double threshold, double *RESTRICT t) {
    uint64_t odd = 0;
    for (int64_t j = 0; j < d; ++j) {
        const double v = static_cast<double>(value[j]);
        // With a threshold, negative numbers are allowed.
        odd |= cell == CellCount::above ? endless_bits(v) : odd_bits(v);
        if (cell == CellCount::value) t[j] += w * v;
        if (cell == CellCount::above) t[j] += v > threshold ? w : 0.0;
        if (cell == CellCount::missing) t[j] += v != v ? w : 0.0;
    }
    return odd;
}

template <CellCount cell>
uint32_t sums_of(const Matrix &x, const Membership &m, double threshold, bool with_flags, int64_t first, int64_t last,
                 int64_t column, int64_t columns, double *buffer, double *total) {
    uint32_t flags = 0;
    each_row(x, first, last, column, columns, buffer, [&](const auto *values, int64_t i) {
        const double weight = m.weights ? m.weights[i] : 1.0;
        const int64_t code = m.codes ? m.codes[i] : 0;
        uint64_t odd = ~uint64_t{0};  // for a row that was not read yet: check it
        if (m.codes && weight > 0 && code >= 0 && code < m.classes)
            odd = add_cells<cell>(values, columns, weight, threshold, total + code * columns);
        else if (m.soft && weight > 0) {
            const double *soft = m.soft + i * m.classes;
            for (int64_t k = 0; k < m.classes; ++k)
                if (weight * soft[k] > 0)
                    odd = add_cells<cell>(values, columns, weight * soft[k], threshold, total + k * columns);
        }
        if (with_flags && is_odd(odd)) flags |= value_flags(values, columns);
    });
    return flags;
}

// The type in which numbers are summed: integers are exact and fast.
template <typename T> struct Added {
    using type = double;
};
template <> struct Added<int8_t> {
    using type = int64_t;
};
template <> struct Added<uint8_t> {
    using type = int64_t;
};

// Sum over some rows of a column, four at a time, since each addition waits for the one before.
template <CellCount cell, typename T>
inline double sum_down(const T *data, int64_t stride, const int32_t *rows, int64_t count, const double *weights,
                       double threshold) {
    using Sum = typename Added<T>::type;
    if (cell == CellCount::value && !weights) {
        Sum sum[4] = {};
        int64_t r = 0;
        for (; r + 4 <= count; r += 4)
            for (int64_t l = 0; l < 4; ++l) sum[l] += static_cast<Sum>(data[rows[r + l] * stride]);
        for (; r < count; ++r) sum[0] += static_cast<Sum>(data[rows[r] * stride]);
        return static_cast<double>((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
    double sum[4] = {};
    for (int64_t r = 0; r < count; ++r) {
        const double v = static_cast<double>(data[rows[r] * stride]), w = weights ? weights[rows[r]] : 1.0;
        if (cell == CellCount::value) sum[r & 3] += w * v;
        if (cell == CellCount::above) sum[r & 3] += v > threshold ? w : 0.0;
        if (cell == CellCount::missing) sum[r & 3] += v != v ? w : 0.0;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

constexpr int64_t SUM_ROWS = 1024, SUM_CLASSES = 64;

// The same for columns stored in their own arrays, one after another, if each row has one of few classes: rows are
// sorted by class once for all columns.
template <CellCount cell>
uint32_t column_sums(const Matrix &x, const Membership &m, double threshold, bool with_flags, int64_t first,
                     int64_t last, int64_t column, int64_t columns, double *, double *total) {
    uint32_t flags = 0;
    int32_t order[SUM_ROWS];
    for (int64_t start = first; start < last; start += SUM_ROWS) {
        const int64_t count = last - start < SUM_ROWS ? last - start : SUM_ROWS;
        const int64_t *const codes = m.codes + start;
        const double *const weights = m.weights ? m.weights + start : nullptr;
        int32_t ends[SUM_CLASSES + 1] = {};
        const auto counts = [&](int64_t i) {
            return codes[i] >= 0 && codes[i] < m.classes && (!weights || weights[i] > 0);
        };
        for (int64_t i = 0; i < count; ++i)
            if (counts(i)) ++ends[codes[i] + 1];
        for (int64_t k = 0; k < m.classes; ++k) ends[k + 1] += ends[k];
        for (int64_t i = 0; i < count; ++i)
            if (counts(i)) order[ends[codes[i]]++] = static_cast<int32_t>(i);  // ends[k] becomes where class k ends
        for (int64_t j = 0; j < columns; ++j) {
            const Column &c = x.each[column + j];
            with_type(c.type, c.data, [&](auto *data) {
                const auto *from = data + start * c.stride;
                for (int64_t k = 0; k < m.classes; ++k) {
                    const int64_t begin = k ? ends[k - 1] : 0;
                    total[k * columns + j] +=
                        sum_down<cell>(from, c.stride, order + begin, ends[k] - begin, weights, threshold);
                }
                if (with_flags && c.stride == 1) flags |= value_flags(from, count);
                else if (with_flags)
                    for (int64_t i = 0; i < count; ++i) flags |= value_flags(from + i * c.stride, 1);
            });
        }
    }
    return flags;
}

uint32_t sums(const Matrix &x, const Membership &m, const CellRule &rule, bool with_flags, int64_t first, int64_t last,
              int64_t column, int64_t columns, double *buffer, double *total) {
    const bool down = x.each && m.codes && m.classes <= SUM_CLASSES;
    const auto run = rule.cell == CellCount::value ? (down ? column_sums<CellCount::value> : sums_of<CellCount::value>)
                     : rule.cell == CellCount::above
                         ? (down ? column_sums<CellCount::above> : sums_of<CellCount::above>)
                         : (down ? column_sums<CellCount::missing> : sums_of<CellCount::missing>);
    return run(x, m, rule.threshold, with_flags, first, last, column, columns, buffer, total);
}

constexpr SumKernels sum_kernels = {sums};

// Included by instruction_set.cpp, within its namespace: sums of each class.

// Adds a row to the totals of its class; looks at it in passing, since values that come from memory leave time for that.
template <CellCount cell>
inline uint64_t add_cells(const double *RESTRICT value, int64_t d, double w, double threshold, double *RESTRICT t) {
    uint64_t odd = 0;
    for (int64_t j = 0; j < d; ++j) {
        const double v = value[j];
        odd |= cell == CellCount::above ? endless_bits(v) : odd_bits(v);  // below a threshold numbers may be negative
        if (cell == CellCount::value) t[j] += w * v;
        if (cell == CellCount::above) t[j] += v > threshold ? w : 0.0;
        if (cell == CellCount::missing) t[j] += v != v ? w : 0.0;
    }
    return odd;
}

template <CellCount cell>
uint32_t sums_of(const Matrix &x, const Membership &m, double threshold, bool looks, int64_t first, int64_t last,
                 int64_t column, int64_t columns, double *buffer, double *total) {
    uint32_t met = 0;
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        int64_t step;
        const double *values = rows_of(x, start, count, column, columns, buffer, step);
        for (int64_t i = 0; i < count; ++i, values += step) {
            const double weight = m.weights ? m.weights[start + i] : 1.0;
            const int64_t code = m.codes ? m.codes[start + i] : 0;
            uint64_t odd = ~uint64_t{0};  // of a row that was not read yet
            if (m.codes && weight > 0 && code >= 0 && code < m.classes)
                odd = add_cells<cell>(values, columns, weight, threshold, total + code * columns);
            else if (m.soft && weight > 0) {
                const double *soft = m.soft + (start + i) * m.classes;
                for (int64_t k = 0; k < m.classes; ++k)
                    if (weight * soft[k] > 0)
                        odd = add_cells<cell>(values, columns, weight * soft[k], threshold, total + k * columns);
            }
            if (looks && is_odd(odd)) met |= look(values, columns);
        }
    }
    return met;
}

uint32_t sums(const Matrix &x, const Membership &m, const Counted &what, bool looks, int64_t first, int64_t last,
              int64_t column, int64_t columns, double *buffer, double *total) {
    const auto run = what.cell == CellCount::value ? sums_of<CellCount::value>
                     : what.cell == CellCount::above ? sums_of<CellCount::above> : sums_of<CellCount::missing>;
    return run(x, m, what.threshold, looks, first, last, column, columns, buffer, total);
}

constexpr SumKernels sum_kernels = {sums};

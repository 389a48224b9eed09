// Included by instruction_set.cpp, within its namespace: class sums and scores of the stored cells of a sparse matrix.

template <typename Index> struct BitsOf {
    using Type = uint32_t;
};
template <> struct BitsOf<int64_t> {
    using Type = uint64_t;
};

// Reads cells in chunks: checks their indices and values, and converts them to doubles by the cell rule.
template <typename Index> struct CellReader {
    using Bits = typename BitsOf<Index>::Type;
    const Sparse &x;
    const CellRule &rule;
    int64_t limit;      // indices must be below it; it fits in an Index
    bool keep_missing;  // whether NaN is kept for the caller to handle
    double *buffer;
    uint32_t flags = 0, here = 0;  // flags of all cells, and of those read last

    const Index *bounds() const { return static_cast<const Index *>(x.bounds); }
    const Index *indices() const { return static_cast<const Index *>(x.indices); }

    // Prefetches cells first..last-1 while others are processed.
    void fetch(int64_t first, int64_t last) const {
#if defined(__GNUC__)
        const int64_t line = 64 / static_cast<int64_t>(sizeof(Index));
        for (int64_t i = first; i < last; i += line) __builtin_prefetch(indices() + i);
        if (x.type == Type::f64)
            for (int64_t i = first; i < last; i += 8) __builtin_prefetch(static_cast<const double *>(x.values) + i);
#endif
    }

    // Reads cells first..first+count-1; returns null if an index is outside the matrix.
    const double *read(int64_t first, int64_t count) {
        const Index *RESTRICT at = indices() + first;
        Bits bad = 0;  // its highest bit is set by an index below zero or above the last
        const Bits end = static_cast<Bits>(limit - 1);
        for (int64_t i = 0; i < count; ++i) bad |= static_cast<Bits>(at[i]) | (end - static_cast<Bits>(at[i]));
        if (bad >> (8 * sizeof(Bits) - 1)) {
            flags |= FLAG_OUTSIDE;
            return nullptr;
        }
        const double *value = buffer;
        if (x.type == Type::f64) value = static_cast<const double *>(x.values) + first;
        else
            with_type(x.type, x.values, [&](auto *data) {
                for (int64_t i = 0; i < count; ++i) buffer[i] = static_cast<double>(data[first + i]);
            });
        here = value_flags(value, count);
        flags |= here;
        if (rule.cell == CellCount::above) {
            const double t = rule.threshold;
            if (keep_missing && (here & FLAG_MISSING))
                for (int64_t i = 0; i < count; ++i)
                    buffer[i] = value[i] > t ? 1.0 : value[i] == value[i] ? 0.0 : value[i];
            else
                for (int64_t i = 0; i < count; ++i) buffer[i] = value[i] > t ? 1.0 : 0.0;
            return buffer;
        }
        if (rule.cell == CellCount::missing) {
            for (int64_t i = 0; i < count; ++i) buffer[i] = value[i] != value[i] ? 1.0 : 0.0;
            return buffer;
        }
        if ((here & FLAG_MISSING) && !keep_missing) {
            for (int64_t i = 0; i < count; ++i) buffer[i] = value[i] == value[i] ? value[i] : 0.0;
            return buffer;
        }
        return value;
    }
};

// The indices of a row differ, but the compiler need not know: cells are added one by one.
template <typename Index>
inline void add_at(const Index *RESTRICT index, const double *RESTRICT value, int64_t count, double w, double *t) {
    if (w == 1.0)
        for (int64_t i = 0; i < count; ++i) t[index[i]] += value[i];
    else
        for (int64_t i = 0; i < count; ++i) t[index[i]] += w * value[i];
}

template <typename Index>
uint32_t add_rows_of(const Sparse &x, const Membership &m, const CellRule &rule, const int64_t *order, int64_t first,
                     int64_t last, int64_t low, int64_t high, double *buffer, double *total) {
    CellReader<Index> cells{x, rule, x.columns, false, buffer};
    const Index *bounds = cells.bounds(), *indices = cells.indices();
    const int64_t d = x.columns;
    // Cells from..to-1 are in memory; consecutive rows are read together.
    int64_t from = 0, to = 0;
    const double *value = nullptr;
    for (int64_t i = first; i < last; ++i) {
        const int64_t row = order ? order[i] : i;
        const int64_t end = bounds[row + 1], reach = order ? end : bounds[last];
        const double weight = m.weights ? m.weights[row] : 1.0;
        for (int64_t cell = bounds[row]; cell < end;) {
            if (cell >= to || cell < from) {
                from = cell;
                to = reach - cell < CELLS ? reach : cell + CELLS;
                value = cells.read(from, to - from);
                if (!value) return cells.flags;
                if (!order) cells.fetch(to, reach - to < CELLS ? reach : to + CELLS);
            }
            const int64_t stop = end < to ? end : to, count = stop - cell;
            if (weight > 0) {
                if (m.codes) {
                    const int64_t k = m.codes[row];
                    if (k >= low && k < high)
                        add_at(indices + cell, value + (cell - from), count, weight, total + k * d);
                } else {
                    for (int64_t k = low; k < high; ++k) {
                        const double w = weight * m.soft[row * m.classes + k];
                        if (w > 0) add_at(indices + cell, value + (cell - from), count, w, total + k * d);
                    }
                }
            }
            cell = stop;
        }
    }
    return cells.flags;
}

template <typename Index>
uint32_t add_columns_of(const Sparse &x, const Membership &m, const CellRule &rule, int64_t first, int64_t last,
                        double *buffer, double *total) {
    CellReader<Index> cells{x, rule, x.rows, false, buffer};
    const Index *bounds = cells.bounds(), *indices = cells.indices();
    double *RESTRICT sum = buffer + CELLS;
    for (int64_t j = first; j < last; ++j) {
        const int64_t end = bounds[j + 1];
        if (bounds[j] == end) continue;
        for (int64_t k = 0; k < m.classes; ++k) sum[k] = 0;
        for (int64_t cell = bounds[j]; cell < end; cell += CELLS) {
            const int64_t count = end - cell < CELLS ? end - cell : CELLS;
            const double *RESTRICT value = cells.read(cell, count);
            if (!value) return cells.flags;
            const Index *RESTRICT index = indices + cell;
            for (int64_t i = 0; i < count; ++i) {
                const int64_t row = index[i];
                const double weight = m.weights ? m.weights[row] : 1.0;
                if (!(weight > 0)) continue;
                if (m.codes) {
                    const int64_t k = m.codes[row];
                    if (k >= 0 && k < m.classes) sum[k] += weight * value[i];
                } else {
                    const double *soft = m.soft + row * m.classes;
                    for (int64_t k = 0; k < m.classes; ++k)
                        if (weight * soft[k] > 0) sum[k] += weight * soft[k] * value[i];
                }
            }
        }
        for (int64_t k = 0; k < m.classes; ++k) total[k * x.columns + j] += sum[k];
    }
    return cells.flags;
}

// Adds value times slope of some cells to the scores of a row: four cells together, so that sums do not wait for each
// other. `K` is the number of classes if it is known at compile time, else 0.
template <int K, typename Index>
inline void add_scores(const Index *RESTRICT index, const double *RESTRICT value, int64_t count,
                       const double *RESTRICT slope, int64_t classes, double *RESTRICT out) {
    const int64_t n = K ? K : classes;
    double sum[K ? K : 1];
    double *RESTRICT to = K ? sum : out;
    if (K)
        for (int64_t k = 0; k < n; ++k) sum[k] = out[k];
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const double *RESTRICT a = slope + static_cast<int64_t>(index[i]) * n;
        const double *RESTRICT b = slope + static_cast<int64_t>(index[i + 1]) * n;
        const double *RESTRICT c = slope + static_cast<int64_t>(index[i + 2]) * n;
        const double *RESTRICT d = slope + static_cast<int64_t>(index[i + 3]) * n;
        const double p = value[i], q = value[i + 1], r = value[i + 2], s = value[i + 3];
        for (int64_t k = 0; k < n; ++k) to[k] += (p * a[k] + q * b[k]) + (r * c[k] + s * d[k]);
    }
    for (; i < count; ++i) {
        const double *RESTRICT a = slope + static_cast<int64_t>(index[i]) * n;
        for (int64_t k = 0; k < n; ++k) to[k] += value[i] * a[k];
    }
    if (K)
        for (int64_t k = 0; k < n; ++k) out[k] = sum[k];
}

// The same cell by cell, where cells may be missing or impossible. Counts in `left` the remaining columns in which a
// zero is impossible, and sets `out` to minus infinity for an impossible value.
template <typename Index>
void add_odd_scores(const Index *index, const double *value, int64_t count, const CellScores &s, double *left,
                    double *out) {
    const int64_t n = s.classes;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t at = static_cast<int64_t>(index[i]) * n;
        const double v = value[i];
        const bool hole = s.missing && v != v;
        for (int64_t k = 0; k < n; ++k) {
            if (hole) out[k] -= s.zero ? s.zero[at + k] : 0.0;
            else if (v != 0) out[k] += v * s.slope[at + k];
            if (s.never_more && v > 0 && s.never_more[at + k]) out[k] = -INFINITY;
            if (s.never_zero && (hole || v != 0) && s.never_zero[at + k]) left[k] -= 1;
        }
    }
}

template <int K, typename Index>
uint32_t scores_in(const Sparse &x, const CellScores &s, const CellRule &rule, int64_t first, int64_t last,
                   double *buffer, double *out) {
    CellReader<Index> cells{x, rule, x.columns, true, buffer};
    const Index *bounds = cells.bounds(), *indices = cells.indices();
    const int64_t n = s.classes;
    double *left = buffer + CELLS;
    const bool never = s.never_more || s.never_zero;
    int64_t row = first;
    while (row < last) {
        // As many whole rows as can be read together, or parts of one longer row.
        int64_t stop = row + 1;
        while (stop < last && static_cast<int64_t>(bounds[stop + 1]) - bounds[row] <= CELLS) ++stop;
        for (int64_t i = row; i < stop; ++i) {
            for (int64_t k = 0; k < n; ++k) out[i * n + k] = s.offset[k];
        }
        if (s.zeros)
            for (int64_t k = 0; k < n; ++k) left[k] = static_cast<double>(s.zeros[k]);
        for (int64_t from = bounds[row]; from < bounds[stop]; from += CELLS) {
            const int64_t to = bounds[stop] - from < CELLS ? bounds[stop] : from + CELLS;
            const double *value = cells.read(from, to - from);
            if (!value) return cells.flags;
            const int64_t next = bounds[last] - to < CELLS ? static_cast<int64_t>(bounds[last]) : to + CELLS;
            cells.fetch(to, next);
            const bool holes = s.missing && (cells.here & FLAG_MISSING);
            const bool endless = rule.cell == CellCount::above && (cells.here & FLAG_INFINITE);
            for (int64_t i = row; i < stop; ++i) {
                const int64_t begin = bounds[i] < from ? from : bounds[i],
                              end = bounds[i + 1] < to ? bounds[i + 1] : to;
                double *to_row = out + i * n;
                // Decided for each row alone, so that its score does not depend on neighbouring rows.
                bool odd = never;
                for (int64_t c = begin; holes && c < end; ++c) odd |= value[c - from] != value[c - from];
                if (!odd) add_scores<K>(indices + begin, value + (begin - from), end - begin, s.slope, n, to_row);
                else {
                    if (s.zeros && stop > row + 1)
                        for (int64_t k = 0; k < n; ++k) left[k] = static_cast<double>(s.zeros[k]);
                    add_odd_scores(indices + begin, value + (begin - from), end - begin, s, left, to_row);
                    if (s.never_zero && end == bounds[i + 1])
                        for (int64_t k = 0; k < n; ++k)
                            if (left[k] > 0) to_row[k] = -INFINITY;
                }
                if (endless)
                    with_type(x.type, x.values, [&](auto *data) {
                        for (int64_t c = begin; c < end; ++c)
                            if (isinf(static_cast<double>(data[c])))
                                for (int64_t k = 0; k < n; ++k) to_row[k] = NAN;
                    });
            }
        }
        if (s.never_zero && bounds[row] == bounds[stop])  // rows without cells
            for (int64_t i = row; i < stop; ++i)
                for (int64_t k = 0; k < n; ++k)
                    if (s.zeros[k] > 0) out[i * n + k] = -INFINITY;
        row = stop;
    }
    return cells.flags;
}

template <typename Index>
uint32_t scores_of(const Sparse &x, const CellScores &s, const CellRule &rule, int64_t first, int64_t last,
                   double *buffer, double *out) {
    switch (s.classes) {
    case 2: return scores_in<2, Index>(x, s, rule, first, last, buffer, out);
    case 3: return scores_in<3, Index>(x, s, rule, first, last, buffer, out);
    case 4: return scores_in<4, Index>(x, s, rule, first, last, buffer, out);
    default: return scores_in<0, Index>(x, s, rule, first, last, buffer, out);
    }
}

template <typename Index> uint32_t check_in(const Sparse &x, int64_t first, int64_t last) {
    using Bits = typename BitsOf<Index>::Type;
    const Index *bounds = static_cast<const Index *>(x.bounds), *indices = static_cast<const Index *>(x.indices);
    const Bits end = static_cast<Bits>((x.by_column ? x.rows : x.columns) - 1);
    Bits bad = 0;  // its highest bit is set by an index below zero or above the last
    bool falls = false;
    for (int64_t i = first; i < last; ++i) {
        const Index *RESTRICT at = indices + bounds[i];
        const int64_t count = bounds[i + 1] - bounds[i];
        if (count > 0) bad |= static_cast<Bits>(at[0]) | (end - static_cast<Bits>(at[0]));
        for (int64_t c = 1; c < count; ++c) {
            bad |= static_cast<Bits>(at[c]) | (end - static_cast<Bits>(at[c]));
            falls |= at[c] <= at[c - 1];
        }
    }
    return (bad >> (8 * sizeof(Bits) - 1) ? FLAG_OUTSIDE : 0u) | (falls ? FLAG_UNSORTED : 0u);
}

uint32_t add_rows(const Sparse &x, const Membership &m, const CellRule &rule, const int64_t *order, int64_t first,
                  int64_t last, int64_t low, int64_t high, double *buffer, double *total) {
    return (x.wide ? add_rows_of<int64_t> : add_rows_of<int32_t>)(x, m, rule, order, first, last, low, high, buffer,
                                                                  total);
}

uint32_t add_columns(const Sparse &x, const Membership &m, const CellRule &rule, int64_t first, int64_t last,
                     double *buffer, double *total) {
    return (x.wide ? add_columns_of<int64_t> : add_columns_of<int32_t>)(x, m, rule, first, last, buffer, total);
}

uint32_t sparse_scores(const Sparse &x, const CellScores &s, const CellRule &rule, int64_t first, int64_t last,
                       double *buffer, double *out) {
    return (x.wide ? scores_of<int64_t> : scores_of<int32_t>)(x, s, rule, first, last, buffer, out);
}

uint32_t check_indices(const Sparse &x, int64_t first, int64_t last) {
    return (x.wide ? check_in<int64_t> : check_in<int32_t>)(x, first, last);
}

constexpr SparseKernels sparse_kernels = {add_rows, add_columns, sparse_scores, check_indices};

// Included by instruction_set.cpp, within its namespace: value ranges of columns, and per-class counts of their levels.

template <typename Pointer> struct Plain;
template <typename T> struct Plain<const T *> {
    using type = T;
};

template <typename T> constexpr bool is_float = T(0.5) != T(0);

// The largest and smallest number of each type, as starting values.
template <typename T> constexpr T most() {
    if constexpr (is_float<T>) return static_cast<T>(__builtin_inf());
    else if constexpr (T(-1) > T(0)) return static_cast<T>(~T(0));
    else return static_cast<T>((~uint64_t{0} >> 1) >> (64 - 8 * sizeof(T)));
}

template <typename T> constexpr T least() {
    if constexpr (is_float<T>) return static_cast<T>(-__builtin_inf());
    else if constexpr (T(-1) > T(0)) return 0;
    else return static_cast<T>(-most<T>() - 1);
}

constexpr int64_t SIDE_BY_SIDE = 64;  // columns scanned together, or numbers of one column

template <typename T> struct ValueScan {
    T low[SIDE_BY_SIDE], high[SIDE_BY_SIDE];
    T holes[SIDE_BY_SIDE], parts[SIDE_BY_SIDE];  // flags: zero or not
};

// Scans `width` adjacent numbers, `count` times, `step` apart. Keeps a minimum for each of them: they are independent,
// while the compiler may not reorder the search for one minimum.
template <typename T> void scan_values(const T *from, int64_t count, int64_t width, int64_t step, ValueScan<T> &s) {
    for (int64_t i = 0; i < count; ++i, from += step) {
        const T *RESTRICT value = from;
        T *RESTRICT low = s.low;
        T *RESTRICT high = s.high;
        for (int64_t j = 0; j < width; ++j) {
            const T v = value[j];
            low[j] = v < low[j] ? v : low[j];
            high[j] = v > high[j] ? v : high[j];
        }
        if constexpr (is_float<T>) {
            T *RESTRICT holes = s.holes;
            T *RESTRICT parts = s.parts;
            for (int64_t j = 0; j < width; ++j) {
                const T v = value[j];
                holes[j] = v == v ? holes[j] : T(1);
                // An integer minus its truncation is zero. For NaN and infinity the difference is NaN, which compares
                // false.
                const T rest = v - (sizeof(T) == 8 ? T(trunc(v)) : T(truncf(static_cast<float>(v))));
                parts[j] = (rest < 0) | (rest > 0) ? T(1) : parts[j];
            }
        }
    }
}

template <typename T> void widen_range(const ValueScan<T> &s, int64_t lane, int64_t column, const Ranges &out) {
    const double low = static_cast<double>(s.low[lane]), high = static_cast<double>(s.high[lane]);
    out.low[column] = low < out.low[column] ? low : out.low[column];
    out.high[column] = high > out.high[column] ? high : out.high[column];
    out.missing[column] |= s.holes[lane] != 0;
    out.parts[column] |= s.parts[lane] != 0;
}

template <typename T> void clear(ValueScan<T> &s) {
    for (int64_t j = 0; j < SIDE_BY_SIDE; ++j) {
        s.low[j] = most<T>();
        s.high[j] = least<T>();
        s.holes[j] = s.parts[j] = 0;
    }
}

// Scans one column of numbers.
template <typename T>
void scan_column(const T *data, int64_t stride, int64_t first, int64_t last, int64_t column, const Ranges &out) {
    ValueScan<T> s;
    clear(s);
    const int64_t count = last - first;
    if (stride == 1) {
        const int64_t whole = count / SIDE_BY_SIDE;
        scan_values(data + first, whole, SIDE_BY_SIDE, SIDE_BY_SIDE, s);
        scan_values(data + first + whole * SIDE_BY_SIDE, 1, count - whole * SIDE_BY_SIDE, 0, s);
        for (int64_t j = 0; j < SIDE_BY_SIDE; ++j)
            if (s.low[j] <= s.high[j] || s.holes[j] != 0) widen_range(s, j, column, out);
        return;
    }
    scan_values(data + first * stride, count, 1, stride, s);
    if (s.low[0] <= s.high[0] || s.holes[0] != 0) widen_range(s, 0, column, out);
}

void ranges(const Matrix &x, int64_t first, int64_t last, const Ranges &out) {
    if (x.each) {
        for (int64_t j = 0; j < x.columns; ++j) {
            const Column &c = x.each[j];
            with_type(c.type, c.data, [&](auto *data) { scan_column(data, c.stride, first, last, j, out); });
        }
        return;
    }
    with_type(x.type, x.data, [&](auto *data) {
        if (x.column_stride != 1) {
            for (int64_t j = 0; j < x.columns; ++j)
                scan_column(data + j * x.column_stride, x.row_stride, first, last, j, out);
            return;
        }
        ValueScan<typename Plain<decltype(data)>::type> s;
        for (int64_t column = 0; column < x.columns; column += SIDE_BY_SIDE) {
            const int64_t width = x.columns - column < SIDE_BY_SIDE ? x.columns - column : SIDE_BY_SIDE;
            clear(s);
            scan_values(data + first * x.row_stride + column, last - first, width, x.row_stride, s);
            for (int64_t j = 0; j < width; ++j)
                if (s.low[j] <= s.high[j] || s.holes[j] != 0) widen_range(s, j, column + j, out);
        }
    });
}

// Cell of a number among those of its column: 0..size-1 for the numbers low..low+size-1; `size` for any other number;
// `size + 1` if it is missing.
template <typename T> inline int64_t level_index(T v, int64_t low, int64_t size) {
    if constexpr (is_float<T>) {
        const bool fits = (v > T(-4e18)) & (v < T(4e18));
        const int64_t whole = static_cast<int64_t>(fits ? v : T(0));
        const uint64_t at = static_cast<uint64_t>(whole) - static_cast<uint64_t>(low);
        const bool one = fits & (static_cast<T>(whole) == v) & (at < static_cast<uint64_t>(size));
        return one ? static_cast<int64_t>(at) : (v == v ? size : size + 1);
    } else {
        const uint64_t at = static_cast<uint64_t>(v) - static_cast<uint64_t>(low);
        bool one = at < static_cast<uint64_t>(size);
        if constexpr (T(-1) > T(0) && sizeof(T) == 8) one &= v <= (~uint64_t{0} >> 1);
        return one ? static_cast<int64_t>(at) : size;
    }
}

// Table cells of rows row..row+count-1 (count x columns).
void table_indices(const Matrix &x, const TableLayout &p, int64_t row, int64_t count, int32_t *out) {
    const int64_t d = x.columns;
    const auto down = [&](const auto *data, int64_t stride, int64_t j) {
        const auto *from = data + row * stride;
        const int64_t low = p.low[j], size = p.size[j], start = p.start[j];
        if (stride == 1)
            for (int64_t i = 0; i < count; ++i)
                out[i * d + j] = static_cast<int32_t>(start + level_index(from[i], low, size));
        else
            for (int64_t i = 0; i < count; ++i)
                out[i * d + j] = static_cast<int32_t>(start + level_index(from[i * stride], low, size));
    };
    if (x.each) {
        for (int64_t j = 0; j < d; ++j) {
            const Column &c = x.each[j];
            with_type(c.type, c.data, [&](auto *data) { down(data, c.stride, j); });
        }
        return;
    }
    with_type(x.type, x.data, [&](auto *data) {
        if (x.column_stride != 1) {
            for (int64_t j = 0; j < d; ++j) down(data + j * x.column_stride, x.row_stride, j);
            return;
        }
        const int64_t *RESTRICT low = p.low;
        const int64_t *RESTRICT size = p.size;
        const int64_t *RESTRICT start = p.start;
        for (int64_t i = 0; i < count; ++i) {
            const auto *RESTRICT from = data + (row + i) * x.row_stride;
            int32_t *RESTRICT to = out + i * d;
            for (int64_t j = 0; j < d; ++j)
                to[j] = static_cast<int32_t>(start[j] + level_index(from[j], low[j], size[j]));
        }
    });
}

// Counts columns stored in their own arrays, one after another, for rows that all have a class.
void count_columns(const Matrix &x, const Membership &m, const TableLayout &p, int64_t row, uint32_t *total) {
    int32_t base[COUNT_TILE], at[COUNT_TILE];
    for (int64_t i = 0; i < COUNT_TILE; ++i) base[i] = static_cast<int32_t>(m.codes[row + i] * p.cells);
    for (int64_t j = 0; j < x.columns; ++j) {
        const Column &c = x.each[j];
        const int64_t low = p.low[j], size = p.size[j];
        uint32_t *const t = total + p.start[j];
        with_type(c.type, c.data, [&](auto *data) {
            const auto *from = data + row * c.stride;
            for (int64_t i = 0; i < COUNT_TILE; ++i)
                at[i] = base[i] + static_cast<int32_t>(level_index(from[i * c.stride], low, size));
        });
        for (int64_t i = 0; i < COUNT_TILE; ++i) ++t[at[i]];
    }
}

void count_rows(const Matrix &x, const Membership &m, const TableLayout &p, int64_t first, int64_t last,
                int32_t *buffer, uint32_t *total) {
    const int64_t d = x.columns;
    for (int64_t start = first; start < last; start += COUNT_TILE) {
        const int64_t count = last - start < COUNT_TILE ? last - start : COUNT_TILE;
        if (x.each && count == COUNT_TILE) {
            bool known = true;
            for (int64_t i = start; i < start + count; ++i) known &= (m.codes[i] >= 0) & (m.codes[i] < m.classes);
            if (known) {
                count_columns(x, m, p, start, total);
                continue;
            }
        }
        table_indices(x, p, start, count, buffer);
        const int32_t *at = buffer;
        for (int64_t i = 0; i < count; ++i, at += d) {
            const int64_t k = m.codes[start + i];
            if (k < 0 || k >= m.classes) continue;
            uint32_t *t = total + k * p.cells;
            for (int64_t j = 0; j < d; ++j) ++t[at[j]];
        }
    }
}

void weigh_rows(const Matrix &x, const Membership &m, const TableLayout &p, int64_t first, int64_t last,
                int32_t *buffer, double *total, double *total_low) {
    const int64_t d = x.columns;
    const auto put = [=](const int32_t *at, int64_t k, double w) {
        double *t = total + k * p.cells;
        double *low = total_low + k * p.cells;
        for (int64_t j = 0; j < d; ++j) {
            double sum, error;
            two_sum(t[at[j]], w, sum, error);
            t[at[j]] = sum;
            low[at[j]] += error;
        }
    };
    for (int64_t start = first; start < last; start += COUNT_TILE) {
        const int64_t count = last - start < COUNT_TILE ? last - start : COUNT_TILE;
        table_indices(x, p, start, count, buffer);
        const int32_t *at = buffer;
        for (int64_t i = 0; i < count; ++i, at += d) {
            const double weight = m.weights ? m.weights[start + i] : 1.0;
            if (!(weight > 0)) continue;
            if (m.codes) {
                const int64_t k = m.codes[start + i];
                if (k >= 0 && k < m.classes) put(at, k, weight);
            } else {
                const double *soft = m.soft + (start + i) * m.classes;
                for (int64_t k = 0; k < m.classes; ++k)
                    if (weight * soft[k] > 0) put(at, k, weight * soft[k]);
            }
        }
    }
}

// Sums W neighbouring classes in registers, over all columns.
template <int W>
void sum_entries(const int32_t *at, int64_t count, int64_t d, const double *table, int64_t step, int64_t classes,
                 double *out) {
    for (int64_t k = 0; k < classes; k += W) {
        const int64_t some = classes - k < W ? classes - k : W;
        for (int64_t i = 0; i < count; ++i) {
            double sum[W] = {};
            const int32_t *RESTRICT row = at + i * d;
            for (int64_t j = 0; j < d; ++j) {
                const double *RESTRICT entry = table + row[j] * step + k;
                for (int l = 0; l < W; ++l) sum[l] += entry[l];
            }
            double *RESTRICT to = out + i * classes + k;
            for (int64_t l = 0; l < some; ++l) to[l] = sum[l];
        }
    }
}

void table_sums(const Matrix &x, const TableLayout &p, const double *table, int64_t step, int64_t classes,
                int64_t first, int64_t last, int32_t *buffer, double *out) {
    const auto run = step >= 16  ? sum_entries<16>
                     : step == 8 ? sum_entries<8>
                     : step == 4 ? sum_entries<4>
                     : step == 2 ? sum_entries<2>
                                 : sum_entries<1>;
    for (int64_t start = first; start < last; start += COUNT_TILE) {
        const int64_t count = last - start < COUNT_TILE ? last - start : COUNT_TILE;
        table_indices(x, p, start, count, buffer);
        run(buffer, count, x.columns, table, step, classes, out + start * classes);
    }
}

constexpr CountKernels count_kernels = {ranges, count_rows, weigh_rows, table_sums};

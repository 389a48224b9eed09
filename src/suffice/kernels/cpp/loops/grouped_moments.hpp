// Included by instruction_set.cpp, within its namespace: moments of a window of rows, class after class. The rows of a
// class are summed in registers, where the other way reads and writes the sums of a class with every row.

template <int n> struct Number {
    static constexpr int value = n;
};

// Adds x - mean and its square over some rows, for so many vectors of columns from j on; the last of them ends with
// the last column, and may overlap the one before it, which then gets the same sums twice; both begin at what was there.
template <typename T, int strips, bool weighted>
void sum_strip(const T *base, int64_t step, const int32_t *rows, int64_t count, const double *weights, int64_t j,
               int64_t d, const double *mean, Ahead *ahead, double *sum, double *square) {
    const int64_t end = d - LANES < j + (strips - 1) * LANES ? d - LANES : j + (strips - 1) * LANES;
    const auto column = [=](int i) { return i < strips - 1 ? j + i * LANES : end; };
    Lanes m[strips], s[strips], q[strips];
    for (int i = 0; i < strips; ++i) {
        m[i] = load(mean + column(i));
        s[i] = load(sum + column(i));
        q[i] = load(square + column(i));
    }
    const int64_t lines = ahead ? ahead->lines_of(step * static_cast<int64_t>(sizeof(T))) : 0;
    for (int64_t r = 0; r < count; ++r) {
        const T *const at = base + rows[r] * step;
        if (lines) ahead->steps(lines);
        const Lanes w = all(weighted ? weights[rows[r]] : 1.0);
        for (int i = 0; i < strips; ++i) {
            Lanes value;
            load_rows(at + column(i), value);
            const Lanes t = value - m[i];
            if (weighted) {
                const Lanes wt = w * t;
                s[i] += wt;
                q[i] += wt * t;
            } else {
                s[i] += t;
                q[i] += t * t;
            }
        }
    }
    for (int i = 0; i < strips; ++i) {
        store(sum + column(i), s[i]);
        store(square + column(i), q[i]);
    }
}

constexpr int64_t STRIPS = LANES == 8 ? 8 : 4;  // vectors whose mean, sum and sum of squares fit the registers

// All columns, as many at a time as registers hold.
template <typename T, bool weighted>
void sum_rows(const T *base, int64_t step, const int32_t *rows, int64_t count, const double *weights, int64_t d,
              const double *mean, Ahead &ahead, double *sum, double *square) {
    for (int64_t j = 0; j < d; j += STRIPS * LANES) {
        if (d - j < LANES) {
            // Less than a vector, and a vector that began earlier would count the columns of the group before again.
            for (int64_t c = j; c < d; ++c) {
                double s = sum[c], q = square[c];
                for (int64_t r = 0; r < count; ++r) {
                    const double t = static_cast<double>(base[rows[r] * step + c]) - mean[c];
                    const double wt = weighted ? weights[rows[r]] * t : t;
                    s += wt;
                    q += wt * t;
                }
                sum[c] = s;
                square[c] = q;
            }
            return;
        }
        Ahead *const first = j ? nullptr : &ahead;
        const int64_t left = (d - j + LANES - 1) / LANES;
        const auto run = [&](auto strips) {
            sum_strip<T, decltype(strips)::value, weighted>(base, step, rows, count, weights, j, d, mean, first, sum,
                                                            square);
        };
        switch (left < STRIPS ? left : STRIPS) {
        case 1: run(Number<1>{}); break;
        case 2: run(Number<2>{}); break;
        case 3: run(Number<3>{}); break;
        case 4: run(Number<4>{}); break;
        case 5: run(Number<5>{}); break;
        case 6: run(Number<6>{}); break;
        case 7: run(Number<7>{}); break;
        default: run(Number<8>{}); break;
        }
    }
}

constexpr int64_t LONGEST = 64;  // rows of a chunk, so that plain summation loses no digits

// The rows of a window, class after class. Chunks of a class are never longer than what came before them, so that the
// running mean is a good centre.
template <typename T>
void window_moments(const T *base, int64_t step, int64_t count, const int64_t *codes, const double *weights,
                    int32_t *order, int32_t *starts, Ahead ahead, Moments &o) {
    const int64_t d = o.columns, classes = o.classes;
    const auto counts = [&](int64_t i) {
        return codes[i] >= 0 && codes[i] < classes && (!weights || weights[i] > 0);
    };
    for (int64_t k = 0; k <= classes; ++k) starts[k] = 0;
    for (int64_t i = 0; i < count; ++i)
        if (counts(i)) ++starts[codes[i] + 1];
    for (int64_t k = 0; k < classes; ++k) starts[k + 1] += starts[k];
    for (int64_t i = 0; i < count; ++i) {
        if (counts(i)) order[starts[codes[i]]++] = static_cast<int32_t>(i);
    }
    for (int64_t k = 0; k < classes; ++k) {  // starts[k] is now where class k ends
        const int64_t end = starts[k];
        double *const mean = o.mean + k * d, *const sum = o.sum + k * d, *const square = o.square + k * d;
        for (int64_t at = k ? starts[k - 1] : 0; at < end;) {
            if (o.rows[k] == 0)
                for (int64_t j = 0; j < d; ++j) mean[j] = static_cast<double>(base[order[at] * step + j]);
            const int64_t past = o.rows[k] - o.chunk_rows[k];
            const int64_t full = past == 0 ? 1 : past < LONGEST ? past : LONGEST, room = full - o.chunk_rows[k];
            const int64_t rows = end - at < room ? end - at : room;
            if (weights) {
                for (int64_t r = at; r < at + rows; ++r) o.chunk_weight[k] += weights[order[r]];
                sum_rows<T, true>(base, step, order + at, rows, weights, d, mean, ahead, sum, square);
            } else {
                o.chunk_weight[k] += static_cast<double>(rows);
                sum_rows<T, false>(base, step, order + at, rows, weights, d, mean, ahead, sum, square);
            }
            o.rows[k] += rows;
            o.chunk_rows[k] += rows;
            at += rows;
            if (o.chunk_rows[k] == full) fold_chunk(o, k);
        }
    }
}

// Rows of a window: so many that they stay in the cache nearest to a processor but one, and that a class has several.
inline int64_t window_rows(int64_t classes, int64_t columns) {
    const int64_t fit = (int64_t{1} << 17) / (8 * (columns ? columns : 1));
    const int64_t rows = fit < 128 ? 128 : fit > 2048 ? 2048 : fit;
    return 8 * classes <= rows ? rows : 0;
}

// Whether it was done; not if there are too many classes for this way to pay.
bool grouped_moments(const Matrix &x, const Membership &m, int64_t first, int64_t last, double *buffer, int32_t *order,
                     int32_t *starts, Moments &o) {
    const int64_t window = window_rows(m.classes, o.columns);
    if (!m.codes || !window) return false;
    const bool rows_lie = !x.each && x.column_stride == 1;
    for (int64_t start = first; start < last; start += window) {
        const int64_t count = last - start < window ? last - start : window;
        const int64_t *const codes = m.codes + start;
        const double *const weights = m.weights ? m.weights + start : nullptr;
        const Ahead ahead(x, start + window, last - start - window < window ? last - start - window : window, x.columns);
        if (rows_lie && x.type == Type::f64) {
            const double *const base = static_cast<const double *>(x.data) + start * x.row_stride + o.first;
            window_moments(base, x.row_stride, count, codes, weights, order, starts, ahead, o);
        } else if (rows_lie && x.type == Type::f32) {
            const float *const base = static_cast<const float *>(x.data) + start * x.row_stride + o.first;
            window_moments(base, x.row_stride, count, codes, weights, order, starts, ahead, o);
        } else {
            gather(x, start, count, o.first, o.columns, buffer);
            window_moments<double>(buffer, o.columns, count, codes, weights, order, starts, ahead, o);
        }
    }
    return true;
}

constexpr MomentKernels moment_kernels = {moments, grouped_moments, window_rows, finish, merge, exact_moments};

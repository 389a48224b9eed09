// Included by instruction_set.cpp, within its namespace: moments of a window of rows, class by class. The rows of a
// class are summed in registers, while loops/moments.hpp reads and writes the sums of a class for every row.

template <int n> struct Number {
    static constexpr int value = n;
};

// The sums of a class: x - mean and its square, and the weight of the cells that are not missing.
struct Sums {
    const double *mean;
    double *sum, *square, *known;
};

// Adds rows for `strips` vectors of columns from column j on. The last vector ends with the last column and may overlap
// the one before it. The overlapping columns are then computed twice with the same result, since both vectors start
// from the stored sums.
template <typename T, int strips, bool weighted, bool holes>
void sum_strip(const T *base, int64_t step, const int32_t *rows, int64_t count, const double *weights, int64_t j,
               int64_t d, const Sums &to, Ahead *ahead) {
    const int64_t end = d - LANES < j + (strips - 1) * LANES ? d - LANES : j + (strips - 1) * LANES;
    const auto column = [=](int i) { return i < strips - 1 ? j + i * LANES : end; };
    Lanes m[strips], s[strips], q[strips], n[strips];
    for (int i = 0; i < strips; ++i) {
        m[i] = load(to.mean + column(i));
        s[i] = load(to.sum + column(i));
        q[i] = load(to.square + column(i));
        if (holes) n[i] = load(to.known + column(i));
    }
    const int64_t lines = ahead ? ahead->lines_of(step * static_cast<int64_t>(sizeof(T))) : 0;
    for (int64_t r = 0; r < count; ++r) {
        const T *const at = base + rows[r] * step;
        if (lines) ahead->steps(lines);
        const Lanes w = all(weighted ? weights[rows[r]] : 1.0);
        for (int i = 0; i < strips; ++i) {
            Lanes value;
            load_rows(at + column(i), value);
            const Lanes t = holes ? where(present(value), value - m[i]) : value - m[i];
            if (holes) n[i] += where(present(value), w);
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
        store(to.sum + column(i), s[i]);
        store(to.square + column(i), q[i]);
        if (holes) store(to.known + column(i), n[i]);
    }
}

// All columns, as many at a time as fit in registers.
template <typename T, bool weighted, bool holes>
void sum_rows(const T *base, int64_t step, const int32_t *rows, int64_t count, const double *weights, int64_t d,
              const Sums &to, Ahead &ahead) {
    // Vectors whose mean and sums fit in registers.
    constexpr int64_t STRIPS = (LANES == 8 ? 8 : 4) / (holes ? 2 : 1);
    for (int64_t j = 0; j < d; j += STRIPS * LANES) {
        if (d - j < LANES) {
            // Fewer columns than a vector. A vector that began earlier would count columns of the previous group twice.
            for (int64_t c = j; c < d; ++c) {
                double s = to.sum[c], q = to.square[c], n = holes ? to.known[c] : 0.0;
                for (int64_t r = 0; r < count; ++r) {
                    const double value = static_cast<double>(base[rows[r] * step + c]);
                    const bool here = !holes || value == value;
                    const double w = weighted ? weights[rows[r]] : 1.0, t = here ? value - to.mean[c] : 0.0;
                    const double wt = weighted ? w * t : t;
                    s += wt;
                    q += wt * t;
                    n += here ? w : 0.0;
                }
                to.sum[c] = s;
                to.square[c] = q;
                if (holes) to.known[c] = n;
            }
            return;
        }
        Ahead *const first = j ? nullptr : &ahead;
        const int64_t left = (d - j + LANES - 1) / LANES;
        const auto run = [&](auto strips) {
            constexpr int most = decltype(strips)::value < STRIPS ? decltype(strips)::value : STRIPS;
            sum_strip<T, most, weighted, holes>(base, step, rows, count, weights, j, d, to, first);
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

constexpr int64_t LONGEST = 64;  // rows of a chunk, few enough for plain summation to lose no digits

// Sets the mean of columns that have none yet to their first value that is not missing.
template <typename T>
void first_means(const T *base, int64_t step, const int32_t *rows, int64_t count, int64_t d, const double *weight,
                 const double *known, double *mean) {
    for (int64_t j = 0; j < d; ++j) {
        if (weight[j] + known[j] > 0) continue;
        for (int64_t r = 0; r < count; ++r) {
            const double value = static_cast<double>(base[rows[r] * step + j]);
            if (value != value) continue;
            mean[j] = value;
            break;
        }
    }
}

// The rows of a window, class by class. A chunk of a class is never longer than all rows before it, so that the running
// mean is a good centre.
template <typename T, bool holes>
void window_moments(const T *base, int64_t step, int64_t count, const int64_t *codes, const double *weights,
                    int32_t *order, int32_t *starts, Ahead ahead, Moments &o) {
    const int64_t d = o.columns, classes = o.classes;
    const auto counts = [&](int64_t i) { return codes[i] >= 0 && codes[i] < classes && (!weights || weights[i] > 0); };
    for (int64_t k = 0; k <= classes; ++k) starts[k] = 0;
    for (int64_t i = 0; i < count; ++i)
        if (counts(i)) ++starts[codes[i] + 1];
    for (int64_t k = 0; k < classes; ++k) starts[k + 1] += starts[k];
    for (int64_t i = 0; i < count; ++i) {
        if (counts(i)) order[starts[codes[i]]++] = static_cast<int32_t>(i);
    }
    for (int64_t k = 0; k < classes; ++k) {  // starts[k] is now where class k ends
        const int64_t end = starts[k];
        double *const mean = o.mean + k * d;
        const Sums to{mean, o.sum + k * d, o.square + k * d, holes ? o.chunk_weight + k * d : nullptr};
        for (int64_t at = k ? starts[k - 1] : 0; at < end;) {
            if (!holes && o.rows[k] == 0)
                for (int64_t j = 0; j < d; ++j) mean[j] = static_cast<double>(base[order[at] * step + j]);
            const int64_t past = o.rows[k] - o.chunk_rows[k];
            const int64_t full = past == 0 ? 1 : past < LONGEST ? past : LONGEST, room = full - o.chunk_rows[k];
            const int64_t rows = end - at < room ? end - at : room;
            if (holes) first_means(base, step, order + at, rows, d, o.weight + k * d, to.known, mean);
            else if (!weights) o.chunk_weight[k] += static_cast<double>(rows);
            else
                for (int64_t r = at; r < at + rows; ++r) o.chunk_weight[k] += weights[order[r]];
            const auto run = weights ? sum_rows<T, true, holes> : sum_rows<T, false, holes>;
            run(base, step, order + at, rows, weights, d, to, ahead);
            o.rows[k] += rows;
            o.chunk_rows[k] += rows;
            at += rows;
            if (o.chunk_rows[k] == full) (holes ? fold_missing : fold_chunk)(o, k);
        }
    }
}

// Rows of a window: enough for several rows of each class, and few enough to stay in the second-level cache until they
// are summed. Zero if there are too many classes.
inline int64_t window_rows(int64_t classes, int64_t columns) {
    const int64_t bytes = 8 * (columns ? columns : 1);
    const int64_t wanted = 16 * classes > (int64_t{1} << 15) / bytes ? 16 * classes : (int64_t{1} << 15) / bytes;
    const int64_t most = (int64_t{1} << 17) / bytes, fit = wanted < most ? wanted : most;
    const int64_t rows = fit < 128 ? 128 : fit > 2048 ? 2048 : fit;
    return 8 * classes <= rows ? rows : 0;
}

// Returns false and does nothing if there are too many classes for this method to pay off.
template <bool holes>
bool grouped_moments_of(const Matrix &x, const Membership &m, int64_t first, int64_t last, double *buffer,
                        int32_t *order, int32_t *starts, Moments &o) {
    const int64_t window = window_rows(m.classes, o.columns);
    if (!m.codes || !window) return false;
    const bool contiguous = !x.each && x.column_stride == 1;
    for (int64_t start = first; start < last; start += window) {
        const int64_t count = last - start < window ? last - start : window;
        const int64_t *const codes = m.codes + start;
        const double *const weights = m.weights ? m.weights + start : nullptr;
        const Ahead ahead(x, start + window, last - start - window < window ? last - start - window : window,
                          x.columns);
        if (contiguous && x.type == Type::f64) {
            const double *const base = static_cast<const double *>(x.data) + start * x.row_stride + o.first;
            window_moments<double, holes>(base, x.row_stride, count, codes, weights, order, starts, ahead, o);
        } else if (contiguous && x.type == Type::f32) {
            const float *const base = static_cast<const float *>(x.data) + start * x.row_stride + o.first;
            window_moments<float, holes>(base, x.row_stride, count, codes, weights, order, starts, ahead, o);
        } else {
            gather(x, start, count, o.first, o.columns, buffer);
            window_moments<double, holes>(buffer, o.columns, count, codes, weights, order, starts, ahead, o);
        }
    }
    return true;
}

bool grouped_moments(const Matrix &x, const Membership &m, int64_t first, int64_t last, bool missing, double *buffer,
                     int32_t *order, int32_t *starts, Moments &o) {
    const auto run = missing ? grouped_moments_of<true> : grouped_moments_of<false>;
    return run(x, m, first, last, buffer, order, starts, o);
}

constexpr MomentKernels moment_kernels = {moments, grouped_moments, window_rows, finish, merge, exact_moments};

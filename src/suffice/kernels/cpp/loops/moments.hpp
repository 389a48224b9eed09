// Included by instruction_set.cpp, within its namespace: mean and sum of squares of each class and column.

constexpr double SMALLEST = 4.9406564584124654e-324;

// Adds a group of weight n, with centred sum of squares `within` and a mean at distance `delta` from the running mean,
// to a group of weight `past`. A square that underflows becomes the smallest positive number, so that the caller can
// tell it from a constant column.
inline void join(double past, double n, double delta, double within, double &mean, double &mean_low, double &m2,
                 double &m2_low) {
    const double share = n / (past + n);
    double added = within + past * share * delta * delta;
    if (added == 0 && delta != 0 && past > 0) added = SMALLEST;
    add(m2, m2_low, added);
    add(mean, mean_low, delta * share);
}

// Folds a chunk of weight n, whose sums are centred on the running mean, into the moments of a class. There is no
// branch, so the loop over columns vectorises.
void fold_columns(int64_t d, double past, double n, double *RESTRICT sum, double *RESTRICT square,
                  double *RESTRICT mean, double *RESTRICT mean_low, double *RESTRICT m2, double *RESTRICT m2_low) {
    const double share = n / (past + n), cross = past * share, joined = past > 0 ? 1.0 : 0.0;
    for (int64_t j = 0; j < d; ++j) {
        const double offset = sum[j] / n, spread = square[j] - sum[j] * offset, delta = offset - mean_low[j];
        const double apart = (spread < 0 ? 0.0 : spread) + cross * delta * delta;
        const double added = apart == 0 && delta * joined != 0 ? SMALLEST : apart;
        add(m2[j], m2_low[j], added);
        add(mean[j], mean_low[j], delta * share);
        sum[j] = square[j] = 0;
    }
}

void fold_chunk(Moments &o, int64_t k) {
    const double n = o.chunk_weight[k], past = o.weight[k];
    const int64_t at = k * o.columns;
    if (n > 0)
        fold_columns(o.columns, past, n, o.sum + at, o.square + at, o.mean + at, o.mean_low + at, o.m2 + at,
                     o.m2_low + at);
    o.weight[k] = past + n;
    o.chunk_weight[k] = 0;
    o.chunk_rows[k] = 0;
}

// The same with a weight for each cell of the chunk; a cell of weight zero adds nothing.
void fold_cells(int64_t d, double *RESTRICT weight, double *RESTRICT chunk_weight, double *RESTRICT sum,
                double *RESTRICT square, double *RESTRICT mean, double *RESTRICT mean_low, double *RESTRICT m2,
                double *RESTRICT m2_low) {
    for (int64_t j = 0; j < d; ++j) {
        const double n = chunk_weight[j], past = weight[j];
        const bool here = n > 0;
        const double safe = here ? n : 1.0;
        const double offset = sum[j] / safe, share = safe / (past + safe);
        const double within = square[j] - sum[j] * offset;
        const double delta = here ? offset - mean_low[j] : 0.0;
        double added = (within < 0 ? 0.0 : within) + past * share * delta * delta;
        added = (added == 0) & (delta != 0) & (past > 0) ? SMALLEST : added;
        double high = m2[j], low = m2_low[j];
        add(high, low, here ? added : 0.0);
        m2[j] = high;
        m2_low[j] = low;
        high = mean[j];
        low = mean_low[j];
        add(high, low, delta * share);
        mean[j] = high;
        mean_low[j] = low;
        weight[j] = past + (here ? n : 0.0);
        chunk_weight[j] = sum[j] = square[j] = 0;
    }
}

void fold_missing(Moments &o, int64_t k) {
    const int64_t at = k * o.columns;
    fold_cells(o.columns, o.weight + at, o.chunk_weight + at, o.sum + at, o.square + at, o.mean + at, o.mean_low + at,
               o.m2 + at, o.m2_low + at);
    o.chunk_rows[k] = 0;
}

// When rows are added one by one, chunks of a class have 1, 1, 2, 4, 8, 16, 32, 32, ... rows: never more than all rows
// before, so that the running mean is a good centre, and few enough for plain summation to lose no digits.
inline bool chunk_is_full(Moments &o, int64_t k) {
    const int64_t seen = ++o.rows[k], rows = ++o.chunk_rows[k];
    return rows >= 32 || 2 * rows >= seen;
}

// Adds the cells of one row that are not missing. The first value of a cell becomes its first mean.
template <typename T>
inline void add_known(int64_t d, double w, const T *RESTRICT value, const double *RESTRICT weight,
                      double *RESTRICT mean, double *RESTRICT chunk_weight, double *RESTRICT sum,
                      double *RESTRICT square) {
    for (int64_t j = 0; j < d; ++j) {
        const double v = static_cast<double>(value[j]);
        const bool here = v == v, fresh = weight[j] + chunk_weight[j] == 0;
        const double centre = here & fresh ? v : mean[j];
        const double t = here ? v - centre : 0.0, wt = w * t;
        mean[j] = centre;
        sum[j] += wt;
        square[j] += wt * t;
        chunk_weight[j] += here ? w : 0.0;
    }
}

void moments(const Matrix &x, const Membership &m, int64_t first, int64_t last, bool missing, double *buffer,
             Moments &o) {
    const int64_t d = o.columns;
    if (!missing) {
        each_member(x, m, first, last, o.first, d, buffer, [&o, d](const auto *RESTRICT value, int64_t k, double w) {
            double *RESTRICT mean = o.mean + k * d;
            if (o.rows[k] == 0)
                for (int64_t j = 0; j < d; ++j) mean[j] = static_cast<double>(value[j]);
            double *RESTRICT sum = o.sum + k * d;
            double *RESTRICT square = o.square + k * d;
            if (w == 1.0) {
                for (int64_t j = 0; j < d; ++j) {
                    const double t = static_cast<double>(value[j]) - mean[j];
                    sum[j] += t;
                    square[j] += t * t;
                }
            } else {
                for (int64_t j = 0; j < d; ++j) {
                    const double t = static_cast<double>(value[j]) - mean[j], wt = w * t;
                    sum[j] += wt;
                    square[j] += wt * t;
                }
            }
            o.chunk_weight[k] += w;
            if (chunk_is_full(o, k)) fold_chunk(o, k);
        });
        return;
    }
    each_member(x, m, first, last, o.first, d, buffer, [&o, d](const auto *RESTRICT value, int64_t k, double w) {
        const int64_t at = k * d;
        add_known(d, w, value, o.weight + at, o.mean + at, o.chunk_weight + at, o.sum + at, o.square + at);
        if (chunk_is_full(o, k)) fold_missing(o, k);
    });
}

void finish(bool missing, Moments &o) {
    for (int64_t k = 0; k < o.classes; ++k) {
        if (o.chunk_rows[k] == 0) continue;
        if (missing) fold_missing(o, k);
        else fold_chunk(o, k);
    }
}

void merge(bool missing, const Moments &part, Moments &whole) {
    const int64_t d = whole.columns;
    for (int64_t k = 0; k < whole.classes; ++k) {
        if (part.rows[k] == 0) continue;
        for (int64_t j = k * d; j < (k + 1) * d; ++j) {
            const double n = part.weight[missing ? j : k], past = whole.weight[missing ? j : k];
            if (!(n > 0)) continue;
            if (past == 0) {
                whole.mean[j] = part.mean[j];
                whole.mean_low[j] = part.mean_low[j];
                whole.m2[j] = part.m2[j];
                whole.m2_low[j] = part.m2_low[j];
            } else {
                double difference, error;
                two_sum(part.mean[j], -whole.mean[j], difference, error);
                const double delta = difference + (error + (part.mean_low[j] - whole.mean_low[j]));
                add(whole.m2[j], whole.m2_low[j], part.m2_low[j]);
                join(past, n, delta, part.m2[j], whole.mean[j], whole.mean_low[j], whole.m2[j], whole.m2_low[j]);
            }
            if (missing) whole.weight[j] += n;
        }
        if (!missing) whole.weight[k] += part.weight[k];
    }
}

// x - mean - mean_low in two doubles.
inline void deviation(double x, double mean, double mean_low, double &z, double &z_low) {
    double rough, error;
    two_sum(x, -mean, rough, error);
    two_sum(rough, error - mean_low, z, z_low);
}

// One row of `exact_moments`. Not inlined into the lambda below, where the compiler loses the RESTRICT information.
template <bool missing, typename T>
void exact_row(int64_t d, double w, const T *RESTRICT values, const double *RESTRICT mean,
               const double *RESTRICT mean_low, double *RESTRICT sum, double *RESTRICT sum_low, double *RESTRICT square,
               double *RESTRICT square_low) {
    for (int64_t j = 0; j < d; ++j) {
        const double value = static_cast<double>(values[j]);
        const bool here = !missing || value == value;
        double z, z_low, wz, wz_low, product, lost, total, error;
        deviation(here ? value : mean[j], mean[j], here ? mean_low[j] : 0.0, z, z_low);
        two_product(w, z, wz, wz_low);
        wz_low += w * z_low;
        two_product(wz, z, product, lost);
        lost += wz * z_low + wz_low * z;
        two_sum(sum[j], wz, total, error);
        sum[j] = total;
        sum_low[j] += error + wz_low;
        two_sum(square[j], product, total, error);
        square[j] = total;
        square_low[j] += error + lost;
    }
}

void exact_moments(const Matrix &x, const Membership &m, bool missing, const double *mean, const double *mean_low,
                   double *buffer, double *sum, double *sum_low, double *square, double *square_low) {
    const int64_t d = x.columns;
    each_member(x, m, 0, x.rows, 0, d, buffer, [=](const auto *value, int64_t k, double w) {
        const int64_t at = k * d;
        if (missing)
            exact_row<true>(d, w, value, mean + at, mean_low + at, sum + at, sum_low + at, square + at,
                            square_low + at);
        else
            exact_row<false>(d, w, value, mean + at, mean_low + at, sum + at, sum_low + at, square + at,
                             square_low + at);
    });
}

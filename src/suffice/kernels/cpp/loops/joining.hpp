// Included by instruction_set.cpp, within its namespace: arithmetic on summaries of rows, in two doubles. It does for
// each cell what `suffice.numerics.compensated` does for arrays.

struct Pair {
    double high, low;
};

constexpr double TINY = 2.2250738585072014e-308;
// Below this, a sum of squares has fewer than 53 significant bits.
constexpr double SMALLEST_SQUARE = TINY / 2.220446049250313e-16;

inline bool is_finite(double value) { return value - value == 0; }

inline Pair renormalised(double high, double low) {
    const double total = high + low;
    return {total, low - (total - high)};
}

inline Pair negative(Pair a) { return {-a.high, -a.low}; }

inline Pair sum(Pair a, Pair b) {
    double high, error;
    two_sum(a.high, b.high, high, error);
    return renormalised(high, error + (a.low + b.low));
}

// Product of very large numbers: splitting one in `two_product` would overflow without a fused multiply-add.
inline void wide_product(double a, double b, double &product, double &error) {
    constexpr double LARGE = 0x1p990, DOWN = 0x1p-32, UP = 0x1p32;
    if (fabs(a) <= LARGE && fabs(b) <= LARGE) return two_product(a, b, product, error);
    two_product(fabs(a) > LARGE ? a * DOWN : a, fabs(b) > LARGE ? b * DOWN : b, product, error);
    const double scale = (fabs(a) > LARGE ? UP : 1.0) * (fabs(b) > LARGE ? UP : 1.0);
    product *= scale;
    error *= scale;
}

inline Pair times(Pair a, Pair b) {
    double high, error;
    wide_product(a.high, b.high, high, error);
    return renormalised(high, (is_finite(error) ? error : 0.0) + (a.high * b.low + a.low * b.high));
}

// Quotient; zero if b is not positive.
inline Pair over(Pair a, Pair b) {
    if (!(b.high > 0)) return {0.0, 0.0};
    double product, error;
    const double high = a.high / b.high;
    wide_product(high, b.high, product, error);
    return renormalised(high, (((a.high - product) - error) + (a.low - high * b.low)) / b.high);
}

void refine(int64_t count, const double *weight, const double *weight_low, const double *sums, const double *sums_low,
            const double *squares, const double *squares_low, double *mean, double *mean_low, double *m2,
            double *m2_low) {
    for (int64_t i = 0; i < count; ++i) {
        const Pair total = {sums[i], sums_low[i]}, offset = over(total, {weight[i], weight_low[i]});
        const Pair square = sum({squares[i], squares_low[i]}, negative(times(offset, total)));
        if (!(m2[i] >= SMALLEST_SQUARE && is_finite(square.high) && square.high > 0)) continue;
        const Pair centre = sum({mean[i], mean_low[i]}, offset);
        mean[i] = centre.high;
        mean_low[i] = centre.low;
        m2[i] = square.high;
        m2_low[i] = square.low;
    }
}

struct JoinedMean {
    Pair mean, delta;
};

// Joins two groups (Chan, Golub and LeVeque 1979): the mean is mean_a + delta n_b / (n_a + n_b).
inline JoinedMean join_means(Pair n, Pair mean, Pair other_n, Pair other, Pair total) {
    const bool both = n.high > 0 && other_n.high > 0;
    const Pair delta = both ? sum(other, negative(mean)) : Pair{0.0, 0.0};
    if (n.high == 0 && other_n.high > 0) return {other, delta};
    return {sum(mean, over(times(delta, other_n), total)), delta};
}

void join_moments(int64_t count, const Summary &a, const Summary &b, double *weight, double *weight_low, double *mean,
                  double *mean_low, double *m2, double *m2_low) {
    for (int64_t i = 0; i < count; ++i) {
        const Pair n = {a.weight[i], a.weight_low[i]}, other_n = {b.weight[i], b.weight_low[i]};
        const Pair total = sum(n, other_n);
        const JoinedMean joined = join_means(n, {a.mean[i], a.mean_low[i]}, other_n, {b.mean[i], b.mean_low[i]}, total);
        Pair apart = times(times(joined.delta, joined.delta), over(times(n, other_n), total));
        // A square that underflows becomes the smallest number, not zero.
        if (apart.high == 0 && joined.delta.high != 0) apart.high = SMALLEST;
        const Pair squares = sum(sum({a.squares[i], a.squares_low[i]}, {b.squares[i], b.squares_low[i]}), apart);
        weight[i] = total.high;
        weight_low[i] = total.low;
        mean[i] = joined.mean.high;
        mean_low[i] = joined.mean.low;
        m2[i] = squares.high;
        m2_low[i] = squares.low;
    }
}

bool pool(int64_t classes, int64_t d, const Summary &a, double *weight, double *mean, double *mean_low, double *m2,
          double *shift) {
    for (int64_t j = 0; j < d; ++j) weight[j] = mean[j] = mean_low[j] = m2[j] = shift[j] = 0;
    for (int64_t k = 0; k < classes; ++k)
        for (int64_t j = 0; j < d; ++j) {
            weight[j] += a.weight[k * d + j];
            mean[j] += a.weight[k * d + j] * a.mean[k * d + j];
        }
    // Any point near the data serves as origin; the residual mean is added below.
    for (int64_t j = 0; j < d; ++j) mean[j] /= weight[j] > 0 ? weight[j] : 1.0;
    const auto offset = [&](int64_t k, int64_t j) {
        double high, low;
        two_sum(a.mean[k * d + j], -mean[j], high, low);
        return high + (low + a.mean_low[k * d + j]);
    };
    for (int64_t k = 0; k < classes; ++k)
        for (int64_t j = 0; j < d; ++j) shift[j] += a.weight[k * d + j] * offset(k, j);
    for (int64_t j = 0; j < d; ++j) shift[j] /= weight[j] > 0 ? weight[j] : 1.0;
    bool plain = true;
    for (int64_t k = 0; k < classes; ++k)
        for (int64_t j = 0; j < d; ++j) {
            const double n = a.weight[k * d + j], away = offset(k, j) - shift[j], own = a.squares[k * d + j];
            double apart = n * (away * away);
            if (apart == 0 && away != 0 && n > 0) apart = SMALLEST;
            m2[j] += own + apart;
            plain &= !(own > 0 && own < SMALLEST_SQUARE);
        }
    for (int64_t j = 0; j < d; ++j) {
        const double origin = mean[j];
        mean[j] = origin + shift[j];
        mean_low[j] = shift[j] - (mean[j] - origin);
        plain &= is_finite(m2[j]) && !(m2[j] > 0 && m2[j] < SMALLEST_SQUARE);
    }
    return plain;
}

int grand_mean(int64_t classes, int64_t d, const Summary &a, int64_t matrices, double *mean, double *mean_low,
               double *away, double *squares) {
    double total = 0;
    for (int64_t k = 0; k < classes; ++k) total += a.weight[k];
    if (!(total > TINY)) total = TINY;
    for (int64_t j = 0; j < d; ++j) mean[j] = mean_low[j] = squares[j] = 0;
    // Any point near the data serves as origin; the mean of the residuals is added to it.
    for (int64_t k = 0; k < classes; ++k)
        for (int64_t j = 0; j < d; ++j) mean[j] += a.weight[k] * a.mean[k * d + j];
    for (int64_t j = 0; j < d; ++j) mean[j] /= total;
    for (int64_t k = 0; k < classes; ++k)
        for (int64_t j = 0; j < d; ++j) {
            double high, low;
            two_sum(a.mean[k * d + j], -mean[j], high, low);
            away[k * d + j] = high + (low + a.mean_low[k * d + j]);
            mean_low[j] += a.weight[k] * away[k * d + j];
        }
    for (int64_t j = 0; j < d; ++j) mean_low[j] /= total;
    for (int64_t k = 0; k < classes; ++k)
        for (int64_t j = 0; j < d; ++j) {
            const double apart = away[k * d + j] -= mean_low[j], square = a.weight[k] * (apart * apart);
            squares[j] += square == 0 && apart != 0 && a.weight[k] > 0 ? SMALLEST : square;
        }
    int found = 0;
    for (int64_t j = 0; j < d; ++j) {
        two_sum(mean[j], mean_low[j], mean[j], mean_low[j]);
        bool flat = true;
        double within = 0;
        for (int64_t m = 0; m < matrices; ++m) {
            const double own = a.squares[(m * d + j) * d + j];
            if (own > 0 && own < SMALLEST_SQUARE) found |= STRANGE;
            flat &= own < SMALLEST_SQUARE;
            within += own;
        }
        const double whole = within + squares[j];
        if (!is_finite(whole) || (whole > 0 && whole < SMALLEST_SQUARE)) found |= STRANGE;
        if (flat) found |= FLAT;
    }
    return found;
}

// Calls each(position of i, j; position of j, i) for the lower triangle of a matrix.
template <typename Each> inline void each_pair(int64_t d, Each each) {
    for (int64_t i = 0; i < d; ++i)
        for (int64_t j = 0; j <= i; ++j) each(i * d + j, j * d + i);
}

void complete(int64_t matrices, int64_t d, double *high, double *low) {
    for (int64_t m = 0; m < matrices; ++m, high += d * d, low += d * d)
        each_pair(d, [=](int64_t at, int64_t mirror) {
            double total, error;
            two_sum(high[at], low[at], total, error);
            high[at] = high[mirror] = total;
            low[at] = low[mirror] = error;
        });
}

void join_class_means(int64_t classes, int64_t d, const Summary &a, const Summary &b, double *weight,
                      double *weight_low, double *mean, double *mean_low, double *cross, double *cross_low,
                      double *delta, double *delta_low) {
    for (int64_t k = 0; k < classes; ++k) {
        const Pair n = {a.weight[k], a.weight_low[k]}, other_n = {b.weight[k], b.weight_low[k]};
        const Pair total = sum(n, other_n), factor = over(times(n, other_n), total);
        weight[k] = total.high;
        weight_low[k] = total.low;
        cross[k] = factor.high;
        cross_low[k] = factor.low;
        for (int64_t i = k * d; i < (k + 1) * d; ++i) {
            const JoinedMean joined =
                join_means(n, {a.mean[i], a.mean_low[i]}, other_n, {b.mean[i], b.mean_low[i]}, total);
            mean[i] = joined.mean.high;
            mean_low[i] = joined.mean.low;
            delta[i] = joined.delta.high;
            delta_low[i] = joined.delta.low;
        }
    }
}

void join_entries(int64_t count, const double *a, const double *a_low, const double *b, const double *b_low,
                  double *more, double *more_low) {
    for (int64_t i = 0; i < count; ++i) {
        const Pair total = sum(sum({a[i], a_low[i]}, {b[i], b_low[i]}), {more[i], more_low[i]});
        more[i] = total.high;
        more_low[i] = total.low;
    }
}

constexpr JoiningKernels joining_kernels = {refine,           join_moments, pool,      complete,
                                            join_class_means, join_entries, grand_mean};

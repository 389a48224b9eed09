// Included by instruction_set.cpp, within its namespace: log-density of each row under Gaussians that were fitted
// without it.

// Columns are summed in this many lanes, so that the order of the sums is the same for every instruction set.
constexpr int64_t STRIPES = 8;
constexpr int64_t ROUNDS = 8;  // steps over the lanes before products that grow or shrink are turned into logarithms
constexpr double WIDE = 1e30;  // eight ratios of this size stay within the range of a double

struct Cell {
    double square;  // squared distance over variance
    double ratio;   // variance over that of the full model
    double left;    // remaining share of the squares
};

// The contribution of one cell under its class without it, where n - w = `rest`, n/rest = `stretch` and 1/(rest - lost)
// = `per`.
inline Cell without(double away, double n, double w, double rest, double stretch, double per, double m2,
                    double inverse_m2, double added, double inverse) {
    const double step = away * stretch, kept = m2 - w * step * away, variance = kept * per + added;
    // Digits are lost if little remains of the squares, whatever the weight they are divided by.
    const double left = m2 > 0 ? kept * inverse_m2 : 1.0;
    return {step * step / variance, variance * inverse, rest > 1e-9 * n ? left : -1.0};
}

void held_out_log_likelihood(const Matrix &x, const HeldOutGaussian &p, const int64_t *codes, const double *weights,
                             const double *added, bool others, int64_t first, int64_t last, double *buffer, double *out,
                             double *least) {
    const int64_t d = x.columns;
    for (int64_t row = first; row < last; ++row) {
        const double *RESTRICT value = row_of(x, row, buffer);
        const double w = weights ? weights[row] : 1.0, extra = added ? added[row] : 0.0;
        double lowest = 1e300;
        for (int64_t k = 0; k < p.classes; ++k) {
            const bool own = codes[row] == k;
            if (!own && !others) continue;  // this class does not change
            const double *RESTRICT n = p.weight + k * d, *RESTRICT mean = p.mean + k * d,
                                   *RESTRICT low = p.mean_low + k * d, *RESTRICT m2 = p.m2 + k * d,
                                   *RESTRICT variance = p.variance + k * d, *RESTRICT inverse = p.inverse + k * d,
                                   *RESTRICT norm = p.log_norm + k * d, *RESTRICT stretch = p.stretch + k * d,
                                   *RESTRICT per = p.per + k * d, *RESTRICT inverse_m2 = p.inverse_m2 + k * d;
            double square[STRIPES] = {0}, total[STRIPES] = {0}, product[STRIPES], small[STRIPES];
            for (int64_t l = 0; l < STRIPES; ++l) product[l] = 1, small[l] = 1e300;
            double logs = 0;
            const auto visit = [&](int64_t j, int64_t l) {
                const double v = value[j], away = (v - mean[j]) - low[j];
                const double now = variance[j] + extra;
                const double rest = n[j] - w;
                // Divisions are slow, so those for weight one are precomputed.
                const double s = weights ? n[j] / rest : stretch[j], q = weights ? 1 / (rest - p.lost) : per[j];
                const Cell cell = own ? without(away, n[j], w, rest, s, q, m2[j], inverse_m2[j], extra, inverse[j])
                                      : Cell{away * away / now, now * inverse[j], now * inverse[j]};
                const bool here = v == v;
                square[l] += here ? cell.square : 0.0;
                total[l] += here ? norm[j] : 0.0;
                product[l] *= here ? cell.ratio : 1.0;
                const double left = here ? cell.left : 1.0;
                small[l] = left < small[l] ? left : small[l];
            };
            int64_t j = 0;
            for (int64_t round = 1; j + STRIPES <= d; j += STRIPES, ++round) {
                for (int64_t l = 0; l < STRIPES; ++l) visit(j + l, l);
                if (round % ROUNDS == 0)
                    for (int64_t l = 0; l < STRIPES; ++l)
                        if (!(product[l] > 1 / WIDE && product[l] < WIDE)) logs += log(product[l]), product[l] = 1;
            }
            for (int64_t l = 0; j < d; ++j, ++l) visit(j, l);
            double whole = 1, sum = 0, base = 0;
            for (int64_t l = 0; l < STRIPES; ++l) {
                sum += square[l];
                base += total[l];
                if (!(small[l] >= lowest)) lowest = small[l];
                whole *= product[l];
                if (l % 2) logs += log(whole), whole = 1;
            }
            out[row * p.classes + k] = base - 0.5 * (logs + sum);
        }
        least[row] = lowest;
    }
}

constexpr HeldOutKernels held_out_kernels = {held_out_log_likelihood};

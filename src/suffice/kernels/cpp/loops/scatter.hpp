// Included by instruction_set.cpp, within its namespace: building scatter matrices.

void one_row(const Matrix &x, int64_t row, double *out) { gather(x, row, 1, 0, x.columns, out); }

void shifted_sums(const Matrix &x, const Membership &m, const double *shift, double *buffer, double *total) {
    const int64_t d = x.columns;
    each_member(x, m, 0, x.rows, 0, d, buffer, [=](const auto *RESTRICT value, int64_t k, double w) {
        const double *RESTRICT c = shift + k * d;
        double *RESTRICT t = total + k * d;
        for (int64_t j = 0; j < d; ++j) t[j] += w * (static_cast<double>(value[j]) - c[j]);
    });
}

void accumulate(int64_t count, const double *RESTRICT part, double *RESTRICT total, double *RESTRICT total_low) {
    for (int64_t i = 0; i < count; ++i) add(total[i], total_low[i], part[i]);
}

void outer(int64_t columns, double w, double w_low, const double *RESTRICT z, const double *RESTRICT z_low,
           double *total, double *total_low) {
    for (int64_t i = 0; i < columns; ++i) {
        double *RESTRICT high = total + i * columns;
        double *RESTRICT low = total_low + i * columns;
        double factor, factor_low;
        two_product(w, z[i], factor, factor_low);
        factor_low += w * z_low[i] + w_low * z[i];
        for (int64_t j = 0; j <= i; ++j) {
            double product, lost, sum, error;
            two_product(factor, z[j], product, lost);
            lost += factor * z_low[j] + factor_low * z[j];
            two_sum(high[j], product, sum, error);
            high[j] = sum;
            low[j] += error + lost;
        }
    }
}

template <typename T>
inline void exact_deviations(int64_t d, const T *RESTRICT value, const double *RESTRICT mean,
                             const double *RESTRICT mean_low, double *RESTRICT z, double *RESTRICT z_low) {
    for (int64_t j = 0; j < d; ++j) deviation(static_cast<double>(value[j]), mean[j], mean_low[j], z[j], z_low[j]);
}

void exact_scatter(const Matrix &x, const Membership &m, const double *mean, const double *mean_low, bool pooled,
                   double *buffer, double *total, double *total_low) {
    const int64_t d = x.columns;
    double *const z = buffer + TILE * d, *const z_low = z + d;
    each_member(x, m, 0, x.rows, 0, d, buffer, [=](const auto *value, int64_t k, double w) {
        const int64_t at = pooled ? 0 : k * d * d;
        exact_deviations(d, value, mean + k * d, mean_low + k * d, z, z_low);
        outer(d, w, 0.0, z, z_low, total + at, total_low + at);
    });
}

// Folds plain sums of up to 32 squares into the compensated sums.
void fold_squares(int64_t d, double *chunk, double *squares, double *low) {
    accumulate(d, chunk, squares, low);
    for (int64_t j = 0; j < d; ++j) chunk[j] = 0;
}

void centre(const Matrix &x, const Membership &m, const double *mean, const double *mean_low, int64_t *next,
            double *buffer, double *chunk, int64_t *chunk_rows, double *squares, double *squares_low, int64_t width,
            double *out) {
    const int64_t d = x.columns;
    each_member(x, m, 0, x.rows, 0, d, buffer, [=](const auto *RESTRICT value, int64_t k, double w) {
        const double *RESTRICT c = mean + k * d;
        const double *RESTRICT low = mean_low + k * d;
        double *RESTRICT z = out + next[k]++ * width;
        double *RESTRICT sum = chunk + k * d;
        const double root = w == 1.0 ? 1.0 : sqrt(w);
        for (int64_t j = 0; j < d; ++j) {
            const double t = (static_cast<double>(value[j]) - c[j]) - low[j];
            z[j] = root * t;
            sum[j] += w * t * t;
        }
        if (++chunk_rows[k] == 32) {
            fold_squares(d, sum, squares + k * d, squares_low + k * d);
            chunk_rows[k] = 0;
        }
    });
    for (int64_t k = 0; k < m.classes; ++k)
        if (chunk_rows[k]) fold_squares(d, chunk + k * d, squares + k * d, squares_low + k * d);
}

// Four rows of the product at a time, and as many columns as have their sums in registers.
template <int64_t wide>
inline void product_strip(const double *rows, int64_t count, int64_t width, int64_t i, int64_t j, double *out) {
    Lanes sum[4][wide];
    for (int64_t r = 0; r < 4; ++r)
        for (int64_t g = 0; g < wide; ++g) sum[r][g] = all(0.0);
    for (int64_t n = 0; n < count; ++n) {
        const double *const row = rows + n * width;
        const Lanes a = all(row[i]), b = all(row[i + 1]), c = all(row[i + 2]), e = all(row[i + 3]);
        for (int64_t g = 0; g < wide; ++g) {
            const Lanes v = load(row + j + g * LANES);
            sum[0][g] += a * v;
            sum[1][g] += b * v;
            sum[2][g] += c * v;
            sum[3][g] += e * v;
        }
    }
    for (int64_t r = 0; r < 4; ++r)
        for (int64_t g = 0; g < wide; ++g) store(out + (i + r) * width + j + g * LANES, sum[r][g]);
}

void products(const double *rows, int64_t count, int64_t width, double *out) {
    constexpr int64_t WIDE = LANES == 8 ? 4 : 2;
    for (int64_t i = 0; i < width; i += 4) {
        int64_t j = 0;
        for (; j + WIDE * LANES <= i + 4; j += WIDE * LANES) product_strip<WIDE>(rows, count, width, i, j, out);
        if (WIDE == 4 && j + 2 * LANES < i + 4) {
            product_strip<2>(rows, count, width, i, j, out);
            j += 2 * LANES;
        }
        for (; j < i + 4; j += LANES) product_strip<1>(rows, count, width, i, j, out);
    }
}

constexpr ScatterKernels scatter_kernels = {one_row, shifted_sums, centre, products, outer, exact_scatter, accumulate};

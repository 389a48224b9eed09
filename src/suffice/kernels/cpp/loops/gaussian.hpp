// Included by instruction_set.cpp, within its namespace: log-densities of Gaussians.

// Sums of squared standard scores of a tile under one class. With `holes` missing values are left out, and `norm` is the
// sum of log_norm over the others.
template <bool split, bool holes>
void diagonal_tile(const double *tile, int64_t d, const double *mean, const double *low, const double *scale,
                   const double *log_norm, double *distance, double *norm) {
    Lanes sum[GROUPS], terms[GROUPS];
    for (int64_t g = 0; g < GROUPS; ++g) sum[g] = terms[g] = all(0.0);
    for (int64_t j = 0; j < d; ++j) {
        const Lanes m = all(mean[j]), l = all(split ? low[j] : 0.0), s = all(scale[j]);
        const double *const at = tile + j * TILE;
        for (int64_t g = 0; g < GROUPS; ++g) {
            const Lanes value = load(at + g * LANES);
            Lanes t = value - m;
            if (split) t = t - l;
            t = t * s;
            if (holes) {
                const Bits here = present(value);
                sum[g] += where(here, t * t);
                terms[g] += where(here, all(log_norm[j]));
            } else {
                sum[g] += t * t;
            }
        }
    }
    for (int64_t g = 0; g < GROUPS; ++g) {
        store(distance + g * LANES, sum[g]);
        if (holes) store(norm + g * LANES, terms[g]);
    }
}

void diagonal(const Matrix &x, const Diagonal &p, bool missing, int64_t first, int64_t last, double *buffer,
              const Finish &f, int64_t *lost) {
    const int64_t d = x.columns;
    double *const tile = buffer, *const scores = tile + d * TILE;
    double *RESTRICT distance = scores + (p.classes + 3) * TILE, *RESTRICT norm = distance + TILE;
    const bool split = p.origin == nullptr;
    const int64_t lines = 1 + TILE * (d + 8) / 8 / (p.classes ? p.classes : 1);  // of the next tile, while one class is worked on
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        Ahead ahead(x, start + TILE, TILE, d);
        const bool holes = (fill(x, start, count, {p.origin, nullptr}, tile) & MET_MISSING) && missing;
        for (int64_t k = 0; k < p.classes; ++k) {
            const int64_t at = k * d;
            ahead.steps(lines);
            const auto run = split ? (holes ? diagonal_tile<true, true> : diagonal_tile<true, false>)
                                   : (holes ? diagonal_tile<false, true> : diagonal_tile<false, false>);
            run(tile, d, p.mean + at, p.mean_low + at, p.scale + at, p.log_norm + at, distance, norm);
            for (int64_t i = 0; i < TILE; ++i)
                scores[k * TILE + i] = (holes ? norm[i] : p.total[k]) - 0.5 * distance[i];
        }
        finish(f, p.classes, start, count, scores, lost);
    }
}

// z = T v for a triangular T, four entries of z at a time, and the sum of their squares. T is packed: for each four
// rows i, i + 1, i + 2, i + 3 the four entries of column 0, of column 1, ... of column i + 3.
void squares_of_triangle(const double *tile, int64_t d, const double *packed, double *distance) {
    constexpr int64_t WIDE = LANES == 8 ? 4 : 2;  // vectors whose sums fit the registers, four of each
    for (int64_t from = 0; from < GROUPS; from += WIDE) {
        Lanes square[WIDE];
        for (int64_t g = 0; g < WIDE; ++g) square[g] = all(0.0);
        const double *t = packed;
        for (int64_t i = 0; i < d; i += 4) {
            Lanes z[4][WIDE];
            for (int64_t r = 0; r < 4; ++r)
                for (int64_t g = 0; g < WIDE; ++g) z[r][g] = all(0.0);
            const int64_t columns = i + 4 < d ? i + 4 : d;
            for (int64_t j = 0; j < columns; ++j, t += 4) {
                const double *const at = tile + j * TILE + from * LANES;
                const Lanes a = all(t[0]), b = all(t[1]), c = all(t[2]), e = all(t[3]);
                for (int64_t g = 0; g < WIDE; ++g) {
                    const Lanes v = load(at + g * LANES);
                    z[0][g] += a * v;
                    z[1][g] += b * v;
                    z[2][g] += c * v;
                    z[3][g] += e * v;
                }
            }
            for (int64_t r = 0; r < 4; ++r)
                for (int64_t g = 0; g < WIDE; ++g) square[g] += z[r][g] * z[r][g];
        }
        for (int64_t g = 0; g < WIDE; ++g) store(distance + (from + g) * LANES, square[g]);
    }
}

void full(const Matrix &x, const Full &p, int64_t first, int64_t last, double *buffer, const Finish &f,
          int64_t *lost) {
    const int64_t d = x.columns;
    double *const tile = buffer, *const away = tile + d * TILE, *const scores = away + d * TILE;
    double *RESTRICT distance = scores + (p.classes + 3) * TILE;
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        transpose(x, start, count, tile, unchanged);
        Ahead ahead(x, start + TILE, TILE, d);
        for (int64_t k = 0; k < p.classes; ++k) {
            for (int64_t j = 0; j < d; ++j) {
                ahead.steps(1);
                const Lanes m = all(p.mean[k * d + j]), low = all(p.mean_low[k * d + j]);
                for (int64_t g = 0; g < GROUPS; ++g) {
                    const int64_t at = j * TILE + g * LANES;
                    store(away + at, (load(tile + at) - m) - low);
                }
            }
            squares_of_triangle(away, d, p.packed + k * p.size, distance);
            for (int64_t i = 0; i < TILE; ++i) scores[k * TILE + i] = p.norm[k] - 0.5 * distance[i];
        }
        finish(f, p.classes, start, count, scores, lost);
    }
}

constexpr GaussianKernels gaussian_kernels = {diagonal, full};

// Included by instruction_set.cpp, within its namespace: log-densities of Gaussians.

// Scores of a tile under `SIDE` adjacent classes.
template <bool split, int64_t SIDE>
void diagonal_strip(const double *tile, int64_t d, const Diagonal &p, int64_t k, Ahead &ahead, double *scores) {
    constexpr int64_t WIDE = 4;
    const double *const mean = p.mean + k * d, *const low = p.mean_low + k * d, *const scale = p.scale + k * d;
    for (int64_t from = 0; from < GROUPS; from += WIDE) {
        Lanes sum[SIDE][WIDE];
        for (int64_t r = 0; r < SIDE; ++r)
            for (int64_t g = 0; g < WIDE; ++g) sum[r][g] = all(0.0);
        for (int64_t j = 0; j < d; ++j) {
            ahead.step();
            const double *const at = tile + j * TILE + from * LANES;
            for (int64_t r = 0; r < SIDE; ++r) {
                const int64_t i = r * d + j;
                const Lanes m = all(mean[i]), l = all(split ? low[i] : 0.0), s = all(scale[i]);
                for (int64_t g = 0; g < WIDE; ++g) {
                    Lanes t = load(at + g * LANES) - m;
                    if (split) t = t - l;
                    t = t * s;
                    sum[r][g] += t * t;
                }
            }
        }
        for (int64_t r = 0; r < SIDE; ++r)
            for (int64_t g = 0; g < WIDE; ++g)
                store(scores + (k + r) * TILE + (from + g) * LANES, all(p.total[k + r]) - all(0.5) * sum[r][g]);
    }
}

// The same for one class, skipping missing values.
template <bool split>
void diagonal_holes(const double *tile, int64_t d, const Diagonal &p, int64_t k, Ahead &ahead, double *scores) {
    for (int64_t g = 0; g < GROUPS; ++g) {
        Lanes sum = all(0.0), norm = all(0.0);
        for (int64_t i = k * d; i < (k + 1) * d; ++i) {
            ahead.step();
            const Lanes value = load(tile + (i - k * d) * TILE + g * LANES);
            Lanes t = value - all(p.mean[i]);
            if (split) t = t - all(p.mean_low[i]);
            t = t * all(p.scale[i]);
            const Bits here = present(value);
            sum += where(here, t * t);
            norm += where(here, all(p.log_norm[i]));
        }
        store(scores + k * TILE + g * LANES, norm - all(0.5) * sum);
    }
}

template <bool split>
void diagonal_tile(const double *tile, int64_t d, const Diagonal &p, bool holes, Ahead &ahead, double *scores) {
    int64_t k = 0;
    ahead.share((holes ? GROUPS * p.classes : (p.classes + 1) / 2) * d);
    if (holes)
        for (; k < p.classes; ++k) diagonal_holes<split>(tile, d, p, k, ahead, scores);
    for (; k + 2 <= p.classes; k += 2) diagonal_strip<split, 2>(tile, d, p, k, ahead, scores);
    for (; k < p.classes; ++k) diagonal_strip<split, 1>(tile, d, p, k, ahead, scores);
}

void diagonal(const Matrix &x, const Diagonal &p, bool missing, int64_t first, int64_t last, double *buffer,
              const PosteriorRequest &f, int64_t *invalid_row) {
    const int64_t d = x.columns;
    double *const tile = buffer, *const scores = tile + d * TILE;
    const auto run = p.origin ? diagonal_tile<false> : diagonal_tile<true>;
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        Ahead ahead(x, start + TILE, TILE, d);
        const bool holes = (fill(x, start, count, {p.origin, nullptr}, tile) & FLAG_MISSING) && missing;
        run(tile, d, p, holes, ahead, scores);
        write_output(f, p.classes, start, count, scores, invalid_row);
    }
}

// z = T v for a triangular T, four entries of z at a time, and the sum of their squares. T is packed: for each four
// rows i, i + 1, i + 2, i + 3, the four entries of column 0, column 1, ..., column i + 3.
void squares_of_triangle(const double *tile, int64_t d, const double *packed, double *distance) {
    constexpr int64_t WIDE = LANES == 8 ? 4 : 2;  // vectors whose sums fit in registers, four of each
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

void full(const Matrix &x, const Full &p, int64_t first, int64_t last, double *buffer, const PosteriorRequest &f,
          int64_t *invalid_row) {
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
        write_output(f, p.classes, start, count, scores, invalid_row);
    }
}

constexpr GaussianKernels gaussian_kernels = {diagonal, full};

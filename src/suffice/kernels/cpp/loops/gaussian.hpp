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

// Adds the squares of entries i = first..last-1 of z = T v to `distance`, for `wide` vectors of a tile; T is triangular
// and packed: for each four rows i, i + 1, i + 2, i + 3, the four entries of column 0, column 1, ..., column i + 3.
// `first` is a multiple of four, and `last` too unless it is d.
template <int64_t wide>
inline void add_squares(const double *tile, int64_t d, const double *packed, int64_t first, int64_t last,
                        double *distance) {
    Lanes square[wide];
    for (int64_t g = 0; g < wide; ++g) square[g] = load(distance + g * LANES);
    const double *t = packed + first / 4 * (first / 4 + 1) * 8;
    for (int64_t i = first; i < last; i += 4) {
        Lanes z[4][wide];
        for (int64_t r = 0; r < 4; ++r)
            for (int64_t g = 0; g < wide; ++g) z[r][g] = all(0.0);
        const int64_t columns = i + 4 < d ? i + 4 : d;
        for (int64_t j = 0; j < columns; ++j, t += 4) {
            const double *const at = tile + j * TILE;
            const Lanes a = all(t[0]), b = all(t[1]), c = all(t[2]), e = all(t[3]);
            for (int64_t g = 0; g < wide; ++g) {
                const Lanes v = load(at + g * LANES);
                z[0][g] += a * v;
                z[1][g] += b * v;
                z[2][g] += c * v;
                z[3][g] += e * v;
            }
        }
        for (int64_t r = 0; r < 4; ++r)
            for (int64_t g = 0; g < wide; ++g) square[g] += z[r][g] * z[r][g];
    }
    for (int64_t g = 0; g < wide; ++g) store(distance + g * LANES, square[g]);
}

// The same for the first `count` rows of a tile, rounded up to whole vectors.
void squares_of_triangle(const double *tile, int64_t count, int64_t d, const double *packed, int64_t first,
                         int64_t last, double *distance) {
    constexpr int64_t WIDE = LANES == 8 ? 4 : 2;  // vectors whose sums fit in registers, four of each
    int64_t from = 0;
    for (; from + (WIDE - 1) * LANES < count; from += WIDE * LANES)
        add_squares<WIDE>(tile + from, d, packed, first, last, distance + from);
    for (; from < count; from += LANES) add_squares<1>(tile + from, d, packed, first, last, distance + from);
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
            for (int64_t i = 0; i < TILE; ++i) distance[i] = 0;
            squares_of_triangle(away, TILE, d, p.packed + k * p.size, 0, d, distance);
            for (int64_t i = 0; i < TILE; ++i) scores[k * TILE + i] = p.norm[k] - 0.5 * distance[i];
        }
        write_output(f, p.classes, start, count, scores, invalid_row);
    }
}

// Rows of a block under one class, whose distances are known up to some entry of z.
struct Candidates {
    int64_t count;
    int32_t rows[PRUNED_ROWS];
};

// A block of rows in tiles, and for each tile the distances to all classes (classes x TILE, plus three rows of
// scratch).
struct PrunedBlock {
    const Full &p;
    const double *offset;
    int64_t d, rows;
    double *tiles, *distances, *away;

    double &distance(int64_t row, int64_t k) const {
        return distances[((row / TILE) * (p.classes + 3) + k) * TILE + row % TILE];
    }
    // The score that a row has at most, if this much of its distance is known. Sums of squares grow in floating point,
    // too, so that no score is larger than a bound computed before.
    double score(int64_t k, double distance) const {
        const double density = p.norm[k] - 0.5 * distance;
        return offset ? density + offset[k] : density;
    }

    // Continues the distances of some rows to class k from entry `first` of z to entry `last`.
    void advance(int64_t k, const Candidates &some, int64_t first, int64_t last) const {
        const double *const mean = p.mean + k * d, *const low = p.mean_low + k * d;
        double partial[TILE];
        for (int64_t from = 0; from < some.count; from += TILE) {
            const int64_t count = some.count - from < TILE ? some.count - from : TILE;
            const int64_t width = (count + LANES - 1) / LANES * LANES;
            const double *at[TILE];
            for (int64_t i = 0; i < width; ++i) {
                const int64_t row = some.rows[from + (i < count ? i : 0)];
                at[i] = tiles + row / TILE * d * TILE + row % TILE;
                partial[i] = distance(row, k);
            }
            const bool adjacent = width == count && at[width - 1] - at[0] == width - 1;
            for (int64_t j = 0; j < last; ++j) {
                double *RESTRICT const to = away + j * TILE;
                const double *RESTRICT const from_here = at[0] + j * TILE;
                if (adjacent)
                    for (int64_t i = 0; i < width; ++i) to[i] = (from_here[i] - mean[j]) - low[j];
                else
                    for (int64_t i = 0; i < width; ++i) to[i] = (at[i][j * TILE] - mean[j]) - low[j];
            }
            squares_of_triangle(away, count, d, p.packed + k * p.size, first, last, partial);
            for (int64_t i = 0; i < count; ++i) distance(some.rows[from + i], k) = partial[i];
        }
    }
};

void pruned(const Matrix &x, const Full &p, int64_t first, int64_t last, double *buffer, const PosteriorRequest &f,
            int64_t *invalid_row) {
    const int64_t d = x.columns, rows = last - first, tiles = (rows + TILE - 1) / TILE;
    const int64_t scored = (p.classes + 3) * TILE;
    double *const distances = buffer + d * PRUNED_ROWS;
    const PrunedBlock block{p, f.offset, d, rows, buffer, distances, distances + (p.classes + 3) * PRUNED_ROWS};
    // e^-746 is zero in double precision, and one more covers the rounding of scores.
    const double margin = f.output == PosteriorOutput::decision ? 0.0 : 747.0;
    const int64_t step = (d / 8 + 3) / 4 * 4;
    double best[PRUNED_ROWS];
    int32_t favourite[PRUNED_ROWS];
    Candidates some;

    for (int64_t t = 0; t < tiles; ++t) {
        const int64_t count = rows - t * TILE < TILE ? rows - t * TILE : TILE;
        transpose(x, first + t * TILE, count, block.tiles + t * d * TILE, unchanged);
        for (int64_t i = 0; i < scored; ++i) distances[t * scored + i] = 0;
    }
    for (int64_t i = 0; i < rows; ++i) some.rows[i] = static_cast<int32_t>(i);
    some.count = rows;
    for (int64_t k = 0; k < p.classes; ++k) block.advance(k, some, 0, step);

    // The score of the class that is nearest so far is a lower bound of the largest score.
    for (int64_t i = 0; i < rows; ++i) {
        favourite[i] = 0;
        best[i] = block.score(0, block.distance(i, 0));
    }
    for (int64_t k = 1; k < p.classes; ++k)
        for (int64_t i = 0; i < rows; ++i) {
            const double bound = block.score(k, block.distance(i, k));
            const bool nearer = bound > best[i];
            best[i] = nearer ? bound : best[i];
            favourite[i] = nearer ? static_cast<int32_t>(k) : favourite[i];
        }
    for (int64_t k = 0; k < p.classes; ++k) {
        some.count = 0;
        for (int64_t i = 0; i < rows; ++i)
            if (favourite[i] == k) some.rows[some.count++] = static_cast<int32_t>(i);
        block.advance(k, some, step, d);
    }
    for (int64_t i = 0; i < rows; ++i) best[i] = block.score(favourite[i], block.distance(i, favourite[i]));

    for (int64_t k = 0; k < p.classes; ++k)
        for (int64_t from = step, to = 0; from < d; from = to) {
            some.count = 0;
            int64_t far = 0;  // rows that three quarters of the entries will probably exclude
            const double growth = 0.75 * static_cast<double>(d) / static_cast<double>(from);
            for (int64_t i = 0; i < rows; ++i) {
                if (favourite[i] == k) continue;
                double &distance = block.distance(i, k);
                if (block.score(k, distance) < best[i] - margin) {
                    distance = HUGE_VAL;
                    continue;
                }
                far += block.score(k, growth * distance) < best[i] - margin;
                some.rows[some.count++] = static_cast<int32_t>(i);
            }
            if (!some.count) break;
            // The first half of the entries is a quarter of the work; after it, fewer bounds are worth their price.
            to = 2 * from < d ? from + step : from + 2 * step;
            if (to > d || 4 * far < some.count) to = d;
            block.advance(k, some, from, to);
        }

    for (int64_t t = 0; t < tiles; ++t) {
        const int64_t count = rows - t * TILE < TILE ? rows - t * TILE : TILE;
        double *const scores = distances + t * scored;
        for (int64_t k = 0; k < p.classes; ++k)
            for (int64_t i = 0; i < TILE; ++i) scores[k * TILE + i] = p.norm[k] - 0.5 * scores[k * TILE + i];
        write_output(f, p.classes, first + t * TILE, count, scores, invalid_row);
    }
}

constexpr GaussianKernels gaussian_kernels = {diagonal, full, pruned};

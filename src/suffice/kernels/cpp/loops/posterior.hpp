// Included by instruction_set.cpp, within its namespace: Bayes' rule on rows of joint probabilities.

// Vectors processed in lockstep, since each term of the polynomial waits for the one before.
constexpr int64_t IN_STEP = 4;

// e^x for x <= 0, accurate to about one unit in the last place, with the same bits for every instruction set. NaN is
// treated as minus infinity.
inline void exp_below(Lanes (&x)[IN_STEP]) {
    constexpr double log2e = 1.4426950408889634074, high = 0x1.62e42fee00000p-1, low = 0x1.a39ef35793c76p-33;
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves an integer in the last bits
    // Coefficients of (e^r - 1 - r) / r^2 for |r| <= log(2) / 2, interpolated at ten Chebyshev points, highest first.
    constexpr double highest = 0x1.af38a9b0ec855p-26;
    constexpr double terms[] = {0x1.289185613a3d6p-22, 0x1.71de0dae63bb3p-19, 0x1.a019b90d2ae7ap-16,
                                0x1.a01a01a7c41d5p-13, 0x1.6c16c1788bd90p-10, 0x1.11111111109b3p-7,
                                0x1.5555555553d63p-5,  0x1.5555555555556p-3,  0x1.0000000000001p-1};
    Lanes whole[IN_STEP], r[IN_STEP], p[IN_STEP];
    for (int64_t g = 0; g < IN_STEP; ++g) {
        const Lanes t = larger(x[g], all(-746.0));
        whole[g] = t * all(log2e) + all(magic);
        const Lanes n = whole[g] - all(magic);
        r[g] = (t - n * all(high)) - n * all(low);
        p[g] = all(highest);
    }
    for (const double term : terms)
        for (int64_t g = 0; g < IN_STEP; ++g) p[g] = p[g] * r[g] + all(term);
    for (int64_t g = 0; g < IN_STEP; ++g) {
        p[g] = p[g] * r[g] * r[g] + r[g] + all(1.0);
        // In two steps, since n may be below the exponent of the smallest normal number.
        x[g] = p[g] * power_of_two(whole[g], 54) * all(0x1p-54);
    }
}

// Largest entry of each row of a tile, and its class (the first among equals) if `which` is not null. A row has no
// maximum if an entry is NaN or plus infinity, or all entries are minus infinity: `invalid_row` becomes the first such
// row if it was -1.
void tops(const double *tile, int64_t classes, int64_t start, int64_t count, double *top, double *which,
          int64_t *invalid_row) {
    Lanes odd = all(0.0);
    for (int64_t i = 0; i < TILE; i += IN_STEP * LANES) {
        Lanes most[IN_STEP], best[IN_STEP], strange[IN_STEP];
        for (int64_t g = 0; g < IN_STEP; ++g) {
            most[g] = all(-HUGE_VAL);
            best[g] = strange[g] = all(0.0);
        }
        for (int64_t k = 0; k < classes; ++k) {
            const Lanes number = all(static_cast<double>(k));
            for (int64_t g = 0; g < IN_STEP; ++g) {
                const Lanes value = load(tile + k * TILE + i + g * LANES);
                const Lanes finite = larger(all(-DBL_MAX), value);  // NaN and plus infinity are kept
                strange[g] += finite - finite;
                if (which) best[g] = if_larger(value, most[g], number, best[g]);
                most[g] = larger(value, most[g]);
            }
        }
        for (int64_t g = 0; g < IN_STEP; ++g) {
            odd += strange[g] + (most[g] - most[g]);
            store(top + i + g * LANES, most[g]);
            if (which) store(which + i + g * LANES, best[g]);
        }
    }
    if (is_zero(odd)) return;
    for (int64_t i = 0; i < TILE; ++i) {
        bool wrong = top[i] == -HUGE_VAL;
        for (int64_t k = 0; k < classes; ++k) wrong |= !(tile[k * TILE + i] < HUGE_VAL);
        if (i < count && *invalid_row < 0 && wrong) *invalid_row = start + i;
        top[i] = top[i] > -HUGE_VAL ? top[i] : 0;
    }
}

// e^(score - top) for each row and class, summed over classes. Overwrites the scores unless `keep`.
void exponentials(double *tile, int64_t classes, const double *top, bool keep, double *sum) {
    for (int64_t i = 0; i < TILE; i += IN_STEP * LANES) {
        Lanes total[IN_STEP];
        for (int64_t g = 0; g < IN_STEP; ++g) total[g] = all(0.0);
        for (int64_t k = 0; k < classes; ++k) {
            double *const row = tile + k * TILE + i;
            Lanes e[IN_STEP];
            for (int64_t g = 0; g < IN_STEP; ++g) e[g] = load(row + g * LANES) - load(top + i + g * LANES);
            exp_below(e);
            for (int64_t g = 0; g < IN_STEP; ++g) {
                if (!keep) store(row + g * LANES, e[g]);
                total[g] += e[g];
            }
        }
        for (int64_t g = 0; g < IN_STEP; ++g) store(sum + i + g * LANES, total[g]);
    }
}

// Writes rows to the requested array, in its type.
void write(const PosteriorRequest &f, const double *scores, int64_t classes, int64_t row, int64_t count,
           const double *sum) {
    if (f.single) write(scores, classes, row, count, sum, f.single);
    else write(scores, classes, row, count, sum, f.out);
}

// Computes and writes the requested output for rows whose scores are a tile (classes x TILE, plus three rows of
// scratch).
void write_output(const PosteriorRequest &f, int64_t classes, int64_t start, int64_t count, double *tile,
                  int64_t *invalid_row) {
    double *RESTRICT top = tile + classes * TILE, *RESTRICT sum = top + TILE, *RESTRICT best = sum + TILE;
    if (f.offset)
        for (int64_t k = 0; k < classes; ++k)
            for (int64_t i = 0; i < TILE; ++i) tile[k * TILE + i] += f.offset[k];
    if (f.output == PosteriorOutput::score) return write(f, tile, classes, start, count, nullptr);
    tops(tile, classes, start, count, top, f.output == PosteriorOutput::decision ? best : nullptr, invalid_row);
    if (f.output == PosteriorOutput::decision) {
        for (int64_t i = 0; i < count; ++i) f.codes[start + i] = static_cast<int64_t>(best[i]);
        return;
    }
    exponentials(tile, classes, top, f.output != PosteriorOutput::probability, sum);
    if (f.output == PosteriorOutput::evidence) {
        for (int64_t i = 0; i < count; ++i) f.out[start + i] = top[i] + log(sum[i]);
        return;
    }
    if (f.output == PosteriorOutput::probability) return write(f, tile, classes, start, count, sum);
    for (int64_t i = 0; i < TILE; ++i) sum[i] = log(sum[i]);
    for (int64_t k = 0; k < classes; ++k)
        for (int64_t i = 0; i < TILE; ++i) tile[k * TILE + i] = (tile[k * TILE + i] - top[i]) - sum[i];
    write(f, tile, classes, start, count, nullptr);
}

void posterior(int64_t classes, int64_t first, int64_t last, const double *joint, const PosteriorRequest &f,
               double *tile, int64_t *invalid_row) {
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        const double *const rows = joint + start * classes;
        for (int64_t k = 0; k < classes; ++k) {
            double *RESTRICT to = tile + k * TILE;
            for (int64_t i = 0; i < count; ++i) to[i] = rows[i * classes + k];
            for (int64_t i = count; i < TILE; ++i) to[i] = 0;
        }
        write_output(f, classes, start, count, tile, invalid_row);
    }
}

void add_to_rows(int64_t classes, int64_t first, int64_t last, const double *offset, double *rows) {
    if (classes == 0) return;
    // Several rows at a time, so that even few classes fill a vector.
    constexpr int64_t MOST = 256;
    double repeated[MOST];
    const int64_t together = classes <= MOST / 8 ? MOST / classes : 1, length = together * classes;
    const double *more = offset;
    if (together > 1) {
        for (int64_t i = 0; i < length; ++i) repeated[i] = offset[i % classes];
        more = repeated;
    }
    for (int64_t row = first; row < last; row += together) {
        const int64_t count = last - row < together ? (last - row) * classes : length;
        double *RESTRICT at = rows + row * classes;
        for (int64_t i = 0; i < count; ++i) at[i] += more[i];
    }
}

void exponentiate(int64_t count, double *x) {
    constexpr int64_t STEP = IN_STEP * LANES;
    double rest[STEP] = {};
    for (int64_t start = 0; start < count; start += STEP) {
        const int64_t here = count - start < STEP ? count - start : STEP;
        double *const at = here < STEP ? rest : x + start;
        if (here < STEP)
            for (int64_t i = 0; i < here; ++i) rest[i] = x[start + i];
        Lanes e[IN_STEP];
        for (int64_t g = 0; g < IN_STEP; ++g) e[g] = load(at + g * LANES);
        exp_below(e);
        for (int64_t g = 0; g < IN_STEP; ++g) store(at + g * LANES, e[g]);
        if (here < STEP)
            for (int64_t i = 0; i < here; ++i) x[start + i] = rest[i];
    }
}

void add_series(int64_t count, int terms, const double *c, double factor, const double *a, const double *b,
                double *RESTRICT out) {
    for (int64_t k = 0; k < count; ++k) out[k] = c[terms - 1];
    for (int m = terms - 2; m >= 0; --m)
        for (int64_t k = 0; k < count; ++k) out[k] = out[k] * b[k] + c[m];
    for (int64_t k = 0; k < count; ++k) out[k] = factor * a[k] + out[k] * b[k];
}

constexpr PosteriorKernels posterior_kernels = {posterior, add_to_rows, exponentiate, add_series};

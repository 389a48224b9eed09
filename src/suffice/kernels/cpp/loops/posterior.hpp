// Included by instruction_set.cpp, within its namespace: Bayes' rule on rows of joint probabilities.

// e^x for x <= 0, to about one unit in the last place, and with the same bits in every instruction set; the loop over
// it is a vector. A NaN is taken for minus infinity.
inline double exp_below(double x) {
    constexpr double log2e = 1.4426950408889634074, high = 0x1.62e42fee00000p-1, low = 0x1.a39ef35793c76p-33;
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves a whole number in the last bits
    const double t = x > -746.0 ? x : -746.0;
    const double n = (t * log2e + magic) - magic;
    const double r = (t - n * high) - n * low;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r * r + r + 1;
    // 2^n in two steps, since n may be below the exponent of the least normal number.
    const double half = (n * 0.5 + magic), rest = n - (half - magic) + magic;
    uint64_t a, b;
    memcpy(&a, &half, 8);
    memcpy(&b, &rest, 8);
    a = (a + 1023) << 52;
    b = (b + 1023) << 52;
    double first, second;
    memcpy(&first, &a, 8);
    memcpy(&second, &b, 8);
    return p * first * second;
}

// Largest entry of each row of a tile. Where one is no number or plus infinity, or all are minus infinity, there is nothing
// to compare: `lost` becomes the first such row, if it was -1.
void tops(const double *tile, int64_t classes, int64_t start, int64_t count, double *RESTRICT top, int64_t *lost) {
    double wrong[TILE];
    for (int64_t i = 0; i < TILE; ++i) top[i] = -HUGE_VAL, wrong[i] = 0;
    for (int64_t k = 0; k < classes; ++k) {
        const double *RESTRICT row = tile + k * TILE;
        for (int64_t i = 0; i < TILE; ++i) {
            wrong[i] = row[i] < HUGE_VAL ? wrong[i] : 1;
            top[i] = row[i] > top[i] ? row[i] : top[i];
        }
    }
    for (int64_t i = 0; i < TILE; ++i) {
        if (i < count && *lost < 0 && (wrong[i] > 0 || top[i] == -HUGE_VAL)) *lost = start + i;
        top[i] = top[i] > -HUGE_VAL ? top[i] : 0;
    }
}

// What is asked of rows whose scores are a tile (classes x TILE, and three more for scratch).
void finish(const Finish &f, int64_t classes, int64_t start, int64_t count, double *tile, int64_t *lost) {
    double *RESTRICT top = tile + classes * TILE, *RESTRICT sum = top + TILE, *RESTRICT each = sum + TILE;
    if (f.offset)
        for (int64_t k = 0; k < classes; ++k)
            for (int64_t i = 0; i < TILE; ++i) tile[k * TILE + i] += f.offset[k];
    if (f.answer == Answer::score) return write(tile, classes, start, count, f.out);
    tops(tile, classes, start, count, top, lost);
    if (f.answer == Answer::decision) {
        // From the last class to the first, so that the first of equal ones is the answer.
        for (int64_t i = 0; i < TILE; ++i) each[i] = 0;
        for (int64_t k = classes - 1; k >= 0; --k)
            for (int64_t i = 0; i < TILE; ++i)
                each[i] = tile[k * TILE + i] == top[i] ? static_cast<double>(k) : each[i];
        for (int64_t i = 0; i < count; ++i) f.codes[start + i] = static_cast<int64_t>(each[i]);
        return;
    }
    for (int64_t i = 0; i < TILE; ++i) sum[i] = 0;
    const bool keep = f.answer == Answer::probability;
    for (int64_t k = 0; k < classes; ++k) {
        const double *row = tile + k * TILE;
        double *to = keep ? tile + k * TILE : each;
        for (int64_t i = 0; i < TILE; ++i) {
            const double e = exp_below(row[i] - top[i]);
            to[i] = e;
            sum[i] += e;
        }
    }
    if (f.answer == Answer::evidence) {
        for (int64_t i = 0; i < count; ++i) f.out[start + i] = top[i] + log(sum[i]);
        return;
    }
    if (keep) {
        for (int64_t k = 0; k < classes; ++k)
            for (int64_t i = 0; i < TILE; ++i) tile[k * TILE + i] /= sum[i];
    } else {
        for (int64_t i = 0; i < TILE; ++i) sum[i] = log(sum[i]);
        for (int64_t k = 0; k < classes; ++k)
            for (int64_t i = 0; i < TILE; ++i) tile[k * TILE + i] = (tile[k * TILE + i] - top[i]) - sum[i];
    }
    write(tile, classes, start, count, f.out);
}

void answer(int64_t classes, int64_t first, int64_t last, const double *joint, const Finish &f, double *tile,
            int64_t *lost) {
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        const double *const rows = joint + start * classes;
        for (int64_t k = 0; k < classes; ++k) {
            double *RESTRICT to = tile + k * TILE;
            for (int64_t i = 0; i < count; ++i) to[i] = rows[i * classes + k];
            for (int64_t i = count; i < TILE; ++i) to[i] = 0;
        }
        finish(f, classes, start, count, tile, lost);
    }
}

void add_to_rows(int64_t classes, int64_t first, int64_t last, const double *offset, double *rows) {
    if (classes == 0) return;
    // Several rows at a time, so that few classes fill a vector, too.
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

constexpr PosteriorKernels posterior_kernels = {answer, add_to_rows};

// Included by instruction_set.cpp, within its namespace: scores that are linear in x.

// Four classes at a time: offset + sum of coef times value; with `holes` a missing value adds -zero instead.
template <bool holes>
void linear_tile(const double *tile, int64_t d, int64_t classes, const double *coef, const double *offset,
                 const double *zero, Ahead &ahead, double *scores) {
    constexpr int64_t WIDE = LANES == 8 ? 4 : 2, SIDE = 4;
    for (int64_t k = 0; k < classes; k += SIDE) {
        const int64_t side = classes - k < SIDE ? classes - k : SIDE;
        for (int64_t from = 0; from < GROUPS; from += WIDE) {
            Lanes sum[SIDE][WIDE];
            for (int64_t r = 0; r < SIDE; ++r)
                for (int64_t g = 0; g < WIDE; ++g) sum[r][g] = all(r < side ? offset[k + r] : 0.0);
            for (int64_t j = 0; j < d; ++j) {
                ahead.steps(2);
                const double *const at = tile + j * TILE + from * LANES;
                // Coefficients lie in fours, too: those of classes k..k+3 of a column side by side.
                const double *const c = coef + (k / SIDE * d + j) * SIDE, *const z = holes ? zero + (k / SIDE * d + j) * SIDE : nullptr;
                for (int64_t g = 0; g < WIDE; ++g) {
                    const Lanes value = load(at + g * LANES);
                    if (holes) {
                        const Bits here = present(value);
                        const Lanes known = where(here, value), gone = all(1.0) - where(here, all(1.0));
                        for (int64_t r = 0; r < SIDE; ++r) sum[r][g] += all(c[r]) * known - all(z[r]) * gone;
                    } else {
                        for (int64_t r = 0; r < SIDE; ++r) sum[r][g] += all(c[r]) * value;
                    }
                }
            }
            for (int64_t r = 0; r < side; ++r)
                for (int64_t g = 0; g < WIDE; ++g) store(scores + (k + r) * TILE + (from + g) * LANES, sum[r][g]);
        }
    }
}

uint32_t linear(const Matrix &x, const LinearForm &p, int64_t first, int64_t last, double *buffer, const Finish &f,
                int64_t *lost) {
    const int64_t d = x.columns;
    double *const tile = buffer, *const scores = tile + d * TILE;
    uint32_t met = 0;
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        Ahead ahead(x, start + TILE, TILE, d);
        const uint32_t here = fill(x, start, count, {p.origin, p.threshold}, tile);
        met |= here;
        if ((here & MET_MISSING) && p.zero) linear_tile<true>(tile, d, p.classes, p.coef, p.offset, p.zero, ahead, scores);
        else linear_tile<false>(tile, d, p.classes, p.coef, p.offset, p.zero, ahead, scores);
        finish(f, p.classes, start, count, scores, lost);
    }
    return met;
}

constexpr LinearKernels linear_kernels = {linear};

// Included by instruction_set.cpp, within its namespace: scores that are linear in x.

// Scores of `SIDE` classes: offset + sum of coef times value; with `holes`, a missing value adds -zero instead.
template <bool holes, int64_t SIDE>
void linear_strip(const double *tile, int64_t d, const double *coef, const double *offset, const double *zero,
                  Ahead &ahead, double *scores) {
    constexpr int64_t WIDE = LANES == 8 || SIDE <= 2 ? 4 : 2;  // vectors whose sums fit in registers
    for (int64_t from = 0; from < GROUPS; from += WIDE) {
        Lanes sum[SIDE][WIDE];
        for (int64_t r = 0; r < SIDE; ++r)
            for (int64_t g = 0; g < WIDE; ++g) sum[r][g] = all(offset[r]);
        for (int64_t j = 0; j < d; ++j) {
            ahead.step();
            const double *const at = tile + j * TILE + from * LANES;
            const double *const c = coef + j * SIDE, *const z = holes ? zero + j * SIDE : nullptr;
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
        for (int64_t r = 0; r < SIDE; ++r)
            for (int64_t g = 0; g < WIDE; ++g) store(scores + r * TILE + (from + g) * LANES, sum[r][g]);
    }
}

template <bool holes>
void linear_tile(const double *tile, int64_t d, const LinearForm &p, Ahead &ahead, double *scores) {
    constexpr decltype(&linear_strip<holes, 1>) run[] = {linear_strip<holes, 1>, linear_strip<holes, 2>,
                                                         linear_strip<holes, 3>, linear_strip<holes, 4>,
                                                         linear_strip<holes, 5>, linear_strip<holes, 6>};
    static_assert(sizeof(run) / sizeof(*run) == STRIP, "a loop for each number of classes");
    const int64_t strips = strips_of(p.classes);
    ahead.share(strips * d);
    for (int64_t s = 0; s < strips; ++s) {
        const int64_t k = strip_start(s, p.classes), side = strip_start(s + 1, p.classes) - k;
        run[side - 1](tile, d, p.coef + k * d, p.offset + k, p.zero ? p.zero + k * d : nullptr, ahead,
                      scores + k * TILE);
    }
}

uint32_t linear(const Matrix &x, const LinearForm &p, int64_t first, int64_t last, double *buffer,
                const PosteriorRequest &f, int64_t *invalid_row) {
    const int64_t d = x.columns;
    double *const tile = buffer, *const scores = tile + d * TILE;
    uint32_t flags = 0;
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        Ahead ahead(x, start + TILE, TILE, d);
        const uint32_t here = fill(x, start, count, {p.origin, p.threshold}, tile);
        flags |= here;
        const auto run = (here & FLAG_MISSING) && p.zero ? linear_tile<true> : linear_tile<false>;
        run(tile, d, p, ahead, scores);
        write_output(f, p.classes, start, count, scores, invalid_row);
    }
    return flags;
}

constexpr LinearKernels linear_kernels = {linear};

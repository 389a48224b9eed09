// Included by instruction_set.cpp, within its namespace: log-likelihoods of tiles of rows. A tile lies column by column
// (columns x TILE), so that a vector holds the same column of several rows.

// Less an origin, or as yes and no: what a tile holds instead of the numbers as they are.
struct TileTransform {
    const double *origin;     // columns, or null
    const double *threshold;  // one number, or null: 1 above it, 0 elsewhere
};

// Fills a tile; returns what it met: MET_MISSING for a NaN, MET_INFINITE for an infinity (which is only looked for
// where a threshold would hide it).
uint32_t fill(const Matrix &x, int64_t row, int64_t count, const TileTransform &transform, double *tile) {
    Lanes odd = all(0.0);  // NaN where a value is missing or infinite
    const auto each = [&](Lanes value, int64_t j) {
        const Lanes read = transform.origin ? value - all(transform.origin[j]) : value;
        odd += read * all(0.0);
        return read;
    };
    const int64_t seen = transpose(x, row, count, tile, each);
    for (int64_t j = seen; j < x.columns; ++j) {
        double *const at = tile + j * TILE;
        for (int64_t g = 0; g < GROUPS; ++g) store(at + g * LANES, each(load(at + g * LANES), j));
    }
    const bool whole = is_zero(odd);
    uint32_t flags = 0;
    if (!whole)
        for (int64_t i = 0; i < x.columns * TILE; ++i) flags |= tile[i] != tile[i] ? FLAG_MISSING : 0;
    if (!whole && transform.threshold)
        for (int64_t i = 0; i < x.columns * TILE; ++i)
            flags |= tile[i] == HUGE_VAL || tile[i] == -HUGE_VAL ? FLAG_INFINITE : 0;
    if (transform.threshold)
        for (int64_t i = 0; i < x.columns * TILE; ++i) {
            const double yes = tile[i] > *transform.threshold ? 1.0 : 0.0;
            tile[i] = tile[i] == tile[i] ? yes : tile[i];
        }
    return flags;
}

// Writes classes x TILE numbers row by row, each row divided by its `sum` if there is any.
template <typename To>
void write(const double *scores, int64_t classes, int64_t row, int64_t count, const double *sum, To *out) {
    To *const to = out + row * classes;
    const Done done = turn_squares(scores, TILE, classes, count, to, classes,
                                   [&](Lanes value, int64_t i) { return sum ? value / all(sum[i]) : value; });
    for (int64_t i = 0; i < count; ++i)
        for (int64_t k = i < done.length ? done.lines : 0; k < classes; ++k)
            to[i * classes + k] = static_cast<To>(sum ? scores[k * TILE + i] / sum[i] : scores[k * TILE + i]);
}

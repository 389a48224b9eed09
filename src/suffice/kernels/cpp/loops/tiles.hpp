// Included by instruction_set.cpp, within its namespace: tiles of rows. A tile is stored by column (columns x TILE), so
// that a vector holds the same column of several rows.

// How the numbers of a tile are transformed: an origin is subtracted, or a threshold turns them into 0 and 1.
struct TileTransform {
    const double *origin;     // columns, or null
    const double *threshold;  // one number, or null: values above it become 1, others 0
};

// Fills a tile; returns FLAG_MISSING if there is a NaN, and FLAG_INFINITE if a threshold hides an infinity.
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

// Writes classes x TILE numbers row by row; divides each row by its `sum` if that is not null.
template <typename To>
void write(const double *scores, int64_t classes, int64_t row, int64_t count, const double *sum, To *out) {
    To *const to = out + row * classes;
    const Done done = turn_squares(scores, TILE, classes, count, to, classes,
                                   [&](Lanes value, int64_t i) { return sum ? value / all(sum[i]) : value; });
    for (int64_t i = 0; i < count; ++i)
        for (int64_t k = i < done.length ? done.lines : 0; k < classes; ++k)
            to[i * classes + k] = static_cast<To>(sum ? scores[k * TILE + i] / sum[i] : scores[k * TILE + i]);
}

// Included by instruction_set.cpp, within its namespace: log-likelihoods of tiles of rows. A tile lies column by column
// (columns x TILE), so that a vector holds the same column of several rows.

// Less an origin, or as yes and no: what a tile holds instead of the numbers as they are.
struct Reading {
    const double *origin;     // columns, or null
    const double *threshold;  // one number, or null: 1 above it, 0 elsewhere
};

// Fills a tile; returns what it met: MET_MISSING for a NaN, MET_INFINITE for an infinity (which is only looked for where a
// threshold would hide it).
uint32_t fill(const Matrix &x, int64_t row, int64_t count, const Reading &how, double *tile) {
    Lanes odd = all(0.0);  // NaN where a value is missing or infinite
    const int64_t seen = transpose(x, row, count, tile, [&](Lanes value, int64_t j) {
        odd += value - value;
        return how.origin ? value - load(how.origin + j) : value;
    });
    for (int64_t j = seen; j < x.columns; ++j) {
        double *const at = tile + j * TILE;
        const Lanes origin = all(how.origin ? how.origin[j] : 0.0);
        for (int64_t g = 0; g < GROUPS; ++g) {
            const Lanes value = load(at + g * LANES);
            odd += value - value;
            if (how.origin) store(at + g * LANES, value - origin);
        }
    }
    bool whole = true;
    double lanes[LANES];
    store(lanes, odd);
    for (int64_t i = 0; i < LANES; ++i) whole &= lanes[i] == 0;
    uint32_t met = 0;
    if (!whole)
        for (int64_t i = 0; i < x.columns * TILE; ++i) met |= tile[i] != tile[i] ? MET_MISSING : 0;
    if (!whole && how.threshold)
        for (int64_t i = 0; i < x.columns * TILE; ++i) met |= tile[i] == HUGE_VAL || tile[i] == -HUGE_VAL ? MET_INFINITE : 0;
    if (how.threshold)
        for (int64_t i = 0; i < x.columns * TILE; ++i) {
            const double yes = tile[i] > *how.threshold ? 1.0 : 0.0;
            tile[i] = tile[i] == tile[i] ? yes : tile[i];
        }
    return met;
}

// Writes classes x TILE numbers row by row.
void write(const double *scores, int64_t classes, int64_t row, int64_t count, double *out) {
    double *const to = out + row * classes;
    for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < classes; ++k) to[i * classes + k] = scores[k * TILE + i];
}

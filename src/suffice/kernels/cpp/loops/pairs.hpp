// Included by instruction_set.cpp, within its namespace: cells of numbers, and bits that are set in two sets.

constexpr int64_t FEW_CUTS = 16;  // with at most as many, every number is compared with every cut

void interval_cells(const Matrix &x, const Intervals &p, int64_t first, int64_t last, int64_t width, double *buffer,
                    int32_t *out) {
    const int64_t d = x.columns;
    double *RESTRICT const count = buffer + TILE * d;
    each_row(x, first, last, 0, d, buffer, [&](const auto *RESTRICT values, int64_t i) {
        if (p.height <= FEW_CUTS) {
            for (int64_t j = 0; j < d; ++j) count[j] = 0;
            for (int64_t c = 0; c < p.height; ++c) {
                const double *RESTRICT cut = p.cuts + c * d;
                for (int64_t j = 0; j < d; ++j) count[j] += static_cast<double>(values[j]) > cut[j] ? 1.0 : 0.0;
            }
        } else {
            for (int64_t j = 0; j < d; ++j) {
                int64_t low = 0, high = p.height;
                while (low < high) {
                    const int64_t middle = (low + high) / 2;
                    if (p.cuts[middle * d + j] < static_cast<double>(values[j])) low = middle + 1;
                    else high = middle;
                }
                count[j] = static_cast<double>(low);
            }
        }
        int32_t *const to = out + i * width;
        for (int64_t j = 0; j < d; ++j)
            to[p.column[j]] = values[j] != values[j] ? p.missing[j] : p.first[j] + static_cast<int32_t>(count[j]);
    });
}

inline int64_t bit_count(uint64_t bits) {
#if defined(__POPCNT__) || defined(__aarch64__)
    return __builtin_popcountll(bits);
#else
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return static_cast<int64_t>((bits + (bits >> 4) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
#endif
}

int64_t overlap(const uint64_t *a, const uint64_t *b, int64_t words) {
    int64_t count = 0;
    for (int64_t i = 0; i < words; ++i) count += bit_count(a[i] & b[i]);
    return count;
}

void cell_range(const int32_t *cells, int64_t first, int64_t last, int64_t columns, uint32_t *RESTRICT least,
                uint32_t *RESTRICT most) {
    for (int64_t i = first; i < last; ++i) {
        const int32_t *RESTRICT row = cells + i * columns;
        for (int64_t j = 0; j < columns; ++j) {
            const auto cell = static_cast<uint32_t>(row[j]);
            least[j] = cell < least[j] ? cell : least[j];
            most[j] = cell > most[j] ? cell : most[j];
        }
    }
}

constexpr PairKernels pair_kernels = {interval_cells, overlap, cell_range};

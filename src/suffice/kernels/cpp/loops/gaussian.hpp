// Included by instruction_set.cpp, within its namespace: log-densities of independent Gaussian columns.

void diagonal_log_likelihood(const Matrix &x, const Diagonal &p, bool missing, int64_t first, int64_t last,
                             double *buffer, double *out) {
    const int64_t d = x.columns;
    double *const tile = buffer;
    double *RESTRICT distance = buffer + d * TILE;
    double *RESTRICT norm = distance + TILE;
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        transpose(x, start, count, tile);
        for (int64_t k = 0; k < p.classes; ++k) {
            for (int64_t i = 0; i < TILE; ++i) distance[i] = norm[i] = 0;
            double total = 0;
            for (int64_t j = 0; j < d; ++j) {
                const double *RESTRICT value = tile + j * TILE;
                const double mean = p.mean[k * d + j], low = p.mean_low[k * d + j], scale = p.scale[k * d + j];
                const double log_norm = p.log_norm[k * d + j];
                if (!missing) {
                    total += log_norm;
                    for (int64_t i = 0; i < TILE; ++i) {
                        const double t = ((value[i] - mean) - low) * scale;
                        distance[i] += t * t;
                    }
                } else {
                    for (int64_t i = 0; i < TILE; ++i) {
                        const double v = value[i];
                        const double t = ((v - mean) - low) * scale;
                        const bool here = v == v;
                        distance[i] += here ? t * t : 0.0;
                        norm[i] += here ? log_norm : 0.0;
                    }
                }
            }
            for (int64_t i = 0; i < count; ++i)
                out[(start + i) * p.classes + k] = (total + norm[i]) - 0.5 * distance[i];
        }
    }
}

constexpr GaussianKernels gaussian_kernels = {diagonal_log_likelihood};

// Included by instruction_set.cpp, within its namespace: numbers as integers of the same order.

// The bits of the absolute value with the sign of the value; zero below 2^-1022.
inline int64_t key_of(double value) {
    if (value != value) return NO_KEY;
    int64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    const int64_t sign = bits >> 63;
    bits &= INT64_MAX;
    bits = bits < int64_t{1} << 52 ? 0 : bits;
    return (bits ^ sign) - sign;
}

inline double interval_of(double value, const double *cuts, int64_t count) {
    if (value != value) return value;
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (cuts[middle] < value) low = middle + 1;
        else high = middle;
    }
    return static_cast<double>(low);
}

void number_keys(const Matrix &x, int64_t row, int64_t count, int64_t column, int64_t columns, const double *cuts,
                 int64_t n_cuts, double *buffer, int64_t *out) {
    gather(x, row, count, column, columns, buffer);
    if (n_cuts)
        for (int64_t i = 0; i < count * columns; ++i) buffer[i] = interval_of(buffer[i], cuts, n_cuts);
    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < count; ++i) out[j * count + i] = key_of(buffer[i * columns + j]);
}

constexpr BinKernels bin_kernels = {number_keys};

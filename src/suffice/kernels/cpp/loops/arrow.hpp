// Included by instruction_set.cpp, within its namespace: numbers with validity bits.

// out = numbers first..last-1, with NaN where the bit is zero. The bit of number i is `bit + i`, counted from the
// lowest bit of each byte.
void known_numbers(const Column &c, const uint8_t *bits, int64_t bit, int64_t first, int64_t last, double *out) {
    with_type(c.type, c.data, [&](auto *data) {
        const auto *RESTRICT values = data;
        double *RESTRICT to = out;
        const double nothing = __builtin_nan("");
        const auto one = [&](int64_t i) {
            const int64_t at = bit + i;
            to[i] = bits[at / 8] >> (at % 8) & 1 ? static_cast<double>(values[i]) : nothing;
        };
        int64_t i = first;
        for (; i < last && (bit + i) % 8; ++i) one(i);
        for (; i + 8 <= last; i += 8) {
            const int64_t byte = bits[(bit + i) / 8];
            for (int64_t l = 0; l < 8; ++l) {
                const double v = static_cast<double>(values[i + l]);
                to[i + l] = byte >> l & 1 ? v : nothing;
            }
        }
        for (; i < last; ++i) one(i);
    });
}

constexpr ArrowKernels arrow_kernels = {known_numbers};

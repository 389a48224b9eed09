// Included by instruction_set.cpp, within its namespace: flags about values.

constexpr int ABREAST = 16;  // independent lanes, so that checking costs little compared with reading

// The exact flags of some values.
template <typename T> uint32_t exact_flags(const T *RESTRICT value, int64_t count) {
    double least[ABREAST] = {}, largest[ABREAST] = {}, holes[ABREAST] = {};
    const auto lane = [&](double v, int l) {
        const double size = v < 0 ? -v : v;
        least[l] = v < least[l] ? v : least[l];
        largest[l] = size > largest[l] ? size : largest[l];
        holes[l] = v == v ? holes[l] : 1.0;
    };
    int64_t i = 0;
    for (; i + ABREAST <= count; i += ABREAST)
        for (int l = 0; l < ABREAST; ++l) lane(static_cast<double>(value[i + l]), l);
    for (; i < count; ++i) lane(static_cast<double>(value[i]), 0);
    uint32_t flags = 0;
    for (int l = 0; l < ABREAST; ++l) {
        if (least[l] < 0) flags |= FLAG_NEGATIVE;
        if (largest[l] > 1.7976931348623157e308) flags |= FLAG_INFINITE;
        if (holes[l] > 0) flags |= FLAG_MISSING;
    }
    return flags;
}

// Sets the highest bit if a value is negative, infinite or missing (or minus zero): by its sign, or by the carry from
// an exponent of ones.
inline uint64_t odd_bits(double value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits | ((bits & 0x7fffffffffffffffu) + 0x0010000000000000u);
}

// The same for infinite or missing values only.
inline uint64_t endless_bits(double value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7fffffffffffffffu) + 0x0010000000000000u;
}

inline bool is_odd(uint64_t bits) { return bits >> 63; }

// The flags of some values. Fast if none is negative, infinite or missing, as is usual.
template <typename T> inline uint32_t value_flags(const T *RESTRICT value, int64_t count) {
    if constexpr (T(-1) > T(0)) return 0;  // unsigned integers
    uint64_t odd = 0;
    for (int64_t i = 0; i < count; ++i) odd |= odd_bits(static_cast<double>(value[i]));
    return is_odd(odd) ? exact_flags(value, count) : 0;
}

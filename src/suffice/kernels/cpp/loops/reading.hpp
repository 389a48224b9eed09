// Included by instruction_set.cpp, within its namespace: reading rows.

// Calls use(pointer) with the numbers in their own type.
template <typename Use> inline void with_type(Type type, const void *data, Use use) {
    switch (type) {
    case Type::f64: return use(static_cast<const double *>(data));
    case Type::f32: return use(static_cast<const float *>(data));
    case Type::i64: return use(static_cast<const int64_t *>(data));
    case Type::i32: return use(static_cast<const int32_t *>(data));
    case Type::i16: return use(static_cast<const int16_t *>(data));
    case Type::i8: return use(static_cast<const int8_t *>(data));
    case Type::u64: return use(static_cast<const uint64_t *>(data));
    case Type::u32: return use(static_cast<const uint32_t *>(data));
    case Type::u16: return use(static_cast<const uint16_t *>(data));
    case Type::u8: return use(static_cast<const uint8_t *>(data));
    }
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) && __has_builtin(__builtin_convertvector)
#define SUFFICE_SHUFFLES
#endif
#endif

#ifdef SUFFICE_SHUFFLES
typedef float Halves __attribute__((vector_size(4 * LANES)));  // as many numbers as in Lanes

inline Lanes as_lanes(Lanes value) { return value; }
inline Lanes as_lanes(Halves value) {
#if defined(__AVX512F__)
    return _mm512_cvtps_pd(value);  // gcc 12 compiles the builtin to four instructions
#else
    return __builtin_convertvector(value, Lanes);
#endif
}

inline void put(double *to, Lanes value) { store(to, value); }
inline void put(float *to, Lanes value) {
#if defined(__AVX512F__)
    const Halves half = _mm512_cvtpd_ps(value);
#else
    const Halves half = __builtin_convertvector(value, Halves);
#endif
    memcpy(to, &half, sizeof(half));
}

template <typename Vector, typename T> inline Vector load_as(const T *from) {
    Vector out;
    memcpy(&out, from, sizeof(out));
    return out;
}
inline void load_rows(const double *from, Lanes &to) { to = load(from); }
inline void load_rows(const float *from, Lanes &to) { to = as_lanes(load_as<Halves>(from)); }

// One step of a transposition: swaps blocks of 1, 2 or 4 lanes between vectors that are as far apart.
template <int apart, typename Vector> inline void swap_blocks(Vector &a, Vector &b) {
    const Vector x = a, y = b;
    constexpr auto first = [](int i) { return (i & apart) == 0 ? i : static_cast<int>(LANES) + i - apart; };
    constexpr auto second = [](int i) { return (i & apart) == 0 ? i + apart : static_cast<int>(LANES) + i; };
#if defined(__AVX512F__)
    a = __builtin_shufflevector(x, y, first(0), first(1), first(2), first(3), first(4), first(5), first(6), first(7));
    b = __builtin_shufflevector(x, y, second(0), second(1), second(2), second(3), second(4), second(5), second(6),
                                second(7));
#elif defined(__AVX2__)
    a = __builtin_shufflevector(x, y, first(0), first(1), first(2), first(3));
    b = __builtin_shufflevector(x, y, second(0), second(1), second(2), second(3));
#else
    a = __builtin_shufflevector(x, y, first(0), first(1));
    b = __builtin_shufflevector(x, y, second(0), second(1));
#endif
}

template <int apart, typename Vector> inline void swap_all(Vector *row) {
    for (int64_t i = 0; i < LANES; ++i)
        if ((i & apart) == 0) swap_blocks<apart>(row[i], row[i + apart]);
}

// Transposes LANES lines of LANES numbers in their own type. line(i) loads a line; `each` may change a transposed
// vector before it is stored.
template <typename Vector, typename Line, typename To, typename Each>
inline void turn_square(Line line, To *to, int64_t width, Each each) {
    Vector row[LANES];
    for (int64_t i = 0; i < LANES; ++i) row[i] = line(i);
    swap_all<1>(row);
#if defined(__AVX2__)
    swap_all<2>(row);
#endif
#if defined(__AVX512F__)
    swap_all<4>(row);
#endif
    for (int64_t i = 0; i < LANES; ++i) put(to + i * width, each(as_lanes(row[i]), i));
}
#else
template <typename T> inline void load_rows(const T *from, Lanes &to) {
    double all[LANES];
    for (int64_t i = 0; i < LANES; ++i) all[i] = static_cast<double>(from[i]);
    to = load(all);
}
#endif

// Transposes lines that are `stride` apart, each of `length` numbers, into rows that are `width` apart. `each` may
// change the vectors of row j. Returns how many lines and numbers were done: incomplete squares of LANES x LANES are
// left to the caller.
struct Done {
    int64_t lines, length;
};
template <typename T, typename To, typename Each>
inline Done turn_squares(const T *, int64_t, int64_t, int64_t, To *, int64_t, Each) {
    return {0, 0};
}
#ifdef SUFFICE_SHUFFLES
template <typename Vector, typename T, typename To, typename Each>
inline Done squares_of(const T *from, int64_t stride, int64_t lines, int64_t length, To *to, int64_t width, Each each) {
    // A remainder of several lines is done by a square that begins earlier and repeats some lines.
    const auto done = [](int64_t count) { return count % LANES > 2 && count > LANES ? count : count / LANES * LANES; };
    const auto start = [](int64_t at, int64_t count) { return at + LANES <= count ? at : count - LANES; };
    const Done whole = {done(lines), done(length)};
    for (int64_t i = 0; i < whole.lines; i += LANES)
        for (int64_t j = 0; j < whole.length; j += LANES) {
            const int64_t line = start(i, lines), at = start(j, length);
            turn_square<Vector>([&](int64_t l) { return load_as<Vector>(from + (line + l) * stride + at); },
                                to + at * width + line, width,
                                [&](Lanes value, int64_t c) { return each(value, at + c); });
        }
    return whole;
}
template <typename To, typename Each>
inline Done turn_squares(const double *from, int64_t stride, int64_t lines, int64_t length, To *to, int64_t width,
                         Each each) {
    return squares_of<Lanes>(from, stride, lines, length, to, width, each);
}
template <typename To, typename Each>
inline Done turn_squares(const float *from, int64_t stride, int64_t lines, int64_t length, To *to, int64_t width,
                         Each each) {
    return squares_of<Halves>(from, stride, lines, length, to, width, each);
}
#endif

inline Lanes unchanged(Lanes value, int64_t) { return value; }

// Writes NaN for the missing numbers row.. of a column; they are `step` apart in `out`. Without a branch, which would
// be mispredicted.
inline void mark_missing(const Column &c, int64_t row, int64_t count, double *out, int64_t step) {
    const double nothing = __builtin_nan("");
    for (int64_t i = 0; i < count; ++i) {
        const uint64_t at = static_cast<uint64_t>(c.bit + row + i);
        const double value = out[i * step];
        out[i * step] = c.bits[at / 8] >> (at % 8) & 1 ? value : nothing;
    }
}

#ifdef SUFFICE_SHUFFLES
// The same for LANES numbers i.. in a vector.
inline Lanes known(const Column &c, int64_t i, Lanes value) {
    const uint64_t at = static_cast<uint64_t>(c.bit + i), shift = at % 8;
    uint32_t here = c.bits[at / 8] >> shift;
    if (shift + LANES > 8) here |= static_cast<uint32_t>(c.bits[at / 8 + 1]) << (8 - shift);
    Bits lane{};
    for (int64_t l = 0; l < LANES; ++l) lane[l] = int64_t{1} << l;
    const Bits gone = (lane & static_cast<int64_t>(here)) == 0;
    return (Lanes)((Bits)value | gone);  // all bits set is a NaN
}
#endif

// Copies columns stored in their own arrays, row by row.
void gather_columns(const Column *each, int64_t row, int64_t count, int64_t columns, double *out) {
    int64_t j = 0;
#ifdef SUFFICE_SHUFFLES
    int64_t marked = 0;
    const auto plain = [](const Column &c) { return c.type == Type::f64 && c.stride == 1; };
    for (; j + LANES <= columns; j += LANES) {
        bool all_plain = true;
        for (int64_t c = 0; c < LANES; ++c) all_plain &= plain(each[j + c]);
        if (!all_plain) break;
        int64_t i = 0;
        const auto line = [&](int64_t c) {
            const Lanes value = load(static_cast<const double *>(each[j + c].data) + row + i);
            return each[j + c].bits ? known(each[j + c], row + i, value) : value;
        };
        for (; i + LANES <= count; i += LANES)
            turn_square<Lanes>(line, out + i * columns + j, columns, [](Lanes value, int64_t) { return value; });
        for (int64_t c = j; c < j + LANES; ++c) {
            for (int64_t l = i; l < count; ++l)
                out[l * columns + c] = static_cast<const double *>(each[c].data)[row + l];
            if (each[c].bits) mark_missing(each[c], row + i, count - i, out + i * columns + c, columns);
        }
        marked = j + LANES;
    }
#else
    const int64_t marked = 0;
#endif
    for (; j < columns; ++j) {
        const Column &c = each[j];
        with_type(c.type, c.data, [&](auto *data) {
            const auto *from = data + row * c.stride;
            for (int64_t i = 0; i < count; ++i) out[i * columns + j] = static_cast<double>(from[i * c.stride]);
        });
    }
    for (j = marked; j < columns; ++j)
        if (each[j].bits) mark_missing(each[j], row, count, out + j, columns);
}

// Copies rows row..row+count-1, columns column.., row by row.
void gather(const Matrix &x, int64_t row, int64_t count, int64_t column, int64_t columns, double *out) {
    if (x.each) return gather_columns(x.each + column, row, count, columns, out);
    with_type(x.type, x.data, [&](auto *data) {
        const auto *base = data + row * x.row_stride + column * x.column_stride;
        if (x.column_stride == 1) {
            for (int64_t i = 0; i < count; ++i) {
                const auto *RESTRICT from = base + i * x.row_stride;
                double *RESTRICT to = out + i * columns;
                for (int64_t j = 0; j < columns; ++j) to[j] = static_cast<double>(from[j]);
            }
            return;
        }
        Done done = {0, 0};
        if (x.row_stride == 1) done = turn_squares(base, x.column_stride, columns, count, out, columns, unchanged);
        for (int64_t j = 0; j < columns; ++j) {
            const auto *from = base + j * x.column_stride;
            for (int64_t i = j < done.lines ? done.length : 0; i < count; ++i)
                out[i * columns + j] = static_cast<double>(from[i * x.row_stride]);
        }
    });
}

// Transposes a tile to columns x TILE: its rows are adjacent, so that the loop over them vectorises. Rows beyond
// `count` are zero. `each` may change vectors of column j on the way; returns the number of columns that it was applied
// to.
template <typename Each> int64_t transpose(const Matrix &x, int64_t row, int64_t count, double *out, Each each) {
    const auto column = [&](const auto *data, int64_t stride, double *RESTRICT to) {
        const auto *from = data + row * stride;
        for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(from[i * stride]);
        for (int64_t i = count; i < TILE; ++i) to[i] = 0;
    };
    int64_t seen = 0;
    if (x.each) {
        for (int64_t j = 0; j < x.columns; ++j) {
            const Column &c = x.each[j];
            with_type(c.type, c.data, [&](auto *data) { column(data, c.stride, out + j * TILE); });
            if (!c.bits) continue;
#ifdef SUFFICE_SHUFFLES
            if (count == TILE) {
                for (int64_t i = 0; i < TILE; i += LANES)
                    store(out + j * TILE + i, known(c, row + i, load(out + j * TILE + i)));
                continue;
            }
#endif
            mark_missing(c, row, count, out + j * TILE, 1);
        }
        return seen;
    }
    with_type(x.type, x.data, [&](auto *data) {
        if (x.column_stride == 1 && count == TILE)
            seen = turn_squares(data + row * x.row_stride, x.row_stride, TILE, x.columns, out, TILE, each).length;
        for (int64_t j = seen; j < x.columns; ++j) column(data + j * x.column_stride, x.row_stride, out + j * TILE);
    });
    return seen;
}

// Prefetches rows that will be read soon, one cache line at a time while other rows are processed: their addresses are
// not sequential, so the hardware does not predict them.
class Ahead {
  public:
    Ahead(const Matrix &x, int64_t row, int64_t rows, int64_t columns) {
        rows = row + rows < x.rows ? rows : x.rows - row;
        if (rows <= 0 || x.each) return;
        const int64_t bytes = TYPE_BYTES[static_cast<int>(x.type)];
        at_ = static_cast<const char *>(x.data) + row * x.row_stride * bytes;
        if (x.column_stride == 1 && x.row_stride >= columns) span(rows, x.row_stride * bytes, columns * bytes);
        else if (x.row_stride == 1 && x.column_stride >= rows) span(columns, x.column_stride * bytes, rows * bytes);
    }

    // Cache lines that this many bytes may touch; zero if there is nothing to prefetch.
    int64_t lines_of(int64_t bytes) const { return spans_ ? 1 + bytes / 64 : 0; }

    // Distributes the cache lines evenly over this many calls of step().
    void share(int64_t calls) { share_ = calls > 0 ? (lines_of(bytes_) * spans_ + calls - 1) / calls : 0; }
    void step() { steps(share_); }

    void steps(int64_t count) {
        for (; count > 0 && spans_; --count) {
#if defined(__GNUC__)
            __builtin_prefetch(at_ + line_, 0, 2);
#endif
            line_ += 64;
            if (line_ < bytes_) continue;
            line_ = 0;
            at_ += stride_;
            --spans_;
        }
    }

  private:
    void span(int64_t spans, int64_t stride, int64_t bytes) {
        if (stride - bytes < 64) {  // almost no gap between them: one long span
            bytes = spans * stride;
            spans = 1;
        }
        spans_ = spans;
        stride_ = stride;
        bytes_ = bytes;
    }

    const char *at_ = nullptr;
    int64_t spans_ = 0, stride_ = 0, bytes_ = 0, line_ = 0, share_ = 0;
};

// One row: in place if its numbers are adjacent doubles, else gathered into `buffer`.
inline const double *row_of(const Matrix &x, int64_t row, double *buffer) {
    if (!x.each && x.type == Type::f64 && x.column_stride == 1)
        return static_cast<const double *>(x.data) + row * x.row_stride;
    gather(x, row, 1, 0, x.columns, buffer);
    return buffer;
}

// Calls use(values, i) for rows first..last-1, columns column..: in place if the numbers of a row are adjacent doubles
// or floats, else gathered into `buffer`, TILE rows at a time.
template <typename Use>
inline void each_row(const Matrix &x, int64_t first, int64_t last, int64_t column, int64_t columns, double *buffer,
                     Use use) {
    const auto in_place = [&](const auto *data) {
        const auto *values = data + first * x.row_stride + column;
        for (int64_t i = first; i < last; ++i, values += x.row_stride) use(values, i);
    };
    const bool contiguous = !x.each && x.column_stride == 1;
    if (contiguous && x.type == Type::f64) return in_place(static_cast<const double *>(x.data));
    if (contiguous && x.type == Type::f32) return in_place(static_cast<const float *>(x.data));
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        gather(x, start, count, column, columns, buffer);
        for (int64_t i = 0; i < count; ++i) use(static_cast<const double *>(buffer + i * columns), start + i);
    }
}

// Calls visit(values, code, weight) for each row and each class in which the row has a positive weight.
template <typename Visit>
inline void each_member(const Matrix &x, const Membership &m, int64_t first, int64_t last, int64_t column,
                        int64_t columns, double *buffer, Visit visit) {
    each_row(x, first, last, column, columns, buffer, [&](const auto *values, int64_t i) {
        const double weight = m.weights ? m.weights[i] : 1.0;
        if (!(weight > 0)) return;
        if (m.codes) {
            const int64_t code = m.codes[i];
            if (code >= 0 && code < m.classes) visit(values, code, weight);
        } else {
            const double *soft = m.soft + i * m.classes;
            for (int64_t k = 0; k < m.classes; ++k)
                if (weight * soft[k] > 0) visit(values, k, weight * soft[k]);
        }
    });
}

// Included by instruction_set.cpp, within its namespace: how rows are read.

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

// Rows row..row+count-1, columns column.., row by row.
void gather(const Matrix &x, int64_t row, int64_t count, int64_t column, int64_t columns, double *out) {
    if (x.each) {
        for (int64_t j = 0; j < columns; ++j) {
            const Column &c = x.each[column + j];
            with_type(c.type, c.data, [&](auto *data) {
                const auto *from = data + row * c.stride;
                for (int64_t i = 0; i < count; ++i) out[i * columns + j] = static_cast<double>(from[i * c.stride]);
            });
        }
        return;
    }
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
        for (int64_t j = 0; j < columns; ++j) {
            const auto *from = base + j * x.column_stride;
            for (int64_t i = 0; i < count; ++i) out[i * columns + j] = static_cast<double>(from[i * x.row_stride]);
        }
    });
}

// Columns x TILE: the rows of a tile side by side, so that the loop over them is the vector. Rows that are not
// there are zero.
void transpose(const Matrix &x, int64_t row, int64_t count, double *out) {
    const auto column = [&](const auto *data, int64_t stride, double *RESTRICT to) {
        const auto *from = data + row * stride;
        for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(from[i * stride]);
        for (int64_t i = count; i < TILE; ++i) to[i] = 0;
    };
    if (x.each) {
        for (int64_t j = 0; j < x.columns; ++j) {
            const Column &c = x.each[j];
            with_type(c.type, c.data, [&](auto *data) { column(data, c.stride, out + j * TILE); });
        }
        return;
    }
    with_type(x.type, x.data, [&](auto *data) {
        for (int64_t j = 0; j < x.columns; ++j) column(data + j * x.column_stride, x.row_stride, out + j * TILE);
    });
}

// Rows row..row+count-1, columns column..: in place where they lie as doubles side by side, else
// gathered into `buffer`. Returns the first row and sets the step to the next.
inline const double *rows_of(const Matrix &x, int64_t row, int64_t count, int64_t column, int64_t columns,
                             double *buffer, int64_t &step) {
    if (!x.each && x.type == Type::f64 && x.column_stride == 1) {
        step = x.row_stride;
        return static_cast<const double *>(x.data) + row * x.row_stride + column;
    }
    step = columns;
    gather(x, row, count, column, columns, buffer);
    return buffer;
}

// Calls visit(values, code, weight) for each row and each class the row has a positive weight in.
template <typename Visit>
inline void each_member(const Matrix &x, const Membership &m, int64_t first, int64_t last, int64_t column,
                        int64_t columns, double *buffer, Visit visit) {
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        int64_t step;
        const double *values = rows_of(x, start, count, column, columns, buffer, step);
        for (int64_t i = 0; i < count; ++i, values += step) {
            const double weight = m.weights ? m.weights[start + i] : 1.0;
            if (!(weight > 0)) continue;
            if (m.codes) {
                const int64_t code = m.codes[start + i];
                if (code >= 0 && code < m.classes) visit(values, code, weight);
            } else {
                const double *soft = m.soft + (start + i) * m.classes;
                for (int64_t k = 0; k < m.classes; ++k)
                    if (weight * soft[k] > 0) visit(values, k, weight * soft[k]);
            }
        }
    }
}

// The loops over memory. Compiled once per instruction set, each time into its own namespace; nothing
// here may instantiate a template of the standard library, or the linker could hand code made for a
// wide instruction set to a narrow processor.
#include <math.h>

#include "compensated.hpp"
#include "kernels.hpp"

#define SUFFICE_JOIN(a, b) a##b
#define SUFFICE_NAME(a, b) SUFFICE_JOIN(a, b)
#define SUFFICE_TEXT(a) #a
#define SUFFICE_STRING(a) SUFFICE_TEXT(a)

#if defined(_MSC_VER)
#define RESTRICT __restrict
#else
#define RESTRICT __restrict__
#endif

namespace suffice {
namespace SUFFICE_SET {
namespace {

constexpr double SMALLEST = 4.9406564584124654e-324;

// ---------------------------------------------------------------------------- reading rows

template <typename T>
void gather(const Matrix &x, int64_t row, int64_t count, int64_t column, int64_t columns, double *out) {
    const T *base = static_cast<const T *>(x.data) + row * x.row_stride + column * x.column_stride;
    if (x.column_stride == 1) {
        for (int64_t i = 0; i < count; ++i) {
            const T *RESTRICT from = base + i * x.row_stride;
            double *RESTRICT to = out + i * columns;
            for (int64_t j = 0; j < columns; ++j) to[j] = static_cast<double>(from[j]);
        }
        return;
    }
    for (int64_t j = 0; j < columns; ++j) {
        const T *from = base + j * x.column_stride;
        for (int64_t i = 0; i < count; ++i) out[i * columns + j] = static_cast<double>(from[i * x.row_stride]);
    }
}

// Rows row..row+count-1, columns column..: in place where they lie as doubles side by side, else
// gathered into `buffer`. Returns the first row and sets the step to the next.
inline const double *rows_of(const Matrix &x, int64_t row, int64_t count, int64_t column, int64_t columns,
                             double *buffer, int64_t &step) {
    if (!x.single && x.column_stride == 1) {
        step = x.row_stride;
        return static_cast<const double *>(x.data) + row * x.row_stride + column;
    }
    step = columns;
    if (x.single) gather<float>(x, row, count, column, columns, buffer);
    else gather<double>(x, row, count, column, columns, buffer);
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

// ---------------------------------------------------------------------------- class sums

void sums(const Matrix &x, const Membership &m, int64_t first, int64_t last, double *buffer, double *total) {
    const int64_t d = x.columns;
    each_member(x, m, first, last, 0, d, buffer, [=](const double *RESTRICT value, int64_t k, double w) {
        double *RESTRICT t = total + k * d;
        for (int64_t j = 0; j < d; ++j) t[j] += w * value[j];
    });
}

void shifted_sums(const Matrix &x, const Membership &m, const double *shift, double *buffer, double *total) {
    const int64_t d = x.columns;
    each_member(x, m, 0, x.rows, 0, d, buffer, [=](const double *RESTRICT value, int64_t k, double w) {
        const double *RESTRICT c = shift + k * d;
        double *RESTRICT t = total + k * d;
        for (int64_t j = 0; j < d; ++j) t[j] += w * (value[j] - c[j]);
    });
}

void accumulate(int64_t count, const double *RESTRICT part, double *RESTRICT total, double *RESTRICT total_low) {
    for (int64_t i = 0; i < count; ++i) add(total[i], total_low[i], part[i]);
}

void outer(int64_t columns, double w, double w_low, const double *RESTRICT z, const double *RESTRICT z_low,
           double *total, double *total_low) {
    for (int64_t i = 0; i < columns; ++i) {
        double *RESTRICT high = total + i * columns;
        double *RESTRICT low = total_low + i * columns;
        double factor, factor_low;
        two_product(w, z[i], factor, factor_low);
        factor_low += w * z_low[i] + w_low * z[i];
        for (int64_t j = 0; j <= i; ++j) {
            double product, lost, sum, error;
            two_product(factor, z[j], product, lost);
            lost += factor * z_low[j] + factor_low * z[j];
            two_sum(high[j], product, sum, error);
            high[j] = sum;
            low[j] += error + lost;
        }
    }
}

// x - mean - mean_low in two doubles.
inline void deviation(double x, double mean, double mean_low, double &z, double &z_low) {
    double rough, error;
    two_sum(x, -mean, rough, error);
    two_sum(rough, error - mean_low, z, z_low);
}

inline void exact_deviations(int64_t d, const double *RESTRICT value, const double *RESTRICT mean,
                             const double *RESTRICT mean_low, double *RESTRICT z, double *RESTRICT z_low) {
    for (int64_t j = 0; j < d; ++j) deviation(value[j], mean[j], mean_low[j], z[j], z_low[j]);
}

void exact_scatter(const Matrix &x, const Membership &m, const double *mean, const double *mean_low, bool pooled,
                   double *buffer, double *total, double *total_low) {
    const int64_t d = x.columns;
    double *const z = buffer + TILE * d, *const z_low = z + d;
    each_member(x, m, 0, x.rows, 0, d, buffer, [=](const double *value, int64_t k, double w) {
        const int64_t at = pooled ? 0 : k * d * d;
        exact_deviations(d, value, mean + k * d, mean_low + k * d, z, z_low);
        outer(d, w, 0.0, z, z_low, total + at, total_low + at);
    });
}

// One row of `exact_moments`. Not inside the lambda below, where the compiler forgets what does not overlap.
template <bool missing>
void exact_row(int64_t d, double w, const double *RESTRICT value, const double *RESTRICT mean,
               const double *RESTRICT mean_low, double *RESTRICT sum, double *RESTRICT sum_low,
               double *RESTRICT square, double *RESTRICT square_low) {
    for (int64_t j = 0; j < d; ++j) {
        const bool here = !missing || value[j] == value[j];
        double z, z_low, wz, wz_low, product, lost, total, error;
        deviation(here ? value[j] : mean[j], mean[j], here ? mean_low[j] : 0.0, z, z_low);
        two_product(w, z, wz, wz_low);
        wz_low += w * z_low;
        two_product(wz, z, product, lost);
        lost += wz * z_low + wz_low * z;
        two_sum(sum[j], wz, total, error);
        sum[j] = total;
        sum_low[j] += error + wz_low;
        two_sum(square[j], product, total, error);
        square[j] = total;
        square_low[j] += error + lost;
    }
}

void exact_moments(const Matrix &x, const Membership &m, bool missing, const double *mean, const double *mean_low,
                   double *buffer, double *sum, double *sum_low, double *square, double *square_low) {
    const int64_t d = x.columns;
    const auto row = missing ? exact_row<true> : exact_row<false>;
    each_member(x, m, 0, x.rows, 0, d, buffer, [=](const double *value, int64_t k, double w) {
        const int64_t at = k * d;
        row(d, w, value, mean + at, mean_low + at, sum + at, sum_low + at, square + at, square_low + at);
    });
}

// Plain sums of up to 32 squares are folded into the compensated ones.
void fold_squares(int64_t d, double *chunk, double *squares, double *low) {
    accumulate(d, chunk, squares, low);
    for (int64_t j = 0; j < d; ++j) chunk[j] = 0;
}

void centre(const Matrix &x, const Membership &m, const double *mean, const double *mean_low, int64_t *next,
            double *buffer, double *chunk, int64_t *chunk_rows, double *squares, double *squares_low, double *out) {
    const int64_t d = x.columns;
    each_member(x, m, 0, x.rows, 0, d, buffer, [=](const double *RESTRICT value, int64_t k, double w) {
        const double *RESTRICT c = mean + k * d;
        const double *RESTRICT low = mean_low + k * d;
        double *RESTRICT z = out + next[k]++ * d;
        double *RESTRICT sum = chunk + k * d;
        const double root = w == 1.0 ? 1.0 : sqrt(w);
        for (int64_t j = 0; j < d; ++j) {
            const double t = (value[j] - c[j]) - low[j];
            z[j] = root * t;
            sum[j] += w * t * t;
        }
        if (++chunk_rows[k] == 32) {
            fold_squares(d, sum, squares + k * d, squares_low + k * d);
            chunk_rows[k] = 0;
        }
    });
    for (int64_t k = 0; k < m.classes; ++k)
        if (chunk_rows[k]) fold_squares(d, chunk + k * d, squares + k * d, squares_low + k * d);
}

// ---------------------------------------------------------------------------- class moments

// Adds a group of weight n, centred sum of squares `within` and a mean that lies `delta` from the
// running one, to a group of weight `past`. A square that underflows leaves the smallest number
// there is, so that the caller can tell it from a constant column.
inline void join(double past, double n, double delta, double within, double &mean, double &mean_low,
                 double &m2, double &m2_low) {
    const double share = n / (past + n);
    double added = within + past * share * delta * delta;
    if (added == 0 && delta != 0 && past > 0) added = SMALLEST;
    add(m2, m2_low, added);
    add(mean, mean_low, delta * share);
}

inline void fold_cell(double past, double n, double sum, double square, double &mean, double &mean_low,
                      double &m2, double &m2_low) {
    const double offset = sum / n;
    double within = square - sum * offset;
    if (within < 0) within = 0;
    join(past, n, offset - mean_low, within, mean, mean_low, m2, m2_low);
}

void fold_dense(Moments &o, int64_t k) {
    const double n = o.chunk_weight[k], past = o.weight[k];
    const int64_t d = o.columns, at = k * d;
    if (n > 0)
        for (int64_t j = at; j < at + d; ++j) {
            fold_cell(past, n, o.sum[j], o.square[j], o.mean[j], o.mean_low[j], o.m2[j], o.m2_low[j]);
            o.sum[j] = o.square[j] = 0;
        }
    o.weight[k] = past + n;
    o.chunk_weight[k] = 0;
    o.chunk_rows[k] = 0;
}

void fold_missing(Moments &o, int64_t k) {
    const int64_t d = o.columns, at = k * d;
    for (int64_t j = at; j < at + d; ++j) {
        const double n = o.chunk_weight[j];
        if (!(n > 0)) continue;
        fold_cell(o.weight[j], n, o.sum[j], o.square[j], o.mean[j], o.mean_low[j], o.m2[j], o.m2_low[j]);
        o.weight[j] += n;
        o.chunk_weight[j] = o.sum[j] = o.square[j] = 0;
    }
    o.chunk_rows[k] = 0;
}

// Chunks of a class have 1, 1, 2, 4, 8, 16, 32, 32, ... rows: never more than came before, so that
// the running mean is a good centre, and never so many that plain summation loses digits.
inline bool chunk_is_full(Moments &o, int64_t k) {
    const int64_t seen = ++o.rows[k], rows = ++o.chunk_rows[k];
    return rows >= 32 || 2 * rows >= seen;
}

void moments(const Matrix &x, const Membership &m, int64_t first, int64_t last, bool missing, double *buffer,
             Moments &o) {
    const int64_t d = o.columns;
    if (!missing) {
        each_member(x, m, first, last, o.first, d, buffer, [&o, d](const double *RESTRICT value, int64_t k, double w) {
            double *RESTRICT mean = o.mean + k * d;
            if (o.rows[k] == 0)
                for (int64_t j = 0; j < d; ++j) mean[j] = value[j];
            double *RESTRICT sum = o.sum + k * d;
            double *RESTRICT square = o.square + k * d;
            if (w == 1.0) {
                for (int64_t j = 0; j < d; ++j) {
                    const double t = value[j] - mean[j];
                    sum[j] += t;
                    square[j] += t * t;
                }
            } else {
                for (int64_t j = 0; j < d; ++j) {
                    const double t = value[j] - mean[j], wt = w * t;
                    sum[j] += wt;
                    square[j] += wt * t;
                }
            }
            o.chunk_weight[k] += w;
            if (chunk_is_full(o, k)) fold_dense(o, k);
        });
        return;
    }
    each_member(x, m, first, last, o.first, d, buffer, [&o, d](const double *RESTRICT value, int64_t k, double w) {
        const int64_t at = k * d;
        for (int64_t j = 0; j < d; ++j) {
            const double v = value[j];
            if (v != v) continue;
            const int64_t c = at + j;
            if (o.weight[c] == 0 && o.chunk_weight[c] == 0) o.mean[c] = v;
            const double t = v - o.mean[c], wt = w * t;
            o.sum[c] += wt;
            o.square[c] += wt * t;
            o.chunk_weight[c] += w;
        }
        if (chunk_is_full(o, k)) fold_missing(o, k);
    });
}

void finish(bool missing, Moments &o) {
    for (int64_t k = 0; k < o.classes; ++k) {
        if (o.chunk_rows[k] == 0) continue;
        if (missing) fold_missing(o, k);
        else fold_dense(o, k);
    }
}

void merge(bool missing, const Moments &part, Moments &whole) {
    const int64_t d = whole.columns;
    for (int64_t k = 0; k < whole.classes; ++k) {
        if (part.rows[k] == 0) continue;
        for (int64_t j = k * d; j < (k + 1) * d; ++j) {
            const double n = part.weight[missing ? j : k], past = whole.weight[missing ? j : k];
            if (!(n > 0)) continue;
            if (past == 0) {
                whole.mean[j] = part.mean[j];
                whole.mean_low[j] = part.mean_low[j];
                whole.m2[j] = part.m2[j];
                whole.m2_low[j] = part.m2_low[j];
            } else {
                double difference, error;
                two_sum(part.mean[j], -whole.mean[j], difference, error);
                const double delta = difference + (error + (part.mean_low[j] - whole.mean_low[j]));
                add(whole.m2[j], whole.m2_low[j], part.m2_low[j]);
                join(past, n, delta, part.m2[j], whole.mean[j], whole.mean_low[j], whole.m2[j],
                     whole.m2_low[j]);
            }
            if (missing) whole.weight[j] += n;
        }
        if (!missing) whole.weight[k] += part.weight[k];
    }
}

// ---------------------------------------------------------------------------- log-likelihoods

// Columns x TILE: the rows of a tile side by side, so that the loop over them is the vector.
template <typename T>
void transpose(const Matrix &x, int64_t row, int64_t count, double *out) {
    const T *base = static_cast<const T *>(x.data) + row * x.row_stride;
    for (int64_t j = 0; j < x.columns; ++j) {
        double *RESTRICT to = out + j * TILE;
        const T *from = base + j * x.column_stride;
        for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(from[i * x.row_stride]);
        for (int64_t i = count; i < TILE; ++i) to[i] = 0;
    }
}

void diagonal_log_likelihood(const Matrix &x, const Diagonal &p, bool missing, int64_t first, int64_t last,
                             double *buffer, double *out) {
    const int64_t d = x.columns;
    double *const tile = buffer;
    double *RESTRICT distance = buffer + d * TILE;
    double *RESTRICT norm = distance + TILE;
    for (int64_t start = first; start < last; start += TILE) {
        const int64_t count = last - start < TILE ? last - start : TILE;
        if (x.single) transpose<float>(x, start, count, tile);
        else transpose<double>(x, start, count, tile);
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

#include "left_out.hpp"

}  // namespace
}  // namespace SUFFICE_SET

extern const Kernels SUFFICE_NAME(kernels_, SUFFICE_SET);
const Kernels SUFFICE_NAME(kernels_, SUFFICE_SET) = {
    SUFFICE_STRING(SUFFICE_SET), SUFFICE_SET::sums,         SUFFICE_SET::moments,
    SUFFICE_SET::finish,         SUFFICE_SET::merge,        SUFFICE_SET::shifted_sums,
    SUFFICE_SET::centre,         SUFFICE_SET::outer,        SUFFICE_SET::exact_scatter,
    SUFFICE_SET::exact_moments,  SUFFICE_SET::accumulate,   SUFFICE_SET::diagonal_log_likelihood,
    SUFFICE_SET::left_out,
};

}  // namespace suffice

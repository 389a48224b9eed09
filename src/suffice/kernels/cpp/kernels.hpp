// The kernels' shared vocabulary: views of the caller's arrays, and the table of functions that is
// compiled once for each instruction set.
//
// Each subject has a file of loops over memory (`loops/`, compiled by `instruction_set.cpp` for each set), and
// a file that splits rows into fixed blocks, merges their results in order (so the answer does not depend on the
// number of threads) and binds that to Python.
#pragma once

#include <cstdint>

namespace suffice {

enum class Type : uint8_t { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8 };  // truth values are u8

// A column that lies in an array of its own; strides are counted in elements.
struct Column {
    const void *data;
    int64_t stride;
    Type type;
};

// A view of rows of numbers, with any strides (counted in elements); or, where `each` is set, of columns that lie
// in arrays of their own.
struct Matrix {
    const void *data;
    int64_t rows, columns;
    int64_t row_stride, column_stride;
    Type type;
    const Column *each;
};

// Who belongs to which class. Either hard codes (a code outside 0..classes-1 means "no class") or a
// row of class weights for each row; in both cases times an optional weight per row.
struct Membership {
    const int64_t *codes;    // rows, or null
    const double *soft;      // rows x classes, or null
    const double *weights;   // rows, or null: weight one
    int64_t classes;
};

constexpr int64_t TILE = 32;  // rows that are read together when they must be gathered

struct SumKernels {
    // Adds rows first..last-1 of `x` to the class totals (classes x columns).
    void (*sums)(const Matrix &x, const Membership &m, int64_t first, int64_t last, double *buffer,
                 double *total);
};

// Running moments of one block of rows, for columns first..first+columns-1. All arrays are
// classes x columns, but for `rows`, `chunk_rows` (classes) and, where no value is missing,
// `weight` and `chunk_weight` (classes).
//
// The mean is the unevaluated sum mean + mean_low, the centred sum of squares is m2 + m2_low.
// `sum` and `square` belong to the chunk of rows that was not folded in yet; they are centred on
// the running mean, so their magnitude is the spread of the data and never its offset.
struct Moments {
    int64_t classes, first, columns;
    double *weight, *mean, *mean_low, *m2, *m2_low;
    double *chunk_weight, *sum, *square;
    int64_t *rows, *chunk_rows;
};

struct MomentKernels {
    // Adds rows first..last-1 to `out`; `buffer` holds TILE rows. NaN is a missing value if `missing`.
    void (*moments)(const Matrix &x, const Membership &m, int64_t first, int64_t last, bool missing,
                    double *buffer, Moments &out);
    // Folds what is left in the chunks of `out` into its moments.
    void (*finish)(bool missing, Moments &out);
    // Merges `part` into `whole` (Chan, Golub and LeVeque, with means kept in two doubles).
    void (*merge)(bool missing, const Moments &part, Moments &whole);
    // sum + sum_low += w (x - mean), square + square_low += w (x - mean)^2 (classes x columns), in two
    // doubles throughout.
    void (*exact)(const Matrix &x, const Membership &m, bool missing, const double *mean, const double *mean_low,
                  double *buffer, double *sum, double *sum_low, double *square, double *square_low);
};

struct ScatterKernels {
    // One row as doubles.
    void (*row)(const Matrix &x, int64_t row, double *out);
    // Sum over rows of a class of w (x - shift), for a block of rows; classes x columns.
    void (*shifted_sums)(const Matrix &x, const Membership &m, const double *shift, double *buffer,
                         double *total);
    // Writes sqrt(w) (x - mean - mean_low) of each row of class k to the next free row of group k, and
    // adds the squares to squares + squares_low (classes x columns); `chunk` (classes x columns, zero)
    // and `chunk_rows` (classes, zero) are scratch.
    void (*centre)(const Matrix &x, const Membership &m, const double *mean, const double *mean_low,
                   int64_t *next, double *buffer, double *chunk, int64_t *chunk_rows, double *squares,
                   double *squares_low, double *out);
    // total + total_low += the lower triangle of w z z' (columns x columns), where w and z are in two
    // doubles, too.
    void (*outer)(int64_t columns, double w, double w_low, const double *z, const double *z_low, double *total,
                  double *total_low);
    // total + total_low += the lower triangles of w (x - mean)(x - mean)' of each class, or of all together;
    // the deviations are in two doubles. `buffer` holds (TILE + 2) x columns.
    void (*exact)(const Matrix &x, const Membership &m, const double *mean, const double *mean_low, bool pooled,
                  double *buffer, double *total, double *total_low);
    // total + total_low += part, entry by entry.
    void (*accumulate)(int64_t count, const double *part, double *total, double *total_low);
};

// A class-wise Gaussian with independent columns; classes x columns each.
struct Diagonal {
    const double *mean, *mean_low, *scale, *log_norm;
    int64_t classes;
};

struct GaussianKernels {
    // out[row, class] = sum of log normal densities; `buffer` holds columns x TILE + 2 TILE.
    void (*diagonal)(const Matrix &x, const Diagonal &p, bool missing, int64_t first, int64_t last, double *buffer,
                     double *out);
};

// The same with what its variances were made of: cells of weight `weight` and centred sum of squares `m2`,
// over the weight less `lost`. `inverse` and `log_norm` are of the full model's variances, `stretch` n/(n - 1) and
// `per` 1/(n - 1 - lost) of what is left without a row of weight one.
struct LeftOut {
    const double *weight, *mean, *mean_low, *m2, *variance, *inverse, *log_norm, *stretch, *per, *inverse_m2;
    int64_t classes;
    double lost;
};

struct LeftOutKernels {
    // out[row, class] = log density of the row under the class without it: of its own class, and of the `others`
    // if they are asked for, since a variance `added` depends on the row. `least` is the smallest share of a variance
    // that is left.
    void (*left_out)(const Matrix &x, const LeftOut &p, const int64_t *codes, const double *weights,
                     const double *added, bool others, int64_t first, int64_t last, double *buffer, double *out,
                     double *least);
};

// What the columns of a block of rows hold: the least and the largest number, whether one is missing and whether one is
// not whole; `columns` each.
struct Ranges {
    double *low, *high;
    uint8_t *missing, *parts;
};

// The places of each column's numbers: low..low+size-1, then one for all others and one for what is missing. Those of
// column j begin at start[j] among `cells`.
struct Places {
    const int64_t *low, *size, *start;
    int64_t cells;
};

constexpr int64_t COUNT_TILE = 64;  // rows whose places are found together

struct CountKernels {
    // Widens `out` by rows first..last-1.
    void (*ranges)(const Matrix &x, int64_t first, int64_t last, const Ranges &out);
    // Counts the rows of each class and place (classes x cells); `buffer` holds COUNT_TILE x columns.
    void (*count)(const Matrix &x, const Membership &m, const Places &p, int64_t first, int64_t last, int32_t *buffer,
                  uint32_t *total);
    // The same for rows of any weight: total + total_low += w.
    void (*weigh)(const Matrix &x, const Membership &m, const Places &p, int64_t first, int64_t last, int32_t *buffer,
                  double *total, double *total_low);
    // out[row, class] = sum over columns of the table's entry (cells x step) at the row's place.
    void (*table_sums)(const Matrix &x, const Places &p, const double *table, int64_t step, int64_t classes,
                       int64_t first, int64_t last, int32_t *buffer, double *out);
};

struct ArrowKernels {
    // out = numbers first..last-1 of a column in one piece, with NaN where the bit `bit + i` of number i is zero.
    void (*known_numbers)(const Column &c, const uint8_t *bits, int64_t bit, int64_t first, int64_t last, double *out);
};

struct Kernels {
    const char *name;
    SumKernels sums;
    MomentKernels moments;
    ScatterKernels scatter;
    GaussianKernels gaussian;
    LeftOutKernels left_out;
    CountKernels counts;
    ArrowKernels arrow;
};

const Kernels &kernels();  // the table for this processor

}  // namespace suffice

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

// What a cell counts for: its value (a sparse cell that is missing for nothing), one if it is above a threshold, or one
// if it is missing.
enum class CellCount : uint8_t { value, above, missing };

struct Counted {
    CellCount cell;
    double threshold;
};

// What a pass has met among the values, also those of rows that do not count; bits of one number.
enum Met : uint32_t { MET_NEGATIVE = 1, MET_MISSING = 2, MET_INFINITE = 4, MET_OUTSIDE = 8 };

struct SumKernels {
    // Adds rows first..last-1 of `x`, columns column.., to the class totals (classes x columns); `buffer` holds TILE
    // rows. Returns what was met, if `look`.
    uint32_t (*sums)(const Matrix &x, const Membership &m, const Counted &what, bool look, int64_t first, int64_t last,
                     int64_t column, int64_t columns, double *buffer, double *total);
};

// A sparse matrix by rows, or by columns: the cells of row (or column) i are bounds[i]..bounds[i+1]-1, each with its
// place in the row and its value. Places and bounds are int64 if `wide`, else int32. Bounds were checked, places not.
struct Sparse {
    const void *bounds, *places, *values;
    Type type;
    bool wide, by_column;
    int64_t rows, columns;
};

constexpr int64_t CELLS = 2048;  // that are read together

// Scores that are linear in the cells: offset_k + the sum of value times slope_jk over the stored cells.
struct CellScores {
    const double *offset;                      // classes
    const double *slope;                       // columns x classes, finite
    const double *zero;                        // columns x classes: what a missing cell takes away; or null: nothing
    const uint8_t *never_more, *never_zero;    // columns x classes: a value above zero, or a zero, is impossible; or null
    const int64_t *zeros;                      // classes: in how many columns a zero is; or null
    int64_t classes;
    bool missing;                              // whether NaN is a cell that is not there
};

struct SparseKernels {
    // Adds rows order[first..last-1] (rows themselves if null) to the totals of classes low..high-1 (classes x
    // columns); `buffer` holds CELLS. Returns what was met; a place that is none ends it.
    uint32_t (*add_rows)(const Sparse &x, const Membership &m, const Counted &what, const int64_t *order, int64_t first,
                         int64_t last, int64_t low, int64_t high, double *buffer, double *total);
    // The same for columns first..last-1 of a matrix by columns; `buffer` holds CELLS + classes.
    uint32_t (*add_columns)(const Sparse &x, const Membership &m, const Counted &what, int64_t first, int64_t last,
                            double *buffer, double *total);
    // Scores of rows first..last-1 (rows x classes). A row with an infinite value has none (NaN) above a threshold.
    uint32_t (*scores)(const Sparse &x, const CellScores &s, const Counted &what, int64_t first, int64_t last,
                       double *buffer, double *out);
    // Whether the places of each of the lines first..last-1 rise.
    bool (*rises)(const Sparse &x, int64_t first, int64_t last);
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

struct Kernels {
    const char *name;
    SumKernels sums;
    MomentKernels moments;
    ScatterKernels scatter;
    GaussianKernels gaussian;
    LeftOutKernels left_out;
    SparseKernels sparse;
};

const Kernels &kernels();  // the table for this processor

}  // namespace suffice

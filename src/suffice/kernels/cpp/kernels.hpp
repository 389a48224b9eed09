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
constexpr int64_t TYPE_BYTES[] = {8, 4, 8, 4, 2, 1, 8, 4, 2, 1};               // in that order

// A column that lies in an array of its own; strides are counted in elements. Where there are `bits`, number i is
// missing if the bit `bit + i` is zero, counted from the lowest of each byte. Kernels that do not look at them are
// never given any.
struct Column {
    const void *data;
    int64_t stride;
    Type type;
    const uint8_t *bits;
    int64_t bit;
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
    const int64_t *codes;   // rows, or null
    const double *soft;     // rows x classes, or null
    const double *weights;  // rows, or null: weight one
    int64_t classes;
};

constexpr int64_t TILE = 32;  // rows that are read together

// What a cell counts for: its value (a sparse cell that is missing for nothing), one if it is above a threshold, or one
// if it is missing.
enum class CellCount : uint8_t { value, above, missing };

struct CellRule {
    CellCount cell;
    double threshold;
};

// What a pass has met among the values, also those of rows that do not count; bits of one number.
enum ValueFlags : uint32_t { FLAG_NEGATIVE = 1, FLAG_MISSING = 2, FLAG_INFINITE = 4, FLAG_OUTSIDE = 8 };

struct SumKernels {
    // Adds rows first..last-1 of `x`, columns column.., to the class totals (classes x columns); `buffer` holds TILE
    // rows. Returns what was met, if `look`.
    uint32_t (*sums)(const Matrix &x, const Membership &m, const CellRule &rule, bool with_flags, int64_t first,
                     int64_t last, int64_t column, int64_t columns, double *buffer, double *total);
};

// A sparse matrix by rows, or by columns: the cells of row (or column) i are bounds[i]..bounds[i+1]-1, each with its
// place in the row and its value. Places and bounds are int64 if `wide`, else int32. Bounds were checked, places not.
struct Sparse {
    const void *bounds, *indices, *values;
    Type type;
    bool wide, by_column;
    int64_t rows, columns;
};

constexpr int64_t CELLS = 2048;  // that are read together

// Scores that are linear in the cells: offset_k + the sum of value times slope_jk over the stored cells.
struct CellScores {
    const double *offset;                    // classes
    const double *slope;                     // columns x classes, finite
    const double *zero;                      // columns x classes: what a missing cell takes away; or null: nothing
    const uint8_t *never_more, *never_zero;  // columns x classes: a value above zero, or a zero, is impossible; or null
    const int64_t *zeros;                    // classes: in how many columns a zero is; or null
    int64_t classes;
    bool missing;  // whether NaN is a cell that is not there
};

struct SparseKernels {
    // Adds rows order[first..last-1] (rows themselves if null) to the totals of classes low..high-1 (classes x
    // columns); `buffer` holds CELLS. Returns what was met; a place that is none ends it.
    uint32_t (*add_rows)(const Sparse &x, const Membership &m, const CellRule &rule, const int64_t *order,
                         int64_t first, int64_t last, int64_t low, int64_t high, double *buffer, double *total);
    // The same for columns first..last-1 of a matrix by columns; `buffer` holds CELLS + classes.
    uint32_t (*add_columns)(const Sparse &x, const Membership &m, const CellRule &rule, int64_t first, int64_t last,
                            double *buffer, double *total);
    // Scores of rows first..last-1 (rows x classes). A row with an infinite value has none (NaN) above a threshold.
    uint32_t (*scores)(const Sparse &x, const CellScores &s, const CellRule &rule, int64_t first, int64_t last,
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
    void (*moments)(const Matrix &x, const Membership &m, int64_t first, int64_t last, bool missing, double *buffer,
                    Moments &out);
    // The same for hard codes, where classes are few; false, and nothing done, if they are not.
    // `buffer` holds window_rows(classes, columns) rows, `order` a number for each of them, `starts` classes + 1.
    bool (*grouped)(const Matrix &x, const Membership &m, int64_t first, int64_t last, bool missing, double *buffer,
                    int32_t *order, int32_t *starts, Moments &out);
    int64_t (*window_rows)(int64_t classes, int64_t columns);
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
    void (*shifted_sums)(const Matrix &x, const Membership &m, const double *shift, double *buffer, double *total);
    // Writes sqrt(w) (x - mean - mean_low) of each row of class k to the next free row of group k, `width` apart, and
    // adds the squares to squares + squares_low (classes x columns); `chunk` (classes x columns, zero)
    // and `chunk_rows` (classes, zero) are scratch.
    void (*centre)(const Matrix &x, const Membership &m, const double *mean, const double *mean_low, int64_t *next,
                   double *buffer, double *chunk, int64_t *chunk_rows, double *squares, double *squares_low,
                   int64_t width, double *out);
    // out (width x width) = the lower triangle of the sum of z z' over rows z, where `width` is a multiple of eight;
    // above it there may be anything.
    void (*products)(const double *rows, int64_t count, int64_t width, double *out);
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

// What is made of a row's scores, which are log p(x, y): they themselves, p(y | x), its logarithm (rows x classes
// each), log p(x) (rows) or the class of the largest, the first of equal ones.
enum class PosteriorOutput : int { score, probability, logarithm, evidence, decision };

// An answer, and where it goes: `out`, `single` instead for rows in single precision, or `codes` for decisions.
// `offset` (classes, or null) is added to the scores.
//
// Kernels that finish their rows so have a `lost` that becomes the first row without an answer, because a score is no
// number or plus infinity, or all are minus infinity, if it was -1.
struct PosteriorRequest {
    PosteriorOutput output;
    const double *offset;
    double *out;
    float *single;
    int64_t *codes;
};

// A class-wise Gaussian with independent columns; classes x columns each, and the `total` of log_norm of each class.
// With an `origin` (columns) the means are distances from it, and have no low part.
struct Diagonal {
    const double *mean, *mean_low, *scale, *log_norm, *total, *origin;
    int64_t classes;
};

// A class-wise Gaussian with a covariance: means (classes x columns), the triangular map of each class that turns
// deviations into standard scores (packed, `size` numbers each), and the logarithm of the density at the mean.
struct Full {
    const double *mean, *mean_low, *packed, *norm;
    int64_t classes, size;
};

struct GaussianKernels {
    // Scores are sums of log normal densities; a NaN is left out if `missing`. `buffer` holds
    // (columns + classes + 5) x TILE.
    void (*diagonal)(const Matrix &x, const Diagonal &p, bool missing, int64_t first, int64_t last, double *buffer,
                     const PosteriorRequest &f, int64_t *invalid_row);
    // The same with covariances; `buffer` holds (2 columns + classes + 4) x TILE.
    void (*full)(const Matrix &x, const Full &p, int64_t first, int64_t last, double *buffer, const PosteriorRequest &f,
                 int64_t *invalid_row);
};

// Classes that are worked on together: strips of at most STRIP, as equal as can be, strip s from class strip_start(s)
// on.
constexpr int64_t STRIP = 6;
inline int64_t strips_of(int64_t classes) { return (classes + STRIP - 1) / STRIP; }
inline int64_t strip_start(int64_t s, int64_t classes) { return classes ? s * classes / strips_of(classes) : 0; }

// Scores offset + (x - origin) . coef of each class. Coefficients lie in strips: those of the first strip's classes of
// column 0, of column 1, ..., and then those of the next strip. A missing value takes its `zero` (as coef lies) from
// the offset, if there is any; without, the score is NaN.
struct LinearForm {
    const double *coef, *offset, *origin, *zero, *threshold;
    int64_t classes;
};

struct LinearKernels {
    // Returns what was met: missing values, and infinite ones where there is a threshold. `buffer` holds
    // (columns + classes + 3) x TILE.
    uint32_t (*linear)(const Matrix &x, const LinearForm &p, int64_t first, int64_t last, double *buffer,
                       const PosteriorRequest &f, int64_t *invalid_row);
};

// A diagonal Gaussian with what its variances were made of: cells of weight `weight` and centred sum of squares `m2`,
// over the weight less `lost`. `inverse` and `log_norm` are of the full model's variances, `stretch` n/(n - 1) and
// `per` 1/(n - 1 - lost) of what is left without a row of weight one.
struct HeldOutGaussian {
    const double *weight, *mean, *mean_low, *m2, *variance, *inverse, *log_norm, *stretch, *per, *inverse_m2;
    int64_t classes;
    double lost;
};

struct HeldOutKernels {
    // out[row, class] = log density of the row under the class without it: of its own class, and of the `others`
    // if they are asked for, since a variance `added` depends on the row. `least` is the smallest share of a variance
    // that is left.
    void (*log_likelihood)(const Matrix &x, const HeldOutGaussian &p, const int64_t *codes, const double *weights,
                           const double *added, bool others, int64_t first, int64_t last, double *buffer, double *out,
                           double *least);
};

struct PosteriorKernels {
    // What is asked of rows first..last-1 of scores (rows x classes). `tile` holds (classes + 3) x TILE.
    void (*posterior)(int64_t classes, int64_t first, int64_t last, const double *joint, const PosteriorRequest &f,
                      double *tile, int64_t *invalid_row);
    // Adds a number for each class to rows first..last-1.
    void (*add_to_rows)(int64_t classes, int64_t first, int64_t last, const double *offset, double *rows);
};

// What is known of groups of rows: their weight, mean and squares (or scatter matrices), each in two doubles.
struct Summary {
    const double *weight, *weight_low, *mean, *mean_low, *squares, *squares_low;
};

constexpr int STRANGE = 1, FLAT = 2;  // squares that over- or underflowed; a column that has next to none in any matrix

struct JoiningKernels {
    // Moments about `mean + mean_low` made exact by the sums of deviations and of their squares, cell by cell; where
    // squares are too large or too small for that, they stay.
    void (*refine)(int64_t count, const double *weight, const double *weight_low, const double *sums,
                   const double *sums_low, const double *squares, const double *squares_low, double *mean,
                   double *mean_low, double *m2, double *m2_low);
    // Moments of the rows of both, cell by cell.
    void (*moments)(int64_t count, const Summary &a, const Summary &b, double *weight, double *weight_low, double *mean,
                    double *mean_low, double *m2, double *m2_low);
    // Moments of all classes as one (columns each), and whether all squares are in the range of a double.
    bool (*pool)(int64_t classes, int64_t columns, const Summary &a, double *weight, double *mean, double *mean_low,
                 double *m2, double *scratch);
    // Matrices from their lower triangles, high + low.
    void (*complete)(int64_t matrices, int64_t columns, double *high, double *low);
    // Weight (classes) and mean of the rows of both; delta, the distance of their means; and cross, what multiplies
    // delta delta' in the scatter of both.
    void (*class_means)(int64_t classes, int64_t columns, const Summary &a, const Summary &b, double *weight,
                        double *weight_low, double *mean, double *mean_low, double *cross, double *cross_low,
                        double *delta, double *delta_low);
    // more + more_low += a + b, entry by entry.
    void (*entries)(int64_t count, const double *a, const double *a_low, const double *b, const double *b_low,
                    double *more, double *more_low);
    // Mean of all rows, how far each class mean lies from it (classes x columns), and what is strange in the squares.
    int (*grand_mean)(int64_t classes, int64_t columns, const Summary &a, int64_t matrices, double *mean,
                      double *mean_low, double *away, double *scratch);
};

// What the columns of a block of rows hold: the least and the largest number, whether one is missing and whether one is
// not whole; `columns` each.
struct Ranges {
    double *low, *high;
    uint8_t *missing, *parts;
};

// The places of each column's numbers: low..low+size-1, then one for all others and one for what is missing. Those of
// column j begin at start[j] among `cells`.
struct TableLayout {
    const int64_t *low, *size, *start;
    int64_t cells;
};

constexpr int64_t COUNT_TILE = 64;  // rows whose places are found together

struct CountKernels {
    // Widens `out` by rows first..last-1.
    void (*ranges)(const Matrix &x, int64_t first, int64_t last, const Ranges &out);
    // Counts the rows of each class and place (classes x cells); `buffer` holds COUNT_TILE x columns.
    void (*count)(const Matrix &x, const Membership &m, const TableLayout &p, int64_t first, int64_t last,
                  int32_t *buffer, uint32_t *total);
    // The same for rows of any weight: total + total_low += w.
    void (*weigh)(const Matrix &x, const Membership &m, const TableLayout &p, int64_t first, int64_t last,
                  int32_t *buffer, double *total, double *total_low);
    // out[row, class] = sum over columns of the table's entry (cells x step) at the row's place.
    void (*table_sums)(const Matrix &x, const TableLayout &p, const double *table, int64_t step, int64_t classes,
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
    HeldOutKernels held_out;
    LinearKernels linear;
    PosteriorKernels posterior;
    JoiningKernels joining;
    SparseKernels sparse;
    CountKernels counts;
    ArrowKernels arrow;
};

const Kernels &kernels();  // the table for this processor

}  // namespace suffice

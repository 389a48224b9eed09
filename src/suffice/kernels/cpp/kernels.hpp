// Types shared by the kernels: views of the caller's arrays, and the table of functions that is compiled once for each
// instruction set.
//
// Each subject has a file of loops over memory (`loops/`, compiled by `instruction_set.cpp` for each set), and a file
// that splits rows into fixed blocks, merges their results in order (so that the result does not depend on the number
// of threads) and binds them to Python.
#pragma once

#include <cstdint>

namespace suffice {

enum class Type : uint8_t { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8 };  // booleans are u8
constexpr int64_t TYPE_BYTES[] = {8, 4, 8, 4, 2, 1, 8, 4, 2, 1};               // in the order of Type

// A column stored in its own array; strides count elements. If `bits` is set, number i is missing where bit `bit + i`
// is zero, counted from the lowest bit of each byte. Kernels that do not read bits never get any.
struct Column {
    const void *data;
    int64_t stride;
    Type type;
    const uint8_t *bits;
    int64_t bit;
};

// A view of rows of numbers with any strides (counted in elements); or, if `each` is set, of columns stored in their
// own arrays.
struct Matrix {
    const void *data;
    int64_t rows, columns;
    int64_t row_stride, column_stride;
    Type type;
    const Column *each;
};

// Class membership: either hard codes (a code outside 0..classes-1 means "no class") or a row of class weights for each
// row; both are multiplied by an optional weight per row.
struct Membership {
    const int64_t *codes;   // rows, or null
    const double *soft;     // rows x classes, or null
    const double *weights;  // rows, or null for weight one
    int64_t classes;
};

constexpr int64_t TILE = 32;  // rows read together

// What a cell counts: its value (a missing sparse cell counts nothing), one if it is above a threshold, or one if it is
// missing.
enum class CellCount : uint8_t { value, above, missing };

struct CellRule {
    CellCount cell;
    double threshold;
};

// Flags about the values that a pass read, including those of rows that do not count; bits of one number. FLAG_OUTSIDE
// marks an index outside a sparse matrix.
enum ValueFlags : uint32_t {
    FLAG_NEGATIVE = 1,
    FLAG_MISSING = 2,
    FLAG_INFINITE = 4,
    FLAG_OUTSIDE = 8,
    FLAG_UNSORTED = 16
};

struct SumKernels {
    // Adds rows first..last-1 of `x`, columns column.., to the class totals (classes x columns); `buffer` holds TILE
    // rows. Returns flags about the values if `with_flags`.
    uint32_t (*sums)(const Matrix &x, const Membership &m, const CellRule &rule, bool with_flags, int64_t first,
                     int64_t last, int64_t column, int64_t columns, double *buffer, double *total);
};

// A sparse matrix by rows or by columns: the cells of row (or column) i are bounds[i]..bounds[i+1]-1, each with its
// index in the row and its value. Indices and bounds are int64 if `wide`, else int32. Bounds were checked, indices were
// not.
struct Sparse {
    const void *bounds, *indices, *values;
    Type type;
    bool wide, by_column;
    int64_t rows, columns;
};

constexpr int64_t CELLS = 2048;  // cells read together

// Scores that are linear in the cells: offset_k + the sum of value times slope_jk over the stored cells.
struct CellScores {
    const double *offset;                    // classes
    const double *slope;                     // columns x classes, finite
    const double *zero;                      // columns x classes: subtracted for a missing cell; or null
    const uint8_t *never_more, *never_zero;  // columns x classes: a value above zero, or a zero, is impossible; or null
    const int64_t *zeros;                    // classes: number of columns where a zero is impossible; or null
    int64_t classes;
    bool missing;  // whether NaN is a missing cell
};

struct SparseKernels {
    // Adds rows order[first..last-1] (rows first..last-1 if `order` is null) to the totals of classes low..high-1
    // (classes x columns); `buffer` holds CELLS. Returns flags about the values; stops at an index outside the matrix.
    uint32_t (*add_rows)(const Sparse &x, const Membership &m, const CellRule &rule, const int64_t *order,
                         int64_t first, int64_t last, int64_t low, int64_t high, double *buffer, double *total);
    // The same for columns first..last-1 of a matrix by columns; `buffer` holds CELLS + classes.
    uint32_t (*add_columns)(const Sparse &x, const Membership &m, const CellRule &rule, int64_t first, int64_t last,
                            double *buffer, double *total);
    // Scores of rows first..last-1 (rows x classes). With a threshold, a row with an infinite value scores NaN.
    uint32_t (*scores)(const Sparse &x, const CellScores &s, const CellRule &rule, int64_t first, int64_t last,
                       double *buffer, double *out);
    // Flags about the indices of the rows (or columns) first..last-1: FLAG_OUTSIDE, and FLAG_UNSORTED unless they
    // increase strictly in each row.
    uint32_t (*check)(const Sparse &x, int64_t first, int64_t last);
};

// Running moments of one block of rows, for columns first..first+columns-1. All arrays are classes x columns, except
// `rows` and `chunk_rows` (classes) and, if no value is missing, `weight` and `chunk_weight` (classes).
//
// The mean is the unevaluated sum mean + mean_low, the centred sum of squares is m2 + m2_low. `sum` and `square` belong
// to the chunk of rows that was not folded in yet; they are centred on the running mean, so their magnitude is the
// spread of the data and never its offset.
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
    // The same for hard codes with few classes; returns false and does nothing if there are too many classes. `buffer`
    // holds window_rows(classes, columns) rows, `order` a number for each of them, `starts` classes + 1.
    bool (*grouped)(const Matrix &x, const Membership &m, int64_t first, int64_t last, bool missing, double *buffer,
                    int32_t *order, int32_t *starts, Moments &out);
    int64_t (*window_rows)(int64_t classes, int64_t columns);
    // Folds the remaining chunks of `out` into its moments.
    void (*finish)(bool missing, Moments &out);
    // Merges `part` into `whole` (Chan, Golub and LeVeque, with means kept in two doubles).
    void (*merge)(bool missing, const Moments &part, Moments &whole);
    // sum + sum_low += w (x - mean), square + square_low += w (x - mean)^2 (classes x columns), in two doubles
    // throughout.
    void (*exact)(const Matrix &x, const Membership &m, bool missing, const double *mean, const double *mean_low,
                  double *buffer, double *sum, double *sum_low, double *square, double *square_low);
};

struct ScatterKernels {
    // One row as doubles.
    void (*row)(const Matrix &x, int64_t row, double *out);
    // Sum over rows of a class of w (x - shift), for a block of rows; classes x columns.
    void (*shifted_sums)(const Matrix &x, const Membership &m, const double *shift, double *buffer, double *total);
    // Writes sqrt(w) (x - mean - mean_low) for each row of class k to the next free row of group k, `width` apart, and
    // adds the squares to squares + squares_low (classes x columns); `chunk` (classes x columns, zero) and `chunk_rows`
    // (classes, zero) are scratch.
    void (*centre)(const Matrix &x, const Membership &m, const double *mean, const double *mean_low, int64_t *next,
                   double *buffer, double *chunk, int64_t *chunk_rows, double *squares, double *squares_low,
                   int64_t width, double *out);
    // out (width x width) = lower triangle of the sum of z z' over rows z, where `width` is a multiple of eight.
    // Entries above the diagonal are undefined.
    void (*products)(const double *rows, int64_t count, int64_t width, double *out);
    // total + total_low += lower triangle of w z z' (columns x columns), where w and z are in two doubles, too.
    void (*outer)(int64_t columns, double w, double w_low, const double *z, const double *z_low, double *total,
                  double *total_low);
    // total + total_low += lower triangles of w (x - mean)(x - mean)' for each class, or for all classes together; the
    // deviations are in two doubles. `buffer` holds (TILE + 2) x columns.
    void (*exact)(const Matrix &x, const Membership &m, const double *mean, const double *mean_low, bool pooled,
                  double *buffer, double *total, double *total_low);
    // total + total_low += part, entry by entry.
    void (*accumulate)(int64_t count, const double *part, double *total, double *total_low);
};

// Weight of a class, and its sums of products of two, three and four deviations (columns x columns each: z_i z_j, z_i^2
// z_j, z_i^2 z_j^2), all in two doubles; `shift` is the distance of its mean from another point.
struct FourthMoments {
    int64_t columns;
    double weight, weight_low;
    const double *shift, *shift_low, *scatter, *scatter_low, *cubic, *cubic_low, *quartic, *quartic_low;
};

struct FourthTotals {
    double *scatter, *scatter_low, *cubic, *cubic_low, *quartic, *quartic_low;
};

struct FourthMomentKernels {
    // out += sign times the products about the other point, in rows `first`..`last` - 1 of each matrix. `buffer` holds
    // 2 (last - first + 1) x columns.
    void (*add_moved)(const FourthMoments &m, int64_t first, int64_t last, double sign, double *buffer,
                      FourthTotals out);
};

// What to compute from a row's scores log p(x, y): the scores themselves, p(y | x), log p(y | x) (rows x classes each),
// log p(x) (rows) or the class with the largest score, the first among equals.
enum class PosteriorOutput : int { score, probability, logarithm, evidence, decision };

// An output and its destination: `out`, `single` for rows in single precision, or `codes` for decisions. `offset`
// (classes, or null) is added to the scores.
//
// Kernels that take a request also take an `invalid_row` that is -1 on entry and becomes the first row without a
// posterior, because a score is NaN or plus infinity, or all scores are minus infinity.
struct PosteriorRequest {
    PosteriorOutput output;
    const double *offset;
    double *out;
    float *single;
    int64_t *codes;
};

// A class-wise Gaussian with independent columns: arrays of classes x columns, and the `total` of log_norm over the
// columns of each class. With an `origin` (columns), means are distances from it and have no low part.
struct Diagonal {
    const double *mean, *mean_low, *scale, *log_norm, *total, *origin;
    int64_t classes;
};

// A class-wise Gaussian with full covariances: means (classes x columns), a triangular matrix for each class that turns
// deviations into standard scores (packed, `size` numbers each), and the log-density at the mean.
struct Full {
    const double *mean, *mean_low, *packed, *norm;
    int64_t classes, size;
};

struct GaussianKernels {
    // Scores are sums of log normal densities, without NaN cells if `missing`. `buffer` holds (columns + classes + 5) x
    // TILE.
    void (*diagonal)(const Matrix &x, const Diagonal &p, bool missing, int64_t first, int64_t last, double *buffer,
                     const PosteriorRequest &f, int64_t *invalid_row);
    // The same with covariances; `buffer` holds (2 columns + classes + 4) x TILE.
    void (*full)(const Matrix &x, const Full &p, int64_t first, int64_t last, double *buffer, const PosteriorRequest &f,
                 int64_t *invalid_row);
    // The same output for probabilities, evidence and decisions, with a score of minus infinity for classes that cannot
    // change it. Takes at most PRUNED_ROWS rows; `buffer` holds pruned_buffer(columns, classes) numbers.
    void (*pruned)(const Matrix &x, const Full &p, int64_t first, int64_t last, double *buffer,
                   const PosteriorRequest &f, int64_t *invalid_row);
};

constexpr int64_t PRUNED_ROWS = 512;  // enough for full vectors of rows that are near the same class
inline int64_t pruned_buffer(int64_t columns, int64_t classes) {
    return (columns + classes + 3) * PRUNED_ROWS + columns * TILE;
}

// Classes are processed in strips of at most STRIP classes, of nearly equal size; strip s begins at class
// strip_start(s).
constexpr int64_t STRIP = 6;
inline int64_t strips_of(int64_t classes) { return (classes + STRIP - 1) / STRIP; }
inline int64_t strip_start(int64_t s, int64_t classes) { return classes ? s * classes / strips_of(classes) : 0; }

// Scores offset + (x - origin) . coef for each class. Coefficients are stored strip by strip: those of the first
// strip's classes for column 0, column 1, ..., then those of the next strip. A missing value subtracts its `zero`
// (stored like coef) from the offset; if `zero` is null, the score is NaN.
struct LinearForm {
    const double *coef, *offset, *origin, *zero, *threshold;
    int64_t classes;
};

struct LinearKernels {
    // Returns flags: missing values, and infinite values if there is a threshold. `buffer` holds (columns + classes +
    // 3) x TILE.
    uint32_t (*linear)(const Matrix &x, const LinearForm &p, int64_t first, int64_t last, double *buffer,
                       const PosteriorRequest &f, int64_t *invalid_row);
};

// A diagonal Gaussian with the statistics behind its variances: cells of weight `weight` and centred sum of squares
// `m2`, divided by the weight less `lost`. `inverse` and `log_norm` belong to the full model's variances; `stretch` is
// n/(n - 1) and `per` is 1/(n - 1 - lost), for a held-out row of weight one.
struct HeldOutGaussian {
    const double *weight, *mean, *mean_low, *m2, *variance, *inverse, *log_norm, *stretch, *per, *inverse_m2;
    int64_t classes;
    double lost;
};

struct HeldOutKernels {
    // out[row, class] = log-density of the row under the class fitted without it: for the row's own class, and if
    // `others` for all classes, since a variance `added` depends on the row. `least` is the smallest remaining share of
    // a variance.
    void (*log_likelihood)(const Matrix &x, const HeldOutGaussian &p, const int64_t *codes, const double *weights,
                           const double *added, bool others, int64_t first, int64_t last, double *buffer, double *out,
                           double *least);
};

struct PosteriorKernels {
    // Writes the output that `f` asks for, for rows first..last-1 of scores (rows x classes). `tile` holds (classes +
    // 3) x TILE.
    void (*posterior)(int64_t classes, int64_t first, int64_t last, const double *joint, const PosteriorRequest &f,
                      double *tile, int64_t *invalid_row);
    // Adds a number for each class to rows first..last-1.
    void (*add_to_rows)(int64_t classes, int64_t first, int64_t last, const double *offset, double *rows);
    // Replaces numbers x <= 0 by e^x.
    void (*exponentiate)(int64_t count, double *x);
    // factor a[k] + b[k] (c[0] + b[k] (c[1] + ...)), with `terms` coefficients c, for each k.
    void (*add_series)(int64_t count, int terms, const double *c, double factor, const double *a, const double *b,
                       double *out);
};

// A summary of groups of rows: weight, mean and squares (or scatter matrices), each in two doubles.
struct Summary {
    const double *weight, *weight_low, *mean, *mean_low, *squares, *squares_low;
};

constexpr int STRANGE = 1, FLAT = 2;  // squares overflowed or underflowed; a column has almost no squares in any matrix

struct JoiningKernels {
    // Refines moments about `mean + mean_low` with the sums of deviations and of their squares, cell by cell. Cells
    // whose squares are too large or too small for that keep their values.
    void (*refine)(int64_t count, const double *weight, const double *weight_low, const double *sums,
                   const double *sums_low, const double *squares, const double *squares_low, double *mean,
                   double *mean_low, double *m2, double *m2_low);
    // Moments of both groups of rows together, cell by cell.
    void (*moments)(int64_t count, const Summary &a, const Summary &b, double *weight, double *weight_low, double *mean,
                    double *mean_low, double *m2, double *m2_low);
    // Moments of all classes pooled (columns each); returns whether all squares are in the range of a double.
    bool (*pool)(int64_t classes, int64_t columns, const Summary &a, double *weight, double *mean, double *mean_low,
                 double *m2, double *scratch);
    // Completes symmetric matrices high + low from their lower triangles.
    void (*complete)(int64_t matrices, int64_t columns, double *high, double *low);
    // Weight (classes) and mean of both groups of rows together; delta, the difference of their means; and cross, the
    // factor of delta delta' in their joint scatter.
    void (*class_means)(int64_t classes, int64_t columns, const Summary &a, const Summary &b, double *weight,
                        double *weight_low, double *mean, double *mean_low, double *cross, double *cross_low,
                        double *delta, double *delta_low);
    // more + more_low += a + b, entry by entry.
    void (*entries)(int64_t count, const double *a, const double *a_low, const double *b, const double *b_low,
                    double *more, double *more_low);
    // Mean of all rows and the offset of each class mean from it (classes x columns); returns STRANGE and FLAT bits.
    int (*grand_mean)(int64_t classes, int64_t columns, const Summary &a, int64_t matrices, double *mean,
                      double *mean_low, double *away, double *scratch);
};

// Ranges of the columns of a block of rows: the smallest and largest number, whether one is missing and whether one is
// fractional; arrays of `columns`.
struct Ranges {
    double *low, *high;
    uint8_t *missing, *parts;
};

// The table cells of each column: one for each of the numbers low..low+size-1, one for all other numbers and one for
// missing numbers. The cells of column j begin at start[j]; there are `cells` in all.
struct TableLayout {
    const int64_t *low, *size, *start;
    int64_t cells;
};

constexpr int64_t COUNT_TILE = 64;  // rows whose table cells are computed together

struct CountKernels {
    // Widens the ranges in `out` by rows first..last-1.
    void (*ranges)(const Matrix &x, int64_t first, int64_t last, const Ranges &out);
    // Counts the rows of each class and table cell (classes x cells); `buffer` holds COUNT_TILE x columns.
    void (*count)(const Matrix &x, const Membership &m, const TableLayout &p, int64_t first, int64_t last,
                  int32_t *buffer, uint32_t *total);
    // The same for rows of any weight: total + total_low += w.
    void (*weigh)(const Matrix &x, const Membership &m, const TableLayout &p, int64_t first, int64_t last,
                  int32_t *buffer, double *total, double *total_low);
    // out[row, class] = sum over columns of the table's entry (cells x step) at the row's cell.
    void (*table_sums)(const Matrix &x, const TableLayout &p, const double *table, int64_t step, int64_t classes,
                       int64_t first, int64_t last, int32_t *buffer, double *out);
};

struct ArrowKernels {
    // out = numbers first..last-1 of a contiguous column, with NaN where bit `bit + i` of number i is zero.
    void (*known_numbers)(const Column &c, const uint8_t *bits, int64_t bit, int64_t first, int64_t last, double *out);
};

constexpr int64_t NO_KEY = INT64_MIN;  // of a missing number

struct BinKernels {
    // Keys of rows row..row+count-1, columns column.., of `x` (columns x count): integers in the order of the numbers,
    // or of their positions between the cuts if there are any. `buffer` (count x columns) then holds the numbers.
    void (*keys)(const Matrix &x, int64_t row, int64_t count, int64_t column, int64_t columns, const double *cuts,
                 int64_t n_cuts, double *buffer, int64_t *out);
};

// Intervals of the columns of a matrix. cuts[c, j] (height x columns) is the c-th cut of column j, infinite beyond its
// last one; the numbers of the column are in cells first[j].., missing ones in missing[j].
struct Intervals {
    const double *cuts;
    const int32_t *first, *missing;
    const int64_t *column;  // of the cells
    int64_t height;
};

struct PairKernels {
    // Writes the cells of rows first..last-1 of `x` to `out`, whose rows are `width` apart; `buffer` holds
    // (TILE + 1) x columns.
    void (*cells)(const Matrix &x, const Intervals &p, int64_t first, int64_t last, int64_t width, double *buffer,
                  int32_t *out);
    // Number of bits that are set in both of two sets of bits.
    int64_t (*overlap)(const uint64_t *a, const uint64_t *b, int64_t words);
    // Lowers `least` and raises `most` (columns) to the cells of rows first..last-1; a negative cell is above all
    // others.
    void (*cell_range)(const int32_t *cells, int64_t first, int64_t last, int64_t columns, uint32_t *least,
                       uint32_t *most);
};

struct Kernels {
    const char *name;
    SumKernels sums;
    MomentKernels moments;
    ScatterKernels scatter;
    FourthMomentKernels fourth_moments;
    GaussianKernels gaussian;
    HeldOutKernels held_out;
    LinearKernels linear;
    PosteriorKernels posterior;
    JoiningKernels joining;
    SparseKernels sparse;
    CountKernels counts;
    ArrowKernels arrow;
    BinKernels bins;
    PairKernels pairs;
};

const Kernels &kernels();  // the table for this processor

}  // namespace suffice

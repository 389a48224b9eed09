// Summaries of rows: refined in two doubles, joined, and pooled over classes. They are small, so one call does all the
// work.
#include <algorithm>
#include <vector>

#include "binding.hpp"

namespace suffice {
namespace {

using Square = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// A summary of classes x columns cells.
Summary cells(const Table &weight, const Table &weight_low, const Table &mean, const Table &mean_low,
              const Table &squares, const Table &squares_low, const Table &like) {
    for (const Table &each : {weight, weight_low, mean, mean_low, squares, squares_low})
        require_shape(each, like.shape(0), like.shape(1));
    return {weight.data(), weight_low.data(), mean.data(), mean_low.data(), squares.data(), squares_low.data()};
}

// A summary of classes with full scatter matrices.
Summary matrices(const Vector &weight, const Vector &weight_low, const Table &mean, const Table &mean_low,
                 const Square &scatter, const Square &scatter_low, const Table &like) {
    const size_t d = like.shape(1);
    for (const Table &each : {mean, mean_low}) require_shape(each, like.shape(0), d);
    for (const Vector &each : {weight, weight_low})
        require(each.shape(0) == like.shape(0), "weight must have one entry for each class");
    for (const Square &each : {scatter, scatter_low})
        require(each.shape(0) == scatter.shape(0) && each.shape(1) == d && each.shape(2) == d,
                "scatter must hold matrices of columns x columns");
    return {weight.data(), weight_low.data(), mean.data(), mean_low.data(), scatter.data(), scatter_low.data()};
}

void require_row(const Vector &row, int64_t code, size_t classes, size_t d) {
    require(row.shape(0) == d && code >= 0 && code < static_cast<int64_t>(classes),
            "row must have one entry for each column, and code must be a class");
}

bool all_finite(const double *value, size_t count) {
    bool finite = true;
    for (size_t i = 0; i < count; ++i) finite &= value[i] - value[i] == 0;
    return finite;
}

// Scatter of both groups of rows together: the scatter of each, plus cross delta delta' for each class.
void join_scatter(int64_t classes, int64_t d, const Summary &a, const Summary &b, int64_t count, double *weight,
                  double *weight_low, double *mean, double *mean_low, double *scatter, double *scatter_low) {
    const Kernels &run = kernels();
    const size_t cell_count = static_cast<size_t>(classes * d);
    std::vector<double> scratch(2 * (cell_count + static_cast<size_t>(classes)));
    double *const delta = scratch.data(), *const delta_low = delta + cell_count;
    double *const cross = delta_low + cell_count, *const cross_low = cross + classes;
    run.joining.class_means(classes, d, a, b, weight, weight_low, mean, mean_low, cross, cross_low, delta, delta_low);
    for (int64_t k = 0; k < classes; ++k) {
        const int64_t at = count == 1 ? 0 : k * d * d;
        if (cross[k] > 0)
            run.scatter.outer(d, cross[k], cross_low[k], delta + k * d, delta_low + k * d, scatter + at,
                              scatter_low + at);
    }
    for (int64_t k = 0; k < classes; ++k)
        for (int64_t j = 0; j < d; ++j) {
            // A square that underflows becomes the smallest number, not zero.
            double &square = scatter[(count == 1 ? 0 : k * d * d) + j * d + j];
            if (square == 0 && delta[k * d + j] != 0 && cross[k] > 0) square = 4.9406564584124654e-324;
        }
    run.joining.complete(count, d, scatter, scatter_low);
    run.joining.entries(count * d * d, a.squares, a.squares_low, b.squares, b.squares_low, scatter, scatter_low);
}

}  // namespace

void bind_joining(nb::module_ &m) {
    m.def(
        "refine_moments",
        [](nb::object x, Codes codes, Table soft, Vector weights, bool missing, Table weight, Table weight_low,
           Output mean, Output mean_low, Output m2, Output m2_low) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const size_t classes = mean.shape(0), d = static_cast<size_t>(view.columns);
            const Membership members = membership(view, codes, soft, weights, classes);
            for (const Table &each : {weight, weight_low}) require_shape(each, classes, d);
            for (const Output &each : {mean, mean_low, m2, m2_low}) require_shape(each, classes, d);
            nb::gil_scoped_release release;
            const size_t count = classes * d;
            std::vector<double> scratch(4 * count + TILE * d, 0.0);
            double *const sums = scratch.data(), *const sums_low = sums + count;
            double *const squares = sums_low + count, *const squares_low = squares + count;
            kernels().moments.exact(view, members, missing, mean.data(), mean_low.data(), squares_low + count, sums,
                                    sums_low, squares, squares_low);
            kernels().joining.refine(static_cast<int64_t>(count), weight.data(), weight_low.data(), sums, sums_low,
                                     squares, squares_low, mean.data(), mean_low.data(), m2.data(), m2_low.data());
        },
        "x"_a, "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "missing"_a,
        "weight"_a.noconvert(), "weight_low"_a.noconvert(), "mean"_a.noconvert(), "mean_low"_a.noconvert(),
        "m2"_a.noconvert(), "m2_low"_a.noconvert());

    m.def(
        "join_moments",
        [](Cube out, Table weight, Table weight_low, Table mean, Table mean_low, Table m2, Table m2_low,
           Table other_weight, Table other_weight_low, Table other_mean, Table other_mean_low, Table other_m2,
           Table other_m2_low) {
            const Summary a = cells(weight, weight_low, mean, mean_low, m2, m2_low, mean);
            const Summary b =
                cells(other_weight, other_weight_low, other_mean, other_mean_low, other_m2, other_m2_low, mean);
            const size_t count = mean.size();
            require(out.shape(0) == 6 && out.shape(1) == mean.shape(0) && out.shape(2) == mean.shape(1),
                    "out must have six arrays of classes x columns");
            nb::gil_scoped_release release;
            double *const at = out.data();
            kernels().joining.moments(static_cast<int64_t>(count), a, b, at, at + count, at + 2 * count, at + 3 * count,
                                      at + 4 * count, at + 5 * count);
        },
        "out"_a.noconvert(), "weight"_a.noconvert(), "weight_low"_a.noconvert(), "mean"_a.noconvert(),
        "mean_low"_a.noconvert(), "m2"_a.noconvert(), "m2_low"_a.noconvert(), "other_weight"_a.noconvert(),
        "other_weight_low"_a.noconvert(), "other_mean"_a.noconvert(), "other_mean_low"_a.noconvert(),
        "other_m2"_a.noconvert(), "other_m2_low"_a.noconvert());

    m.def(
        "join_row",
        [](Cube out, Output pooled, Table weight, Table weight_low, Table mean, Table mean_low, Table m2, Table m2_low,
           Vector row, int64_t code) {
            const Summary a = cells(weight, weight_low, mean, mean_low, m2, m2_low, mean);
            const size_t classes = mean.shape(0), d = mean.shape(1), count = classes * d;
            require_row(row, code, classes, d);
            require(out.shape(0) == 6 && out.shape(1) == classes && out.shape(2) == d && pooled.shape(0) == 4 &&
                        pooled.shape(1) == d,
                    "out must have six arrays of classes x columns, and pooled four rows of columns");
            nb::gil_scoped_release release;
            if (!all_finite(row.data(), d)) return false;
            std::vector<double> scratch(2 * count + 2 * d, 0.0);
            double *const ones = scratch.data(), *const values = ones + count, *const none = values + count;
            std::fill_n(ones + code * d, d, 1.0);
            std::copy_n(row.data(), d, values + code * d);
            double *const at = out.data();
            // Other classes keep what they have.
            for (size_t k = 0; k < classes; ++k) {
                const size_t here = k * d;
                const Summary own{a.weight + here,   a.weight_low + here, a.mean + here,
                                  a.mean_low + here, a.squares + here,    a.squares_low + here};
                const Summary more{ones + here, none, values + here, none, none, none};
                kernels().joining.moments(static_cast<int64_t>(d), own, more, at + here, at + count + here,
                                          at + 2 * count + here, at + 3 * count + here, at + 4 * count + here,
                                          at + 5 * count + here);
            }
            const Summary joined{at, at + count, at + 2 * count, at + 3 * count, at + 4 * count, at + 5 * count};
            double *const pool = pooled.data();
            return kernels().joining.pool(static_cast<int64_t>(classes), static_cast<int64_t>(d), joined, pool,
                                          pool + d, pool + 2 * d, pool + 3 * d, none + d);
        },
        "out"_a.noconvert(), "pooled"_a.noconvert(), "weight"_a.noconvert(), "weight_low"_a.noconvert(),
        "mean"_a.noconvert(), "mean_low"_a.noconvert(), "m2"_a.noconvert(), "m2_low"_a.noconvert(), "row"_a.noconvert(),
        "code"_a);

    m.def(
        "pool_moments",
        [](Output out, Table weight, Table mean, Table mean_low, Table m2) {
            const Summary a = cells(weight, weight, mean, mean_low, m2, m2, mean);
            const size_t d = mean.shape(1);
            require(out.shape(0) == 4 && out.shape(1) == d, "out must have four rows of columns");
            nb::gil_scoped_release release;
            std::vector<double> scratch(d);
            double *const at = out.data();
            return kernels().joining.pool(static_cast<int64_t>(mean.shape(0)), static_cast<int64_t>(d), a, at, at + d,
                                          at + 2 * d, at + 3 * d, scratch.data());
        },
        "out"_a.noconvert(), "weight"_a.noconvert(), "mean"_a.noconvert(), "mean_low"_a.noconvert(),
        "m2"_a.noconvert());

    m.def(
        "complete_symmetric",
        [](Cube high, Cube low) {
            require(high.shape(1) == high.shape(2), "matrices must be square");
            for (size_t axis = 0; axis < 3; ++axis)
                require(low.shape(axis) == high.shape(axis), "high and low differ in shape");
            nb::gil_scoped_release release;
            kernels().joining.complete(static_cast<int64_t>(high.shape(0)), static_cast<int64_t>(high.shape(1)),
                                       high.data(), low.data());
        },
        "high"_a.noconvert(), "low"_a.noconvert());

    m.def(
        "join_scatter",
        [](Output out_weight, Cube out_mean, Cube out_scatter, Cube out_scatter_low, Vector weight, Vector weight_low,
           Table mean, Table mean_low, Square scatter, Square scatter_low, Vector other_weight, Vector other_weight_low,
           Table other_mean, Table other_mean_low, Square other_scatter, Square other_scatter_low) {
            const Summary a = matrices(weight, weight_low, mean, mean_low, scatter, scatter_low, mean);
            const Summary b = matrices(other_weight, other_weight_low, other_mean, other_mean_low, other_scatter,
                                       other_scatter_low, mean);
            const size_t classes = mean.shape(0), d = mean.shape(1), count = scatter.shape(0);
            require(count == classes || count == 1, "scatter must have one matrix, or one for each class");
            require_shape(out_weight, 2, classes);
            require(out_mean.shape(0) == 2 && out_mean.shape(1) == classes && out_mean.shape(2) == d,
                    "out_mean must have two arrays of classes x columns");
            require(other_scatter.shape(0) == count, "both scatters must have the same number of matrices");
            for (const Cube &each : {out_scatter, out_scatter_low})
                require(each.shape(0) == count && each.shape(1) == d && each.shape(2) == d,
                        "out_scatter and scatter differ in shape");
            nb::gil_scoped_release release;
            double *const first = out_weight.data(), *const centre = out_mean.data();
            join_scatter(static_cast<int64_t>(classes), static_cast<int64_t>(d), a, b, static_cast<int64_t>(count),
                         first, first + classes, centre, centre + classes * d, out_scatter.data(),
                         out_scatter_low.data());
        },
        "out_weight"_a.noconvert(), "out_mean"_a.noconvert(), "out_scatter"_a.noconvert(),
        "out_scatter_low"_a.noconvert(), "weight"_a.noconvert(), "weight_low"_a.noconvert(), "mean"_a.noconvert(),
        "mean_low"_a.noconvert(), "scatter"_a.noconvert(), "scatter_low"_a.noconvert(), "other_weight"_a.noconvert(),
        "other_weight_low"_a.noconvert(), "other_mean"_a.noconvert(), "other_mean_low"_a.noconvert(),
        "other_scatter"_a.noconvert(), "other_scatter_low"_a.noconvert());

    m.def(
        "join_row_scatter",
        [](Output out_weight, Cube out_mean, Cube out_scatter, Cube out_scatter_low, Output grand, Output away,
           Vector weight, Vector weight_low, Table mean, Table mean_low, Square scatter, Square scatter_low, Vector row,
           int64_t code) {
            const Summary a = matrices(weight, weight_low, mean, mean_low, scatter, scatter_low, mean);
            const size_t classes = mean.shape(0), d = mean.shape(1), count = scatter.shape(0);
            require(count == classes || count == 1, "scatter must have one matrix, or one for each class");
            require_row(row, code, classes, d);
            require_shape(out_weight, 2, classes);
            require_shape(grand, 2, d);
            require_shape(away, classes, d);
            require(out_mean.shape(0) == 2 && out_mean.shape(1) == classes && out_mean.shape(2) == d,
                    "out_mean must have two arrays of classes x columns");
            for (const Cube &each : {out_scatter, out_scatter_low})
                require(each.shape(0) == count && each.shape(1) == d && each.shape(2) == d,
                        "out_scatter and scatter differ in shape");
            nb::gil_scoped_release release;
            if (!all_finite(row.data(), d)) return -1;
            const size_t cells = std::max(count * d * d, classes * d);
            std::vector<double> scratch(2 * classes + classes * d + cells, 0.0);
            double *const ones = scratch.data(), *const values = ones + 2 * classes, *const none = values + classes * d;
            ones[code] = 1.0;
            std::copy_n(row.data(), d, values + static_cast<size_t>(code) * d);
            const Summary b{ones, ones + classes, values, none, none, none};
            double *const first = out_weight.data(), *const centre = out_mean.data();
            join_scatter(static_cast<int64_t>(classes), static_cast<int64_t>(d), a, b, static_cast<int64_t>(count),
                         first, first + classes, centre, centre + classes * d, out_scatter.data(),
                         out_scatter_low.data());
            const Summary joined{
                first, first + classes, centre, centre + classes * d, out_scatter.data(), out_scatter_low.data()};
            std::vector<double> squares(d);
            return kernels().joining.grand_mean(static_cast<int64_t>(classes), static_cast<int64_t>(d), joined,
                                                static_cast<int64_t>(count), grand.data(), grand.data() + d,
                                                away.data(), squares.data());
        },
        "out_weight"_a.noconvert(), "out_mean"_a.noconvert(), "out_scatter"_a.noconvert(),
        "out_scatter_low"_a.noconvert(), "grand"_a.noconvert(), "away"_a.noconvert(), "weight"_a.noconvert(),
        "weight_low"_a.noconvert(), "mean"_a.noconvert(), "mean_low"_a.noconvert(), "scatter"_a.noconvert(),
        "scatter_low"_a.noconvert(), "row"_a.noconvert(), "code"_a);

    m.def(
        "grand_mean",
        [](Output out, Output away, Vector weight, Table mean, Table mean_low, Square scatter) {
            const Summary a = matrices(weight, weight, mean, mean_low, scatter, scatter, mean);
            const size_t classes = mean.shape(0), d = mean.shape(1);
            require_shape(out, 2, d);
            require_shape(away, classes, d);
            nb::gil_scoped_release release;
            std::vector<double> scratch(d);
            return kernels().joining.grand_mean(static_cast<int64_t>(classes), static_cast<int64_t>(d), a,
                                                static_cast<int64_t>(scatter.shape(0)), out.data(), out.data() + d,
                                                away.data(), scratch.data());
        },
        "out"_a.noconvert(), "away"_a.noconvert(), "weight"_a.noconvert(), "mean"_a.noconvert(),
        "mean_low"_a.noconvert(), "scatter"_a.noconvert());
}

}  // namespace suffice

// Binds the drivers to Python. Every shape is checked here; nothing is converted on the way in.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "drivers.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace suffice;

namespace {

using Numbers = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Codes = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Matrix matrix(const Numbers &x) {
    const bool single = x.dtype() == nb::dtype<float>();
    if (!single && x.dtype() != nb::dtype<double>()) throw nb::type_error("x must be float64 or float32");
    return {x.data(), static_cast<int64_t>(x.shape(0)), static_cast<int64_t>(x.shape(1)), x.stride(0), x.stride(1),
            single};
}

void require(bool fits, const char *message) {
    if (!fits) throw nb::value_error(message);
}

Membership membership(const Matrix &x, const Codes &codes, const Table &soft, const Vector &weights,
                      int64_t classes) {
    const auto n = static_cast<size_t>(x.rows);
    require(codes.is_valid() != soft.is_valid(), "give either codes or soft");
    require(!codes.is_valid() || codes.shape(0) == n, "codes and x differ in length");
    require(!soft.is_valid() || (soft.shape(0) == n && soft.shape(1) == static_cast<size_t>(classes)),
            "soft must have a row for each row of x and a column for each class");
    require(!weights.is_valid() || weights.shape(0) == n, "weights and x differ in length");
    return {codes.is_valid() ? codes.data() : nullptr, soft.is_valid() ? soft.data() : nullptr,
            weights.is_valid() ? weights.data() : nullptr, classes};
}

template <typename Array> void require_shape(const Array &array, size_t classes, size_t columns) {
    require(array.shape(0) == classes && array.shape(1) == columns, "an array of classes x columns has another shape");
}

// Matrices of each class, or one for all.
void require_matrices(const Cube &total, const Cube &total_low, size_t classes, size_t columns) {
    for (const Cube &each : {total, total_low})
        require((each.shape(0) == classes || each.shape(0) == 1) && each.shape(0) == total.shape(0) &&
                    each.shape(1) == columns && each.shape(2) == columns,
                "total must have a matrix for each class, or one");
}

}  // namespace

NB_MODULE(_core, m) {
    m.def("instruction_set", [] { return kernels().name; });

    m.def(
        "class_sums",
        [](Numbers x, Codes codes, Table soft, Vector weights, Output total) {
            const Matrix view = matrix(x);
            const Membership who = membership(view, codes, soft, weights, total.shape(0));
            require_shape(total, total.shape(0), x.shape(1));
            nb::gil_scoped_release release;
            class_sums(view, who, total.data());
        },
        "x"_a.noconvert(), "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "total"_a.noconvert());

    m.def(
        "class_moments",
        [](Numbers x, Codes codes, Table soft, Vector weights, bool missing, Output weight, Output mean,
           Output mean_low, Output m2, Output m2_low) {
            const Matrix view = matrix(x);
            const Membership who = membership(view, codes, soft, weights, mean.shape(0));
            for (const Output &each : {weight, mean, mean_low, m2, m2_low})
                require_shape(each, mean.shape(0), x.shape(1));
            nb::gil_scoped_release release;
            class_moments(view, who, missing, weight.data(), mean.data(), mean_low.data(), m2.data(),
                          m2_low.data());
        },
        "x"_a.noconvert(), "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "missing"_a, "weight"_a.noconvert(), "mean"_a.noconvert(),
        "mean_low"_a.noconvert(), "m2"_a.noconvert(), "m2_low"_a.noconvert());

    m.def(
        "centre_block",
        [](Numbers x, Codes codes, Table soft, Vector weights, Weights weight, Output mean, Output mean_low,
           Output squares, Output squares_low, Offsets offsets, Output out) {
            const Matrix view = matrix(x);
            const Membership who = membership(view, codes, soft, weights, mean.shape(0));
            for (const Output &each : {mean, mean_low, squares, squares_low})
                require_shape(each, mean.shape(0), x.shape(1));
            require(weight.shape(0) == mean.shape(0) && offsets.shape(0) == mean.shape(0) + 1,
                    "weight and offsets must have one entry for each class");
            require(out.shape(1) == x.shape(1), "out and x differ in width");
            require(static_cast<int64_t>(out.shape(0)) >= centred_rows(who, view.rows), "out has too few rows");
            nb::gil_scoped_release release;
            centre_block(view, who, weight.data(), mean.data(), mean_low.data(), squares.data(), squares_low.data(),
                         offsets.data(), out.data());
        },
        "x"_a.noconvert(), "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "weight"_a.noconvert(), "mean"_a.noconvert(), "mean_low"_a.noconvert(),
        "squares"_a.noconvert(), "squares_low"_a.noconvert(), "offsets"_a.noconvert(), "out"_a.noconvert());

    m.def(
        "outer",
        [](Vector weight, Vector weight_low, Table z, Table z_low, Cube total, Cube total_low) {
            const size_t rows = z.shape(0), d = z.shape(1);
            require_shape(z_low, rows, d);
            require(weight.shape(0) == rows && weight_low.shape(0) == rows, "weight and z differ in length");
            require_matrices(total, total_low, rows, d);
            const bool pooled = total.shape(0) == 1;
            nb::gil_scoped_release release;
            for (size_t r = 0; r < rows; ++r) {
                const size_t at = pooled ? 0 : r * d * d;
                kernels().outer(static_cast<int64_t>(d), weight.data()[r], weight_low.data()[r], z.data() + r * d,
                                z_low.data() + r * d, total.data() + at, total_low.data() + at);
            }
        },
        "weight"_a.noconvert(), "weight_low"_a.noconvert(), "z"_a.noconvert(), "z_low"_a.noconvert(), "total"_a.noconvert(), "total_low"_a.noconvert());

    m.def(
        "exact_scatter",
        [](Numbers x, Codes codes, Table soft, Vector weights, Table mean, Table mean_low, Cube total,
           Cube total_low) {
            const Matrix view = matrix(x);
            const size_t classes = mean.shape(0), d = x.shape(1);
            const Membership who = membership(view, codes, soft, weights, classes);
            for (const Table &each : {mean, mean_low}) require_shape(each, classes, d);
            require_matrices(total, total_low, classes, d);
            nb::gil_scoped_release release;
            std::vector<double> buffer((TILE + 2) * d);
            kernels().exact_scatter(view, who, mean.data(), mean_low.data(), total.shape(0) == 1, buffer.data(),
                                    total.data(), total_low.data());
        },
        "x"_a.noconvert(), "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "mean"_a.noconvert(), "mean_low"_a.noconvert(),
        "total"_a.noconvert(), "total_low"_a.noconvert());

    m.def(
        "exact_moments",
        [](Numbers x, Codes codes, Table soft, Vector weights, bool missing, Table mean, Table mean_low, Output sum,
           Output sum_low, Output square, Output square_low) {
            const Matrix view = matrix(x);
            const Membership who = membership(view, codes, soft, weights, mean.shape(0));
            for (const Table &each : {mean, mean_low}) require_shape(each, mean.shape(0), x.shape(1));
            for (const Output &each : {sum, sum_low, square, square_low})
                require_shape(each, mean.shape(0), x.shape(1));
            nb::gil_scoped_release release;
            std::vector<double> buffer(TILE * x.shape(1));
            kernels().exact_moments(view, who, missing, mean.data(), mean_low.data(), buffer.data(), sum.data(),
                                    sum_low.data(), square.data(), square_low.data());
        },
        "x"_a.noconvert(), "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "missing"_a, "mean"_a.noconvert(), "mean_low"_a.noconvert(),
        "total"_a.noconvert(), "total_low"_a.noconvert(), "square"_a.noconvert(), "square_low"_a.noconvert());

    m.def(
        "accumulate",
        [](Table part, Output total, Output total_low) {
            require(total.size() == part.size() && total_low.size() == part.size(), "part and total differ in size");
            nb::gil_scoped_release release;
            kernels().accumulate(static_cast<int64_t>(part.size()), part.data(), total.data(), total_low.data());
        },
        "part"_a.noconvert(), "total"_a.noconvert(), "total_low"_a.noconvert());

    m.def(
        "diagonal_log_likelihood",
        [](Numbers x, Table mean, Table mean_low, Table scale, Table log_norm, bool missing, Output out) {
            const Matrix view = matrix(x);
            const Diagonal p{mean.data(), mean_low.data(), scale.data(), log_norm.data(),
                             static_cast<int64_t>(mean.shape(0))};
            for (const Table &each : {mean, mean_low, scale, log_norm})
                require_shape(each, mean.shape(0), x.shape(1));
            require(out.shape(0) == x.shape(0) && out.shape(1) == mean.shape(0), "out must be rows x classes");
            nb::gil_scoped_release release;
            diagonal_log_likelihood(view, p, missing, out.data());
        },
        "x"_a.noconvert(), "mean"_a.noconvert(), "mean_low"_a.noconvert(), "scale"_a.noconvert(), "log_norm"_a.noconvert(), "missing"_a, "out"_a.noconvert());

    m.def(
        "left_out",
        [](Numbers x, Codes codes, Vector weights, Vector added, Table weight, Table mean, Table mean_low, Table m2,
           Table variance, Table inverse, Table log_norm, Table stretch, Table per, Table inverse_m2, double lost,
           bool others, Output out, Weights least) {
            const Matrix view = matrix(x);
            const LeftOut p{weight.data(),  mean.data(),     mean_low.data(), m2.data(),  variance.data(),
                            inverse.data(), log_norm.data(), stretch.data(),  per.data(), inverse_m2.data(),
                            static_cast<int64_t>(mean.shape(0)), lost};
            for (const Table &each : {weight, mean, mean_low, m2, variance, inverse, log_norm, stretch, per, inverse_m2})
                require_shape(each, mean.shape(0), x.shape(1));
            require(codes.is_valid() && codes.shape(0) == x.shape(0), "there must be a code for each row");
            for (const Vector &each : {weights, added})
                require(!each.is_valid() || each.shape(0) == x.shape(0), "there must be a number for each row");
            require(least.shape(0) == x.shape(0), "there must be a number for each row");
            require(out.shape(0) == x.shape(0) && out.shape(1) == mean.shape(0), "out must be rows x classes");
            nb::gil_scoped_release release;
            left_out(view, p, codes.data(), weights.is_valid() ? weights.data() : nullptr,
                     added.is_valid() ? added.data() : nullptr, others, out.data(), least.data());
        },
        "x"_a.noconvert(), "codes"_a.noconvert(), "weights"_a.noconvert().none(), "added"_a.noconvert().none(),
        "weight"_a.noconvert(), "mean"_a.noconvert(), "mean_low"_a.noconvert(), "m2"_a.noconvert(),
        "variance"_a.noconvert(), "inverse"_a.noconvert(), "log_norm"_a.noconvert(), "stretch"_a.noconvert(), "per"_a.noconvert(), "inverse_m2"_a.noconvert(), "lost"_a, "others"_a,
        "out"_a.noconvert(), "least"_a.noconvert());
}

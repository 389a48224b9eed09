// Binds the drivers to Python. Shapes and lengths are the callers' duty (`suffice/kernels/__init__.py`).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

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
using Offsets = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Matrix matrix(const Numbers &x) {
    const bool single = x.dtype() == nb::dtype<float>();
    if (!single && x.dtype() != nb::dtype<double>()) throw nb::type_error("x must be float64 or float32");
    return {x.data(), static_cast<int64_t>(x.shape(0)), static_cast<int64_t>(x.shape(1)), x.stride(0), x.stride(1),
            single};
}

Membership membership(const Codes &codes, const Table &soft, const Vector &weights, int64_t classes) {
    return {codes.is_valid() ? codes.data() : nullptr, soft.is_valid() ? soft.data() : nullptr,
            weights.is_valid() ? weights.data() : nullptr, classes};
}

}  // namespace

NB_MODULE(_core, m) {
    m.def("instruction_set", [] { return kernels().name; });

    m.def(
        "class_sums",
        [](Numbers x, Codes codes, Table soft, Vector weights, Output total) {
            const Matrix view = matrix(x);
            const Membership who = membership(codes, soft, weights, total.shape(0));
            nb::gil_scoped_release release;
            class_sums(view, who, total.data());
        },
        "x"_a, "codes"_a.none(), "soft"_a.none(), "weights"_a.none(), "total"_a);

    m.def(
        "class_moments",
        [](Numbers x, Codes codes, Table soft, Vector weights, bool missing, Output weight, Output mean,
           Output mean_low, Output m2) {
            const Matrix view = matrix(x);
            const Membership who = membership(codes, soft, weights, mean.shape(0));
            nb::gil_scoped_release release;
            class_moments(view, who, missing, weight.data(), mean.data(), mean_low.data(), m2.data());
        },
        "x"_a, "codes"_a.none(), "soft"_a.none(), "weights"_a.none(), "missing"_a, "weight"_a, "mean"_a,
        "mean_low"_a, "m2"_a);

    m.def(
        "centre_block",
        [](Numbers x, Codes codes, Table soft, Vector weights, Weights weight, Output mean, Output mean_low,
           Output squares, Output squares_low, Offsets offsets, Output out) {
            const Matrix view = matrix(x);
            const Membership who = membership(codes, soft, weights, mean.shape(0));
            if (static_cast<int64_t>(out.shape(0)) < centred_rows(who, view.rows))
                throw nb::value_error("out has too few rows");
            nb::gil_scoped_release release;
            centre_block(view, who, weight.data(), mean.data(), mean_low.data(), squares.data(), squares_low.data(),
                         offsets.data(), out.data());
        },
        "x"_a, "codes"_a.none(), "soft"_a.none(), "weights"_a.none(), "weight"_a, "mean"_a, "mean_low"_a,
        "squares"_a, "squares_low"_a, "offsets"_a, "out"_a);

    m.def(
        "accumulate",
        [](Table part, Output total, Output total_low) {
            if (total.size() != part.size() || total_low.size() != part.size())
                throw nb::value_error("part and total differ in size");
            nb::gil_scoped_release release;
            kernels().accumulate(static_cast<int64_t>(part.size()), part.data(), total.data(), total_low.data());
        },
        "part"_a, "total"_a, "total_low"_a);

    m.def(
        "diagonal_log_likelihood",
        [](Numbers x, Table mean, Table mean_low, Table scale, Table log_norm, bool missing, Output out) {
            const Matrix view = matrix(x);
            const Diagonal p{mean.data(), mean_low.data(), scale.data(), log_norm.data(),
                             static_cast<int64_t>(mean.shape(0))};
            nb::gil_scoped_release release;
            diagonal_log_likelihood(view, p, missing, out.data());
        },
        "x"_a, "mean"_a, "mean_low"_a, "scale"_a, "log_norm"_a, "missing"_a, "out"_a);
}

// Log-densities of rows under Gaussians that were fitted without them.
#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

void held_out_log_likelihood(const Matrix &x, const HeldOutGaussian &p, const int64_t *codes, const double *weights,
                             const double *added, bool others, double *out, double *least) {
    const Kernels &run = kernels();
    for_blocks(
        x.rows, 1024, [&] { return std::vector<double>(x.columns); },
        [&](int64_t first, int64_t last, std::vector<double> &buffer) {
            run.held_out.log_likelihood(x, p, codes, weights, added, others, first, last, buffer.data(), out, least);
        });
}

}  // namespace

void bind_held_out(nb::module_ &m) {
    m.def(
        "held_out_log_likelihood",
        [](nb::object x, Codes codes, Vector weights, Vector added, Table weight, Table mean, Table mean_low, Table m2,
           Table variance, Table inverse, Table log_norm, Table stretch, Table per, Table inverse_m2, double lost,
           bool others, Output out, Weights least) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const HeldOutGaussian p{weight.data(),
                                    mean.data(),
                                    mean_low.data(),
                                    m2.data(),
                                    variance.data(),
                                    inverse.data(),
                                    log_norm.data(),
                                    stretch.data(),
                                    per.data(),
                                    inverse_m2.data(),
                                    static_cast<int64_t>(mean.shape(0)),
                                    lost};
            for (const Table &each :
                 {weight, mean, mean_low, m2, variance, inverse, log_norm, stretch, per, inverse_m2})
                require_shape(each, mean.shape(0), static_cast<size_t>(view.columns));
            require(codes.is_valid() && codes.shape(0) == static_cast<size_t>(view.rows),
                    "codes must have an entry for each row");
            for (const Vector &each : {weights, added})
                require(!each.is_valid() || each.shape(0) == static_cast<size_t>(view.rows),
                        "weights, added and least must have an entry for each row");
            require(least.shape(0) == static_cast<size_t>(view.rows),
                    "weights, added and least must have an entry for each row");
            require(out.shape(0) == static_cast<size_t>(view.rows) && out.shape(1) == mean.shape(0),
                    "out must be rows x classes");
            nb::gil_scoped_release release;
            held_out_log_likelihood(view, p, codes.data(), weights.is_valid() ? weights.data() : nullptr,
                                    added.is_valid() ? added.data() : nullptr, others, out.data(), least.data());
        },
        "x"_a, "codes"_a.noconvert(), "weights"_a.noconvert().none(), "added"_a.noconvert().none(),
        "weight"_a.noconvert(), "mean"_a.noconvert(), "mean_low"_a.noconvert(), "m2"_a.noconvert(),
        "variance"_a.noconvert(), "inverse"_a.noconvert(), "log_norm"_a.noconvert(), "stretch"_a.noconvert(),
        "per"_a.noconvert(), "inverse_m2"_a.noconvert(), "lost"_a, "others"_a, "out"_a.noconvert(),
        "least"_a.noconvert());
}

}  // namespace suffice

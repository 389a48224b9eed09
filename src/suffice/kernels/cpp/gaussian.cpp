// Log-densities of independent Gaussian columns.
#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

// out (rows x classes) = log density of each row under each class.
void diagonal_log_likelihood(const Matrix &x, const Diagonal &p, bool missing, double *out) {
    const Kernels &run = kernels();
    apart(x.rows, 1024, [&] { return std::vector<double>((x.columns + 2) * TILE); },
          [&](int64_t first, int64_t last, std::vector<double> &buffer) {
              run.gaussian.diagonal(x, p, missing, first, last, buffer.data(), out);
          });
}

}  // namespace

void bind_gaussian(nb::module_ &m) {
    m.def(
        "diagonal_log_likelihood",
        [](nb::object x, Table mean, Table mean_low, Table scale, Table log_norm, bool missing, Output out) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const Diagonal p{mean.data(), mean_low.data(), scale.data(), log_norm.data(),
                             static_cast<int64_t>(mean.shape(0))};
            for (const Table &each : {mean, mean_low, scale, log_norm})
                require_shape(each, mean.shape(0), static_cast<size_t>(view.columns));
            require(out.shape(0) == static_cast<size_t>(view.rows) && out.shape(1) == mean.shape(0), "out must be rows x classes");
            nb::gil_scoped_release release;
            diagonal_log_likelihood(view, p, missing, out.data());
        },
        "x"_a, "mean"_a.noconvert(), "mean_low"_a.noconvert(), "scale"_a.noconvert(), "log_norm"_a.noconvert(), "missing"_a, "out"_a.noconvert());
}

}  // namespace suffice

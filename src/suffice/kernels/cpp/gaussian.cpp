// Log-densities of Gaussians with independent columns or with full covariances.
#include <cmath>

#include "posterior_request.hpp"

namespace suffice {
namespace {

constexpr double NEAR = 64;  // up to this many deviations from the origin, a mean loses no significant digits

// From this size on, dropping classes that cannot win saves more than it costs.
constexpr int64_t PRUNED_COLUMNS = 64, PRUNED_CLASSES = 4;

// Class means as distances from a common origin, if all are near it; empty otherwise. Rows are then centred once
// instead of once for each class.
struct Centred {
    std::vector<double> origin, mean;

    Centred(const double *mean_of, const double *low, const double *scale, int64_t classes, int64_t d)
        : origin(d, 0.0), mean(classes * d) {
        for (int64_t k = 0; k < classes; ++k)
            for (int64_t j = 0; j < d; ++j) origin[j] += mean_of[k * d + j] / classes;
        for (int64_t i = 0; i < classes * d; ++i) {
            mean[i] = (mean_of[i] - origin[i % d]) + low[i];
            if (!(std::fabs(mean[i]) * scale[i] <= NEAR)) {
                origin.clear();
                return;
            }
        }
    }
};

int64_t diagonal_log_likelihood(const Matrix &x, Diagonal p, bool missing, const PosteriorRequest &f) {
    const int64_t d = x.columns;
    std::vector<double> total(p.classes, 0.0);
    for (int64_t k = 0; k < p.classes; ++k)
        for (int64_t j = 0; j < d; ++j) total[k] += p.log_norm[k * d + j];
    p.total = total.data();
    const Centred centred(p.mean, p.mean_low, p.scale, p.classes, d);
    if (!centred.origin.empty()) {
        p.origin = centred.origin.data();
        p.mean = centred.mean.data();
    }
    return score_blocks(x.rows, 1024, (d + p.classes + 5) * TILE,
                        [&](int64_t first, int64_t last, double *buffer, int64_t *invalid_row) {
                            kernels().gaussian.diagonal(x, p, missing, first, last, buffer, f, invalid_row);
                        });
}

int64_t full_log_likelihood(const Matrix &x, const Full &p, const PosteriorRequest &f) {
    const bool every = f.output == PosteriorOutput::score || f.output == PosteriorOutput::logarithm;
    const bool prune = !every && x.columns >= PRUNED_COLUMNS && p.classes >= PRUNED_CLASSES;
    const int64_t step = prune ? PRUNED_ROWS : 256;
    const int64_t size = prune ? pruned_buffer(x.columns, p.classes) : (2 * x.columns + p.classes + 4) * TILE;
    const auto run = prune ? kernels().gaussian.pruned : kernels().gaussian.full;
    return score_blocks(x.rows, step, size, [&](int64_t first, int64_t last, double *buffer, int64_t *invalid_row) {
        run(x, p, first, last, buffer, f, invalid_row);
    });
}

}  // namespace

void bind_gaussian(nb::module_ &m) {
    m.def(
        "diagonal_log_likelihood",
        [](nb::object x, Table mean, Table mean_low, Table scale, Table log_norm, bool missing, int output, Vector more,
           nb::object out) {
            const Rows rows(x, true);
            const Matrix &view = rows.view();
            const size_t classes = mean.shape(0);
            for (const Table &each : {mean, mean_low, scale, log_norm})
                require_shape(each, classes, static_cast<size_t>(view.columns));
            const CheckedRequest checked(output, more, out, static_cast<size_t>(view.rows), classes);
            const Diagonal p{mean.data(),
                             mean_low.data(),
                             scale.data(),
                             log_norm.data(),
                             nullptr,
                             nullptr,
                             static_cast<int64_t>(classes)};
            nb::gil_scoped_release release;
            return diagonal_log_likelihood(view, p, missing, checked.request());
        },
        "x"_a, "mean"_a.noconvert(), "mean_low"_a.noconvert(), "scale"_a.noconvert(), "log_norm"_a.noconvert(),
        "missing"_a, "output"_a, "more"_a.noconvert().none(), "out"_a);

    m.def(
        "full_log_likelihood",
        [](nb::object x, Table mean, Table mean_low, Table packed, Vector norm, int output, Vector more,
           nb::object out) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const size_t classes = mean.shape(0), d = static_cast<size_t>(view.columns);
            for (const Table &each : {mean, mean_low}) require_shape(each, classes, d);
            size_t size = 0;
            for (size_t i = 0; i < d; i += 4) size += 4 * std::min(i + 4, d);
            require(packed.shape(0) == classes && packed.shape(1) == size, "packed has the wrong shape");
            require(norm.shape(0) == classes, "norm must have an entry for each class");
            const CheckedRequest checked(output, more, out, static_cast<size_t>(view.rows), classes);
            const Full p{mean.data(),
                         mean_low.data(),
                         packed.data(),
                         norm.data(),
                         static_cast<int64_t>(classes),
                         static_cast<int64_t>(size)};
            nb::gil_scoped_release release;
            return full_log_likelihood(view, p, checked.request());
        },
        "x"_a, "mean"_a.noconvert(), "mean_low"_a.noconvert(), "packed"_a.noconvert(), "norm"_a.noconvert(), "output"_a,
        "more"_a.noconvert().none(), "out"_a);
}

}  // namespace suffice

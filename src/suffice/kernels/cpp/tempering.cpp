// Log-loss of tempered posteriors, and its gradient.
#include <algorithm>
#include <cmath>

#include "binding.hpp"
#include "kernels.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

constexpr int64_t STEP = 512;     // rows whose sums are added together
constexpr double SMALL = 1e-290;  // products above it have all their digits
constexpr int64_t GROUP = 32;     // rows whose exponentials are computed together

// log p = log_share + log((1 - share) q + share prior) of the label of each row, where q is the softmax of
// slope z + offset. Sums of a block: the loss, and its derivatives by slope, offsets and log share.
struct Tempering {
    const double *z, *offset, *weights, *prior;
    const int64_t *codes;
    int64_t classes;
    double slope, share;
};

// log((1 - share) q + share prior) of a row, and the parts of both terms in the sum.
struct Mixture {
    double log, from_model, from_noise;
};

Mixture mixture(const Tempering &t, int64_t row, double q, double log_q) {
    const double model = (1 - t.share) * q, noise = t.share * t.prior[row], sum = model + noise;
    if (sum > SMALL) return {std::log(sum), model / sum, noise / sum};
    const double a = std::log1p(-t.share) + log_q, b = std::log(t.share) + std::log(t.prior[row]);
    const double log = std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
    return {log, std::exp(a - log), std::exp(b - log)};
}

// Adds rows first..last-1 to the sums; `part` holds classes x (last - first) numbers.
void add_rows(const Tempering &t, int64_t first, int64_t last, double *part, double *sums) {
    const int64_t n = t.classes;
    for (int64_t i = first; i < last; ++i) {
        const double *z = t.z + i * n;
        double *to = part + (i - first) * n, top = -HUGE_VAL;
        for (int64_t k = 0; k < n; ++k) to[k] = t.slope * z[k] + t.offset[k], top = std::max(top, to[k]);
        for (int64_t k = 0; k < n; ++k) to[k] -= top;
    }
    double labels[GROUP];
    for (int64_t i = first; i < last; ++i) labels[i - first] = part[(i - first) * n + t.codes[i]];
    kernels().posterior.exponentiate((last - first) * n, part);
    for (int64_t i = first; i < last; ++i) {
        const double *z = t.z + i * n, *e = part + (i - first) * n;
        const int64_t own = t.codes[i];
        double total = 0;
        for (int64_t k = 0; k < n; ++k) total += e[k];
        double pull = t.weights[i];
        if (t.share > 0) {
            const Mixture p = mixture(t, i, e[own] / total, labels[i - first] - std::log(total));
            sums[0] -= t.weights[i] * p.log;
            sums[n + 2] += t.weights[i] * (p.from_model * t.share / (1 - t.share) - p.from_noise);
            pull *= p.from_model;
        } else sums[0] -= pull * (labels[i - first] - std::log(total));
        const double scale = pull / total;
        double by_slope = -pull * z[own];
        for (int64_t k = 0; k < n; ++k) {
            by_slope += scale * e[k] * z[k];
            sums[2 + k] += scale * e[k];
        }
        sums[1] += by_slope;
        sums[2 + own] -= pull;
    }
}

}  // namespace

void bind_tempering(nb::module_ &m) {
    m.def(
        "tempered_loss",
        [](Table z, Codes codes, Vector weights, Vector prior, double slope, Vector offset, double share, Weights out) {
            const size_t rows = z.shape(0), classes = z.shape(1);
            require(codes.shape(0) == rows && weights.shape(0) == rows && prior.shape(0) == rows &&
                        offset.shape(0) == classes && out.shape(0) == classes + 3 && classes > 0,
                    "arrays must have an entry for each row or class");
            bool inside = true;
            for (size_t i = 0; i < rows; ++i)
                inside &= codes.data()[i] >= 0 && codes.data()[i] < static_cast<int64_t>(classes);
            require(inside, "a code is outside the classes");
            nb::gil_scoped_release release;
            const Tempering t{z.data(),     offset.data(), weights.data(),
                              prior.data(), codes.data(),  static_cast<int64_t>(classes),
                              slope,        share};
            const int64_t n = static_cast<int64_t>(rows), blocks = (n + STEP - 1) / STEP;
            const size_t width = classes + 3;
            std::vector<double> sums(static_cast<size_t>(blocks) * width, 0.0);
            for_tasks(
                blocks, [&] { return std::vector<double>(GROUP * classes); },
                [&](int64_t i, std::vector<double> &part) {
                    const int64_t end = std::min(n, (i + 1) * STEP);
                    for (int64_t first = i * STEP; first < end; first += GROUP)
                        add_rows(t, first, std::min(end, first + GROUP), part.data(), sums.data() + i * width);
                });
            std::fill_n(out.data(), width, 0.0);
            for (int64_t i = 0; i < blocks; ++i)
                for (size_t j = 0; j < width; ++j) out.data()[j] += sums[i * width + j];
        },
        "z"_a.noconvert(), "codes"_a.noconvert(), "weights"_a.noconvert(), "prior"_a.noconvert(), "slope"_a,
        "offset"_a.noconvert(), "share"_a, "out"_a.noconvert());
}

}  // namespace suffice

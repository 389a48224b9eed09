// Bayes' rule: posteriors, evidence and decisions from log p(x, y).
#include "posterior_request.hpp"

namespace suffice {

CheckedRequest::CheckedRequest(int output, const Vector &offset, nb::handle out, size_t rows, size_t classes)
    : request_{} {
    require(output >= 0 && output <= static_cast<int>(PosteriorOutput::decision), "unknown output");
    require(!offset.is_valid() || offset.shape(0) == classes, "offset must have an entry for each class");
    request_.output = static_cast<PosteriorOutput>(output);
    request_.offset = or_null(offset);
    const bool whole = request_.output == PosteriorOutput::decision,
               one = whole || request_.output == PosteriorOutput::evidence;
    nb::ndarray<nb::c_contig, nb::device::cpu> found;
    require(nb::try_cast(out, found, false), "out must be a contiguous, writable array");
    require(found.ndim() == (one ? 1 : 2) && found.shape(0) == rows && (one || found.shape(1) == classes),
            "out must have the shape rows, or rows x classes");
    const bool single = !one && found.dtype() == nb::dtype<float>();
    require(single || found.dtype() == (whole ? nb::dtype<int64_t>() : nb::dtype<double>()), "out has the wrong type");
    held_ = nb::ndarray<nb::device::cpu>(found);
    if (whole) request_.codes = static_cast<int64_t *>(found.data());
    else if (single) request_.single = static_cast<float *>(found.data());
    else request_.out = static_cast<double *>(found.data());
}

void bind_posterior(nb::module_ &m) {
    m.def(
        "write_posterior",
        [](Table joint, int output, nb::object out) {
            const auto rows = static_cast<int64_t>(joint.shape(0)), classes = static_cast<int64_t>(joint.shape(1));
            const CheckedRequest checked(output, Vector(), out, joint.shape(0), joint.shape(1));
            nb::gil_scoped_release release;
            const int64_t step = std::max<int64_t>(TILE, (1 << 14) / std::max<int64_t>(classes, 1) / TILE * TILE);
            return score_blocks(rows, step, (classes + 3) * TILE,
                                [&](int64_t first, int64_t last, double *tile, int64_t *invalid_row) {
                                    kernels().posterior.posterior(classes, first, last, joint.data(), checked.request(),
                                                                  tile, invalid_row);
                                });
        },
        "joint"_a.noconvert(), "output"_a, "out"_a);
    m.def(
        "add_to_rows",
        [](Vector offset, Output rows) {
            const int64_t classes = rows.shape(1);
            require(offset.shape(0) == rows.shape(1), "offset must have an entry for each class");
            nb::gil_scoped_release release;
            for_blocks(
                rows.shape(0), std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(classes, 1)), [] { return 0; },
                [&](int64_t first, int64_t last, int) {
                    kernels().posterior.add_to_rows(classes, first, last, offset.data(), rows.data());
                });
        },
        "offset"_a.noconvert(), "rows"_a.noconvert());
}

}  // namespace suffice

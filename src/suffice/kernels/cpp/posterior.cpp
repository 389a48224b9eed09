// Bayes' rule: posteriors, evidence and decisions from log p(x, y).
#include "finish.hpp"

namespace suffice {

Asked::Asked(int answer, const Vector &offset, nb::handle out, size_t rows, size_t classes) : finish_{} {
    require(answer >= 0 && answer <= static_cast<int>(Answer::decision), "there is no such answer");
    require(!offset.is_valid() || offset.shape(0) == classes, "offset must have an entry for each class");
    finish_.answer = static_cast<Answer>(answer);
    finish_.offset = or_null(offset);
    const bool whole = finish_.answer == Answer::decision, one = whole || finish_.answer == Answer::evidence;
    nb::ndarray<nb::c_contig, nb::device::cpu> found;
    require(nb::try_cast(out, found, false), "out must be a contiguous array that can be written");
    require(found.ndim() == (one ? 1 : 2) && found.shape(0) == rows && (one || found.shape(1) == classes),
            "out must be rows, or rows x classes");
    const bool single = !one && found.dtype() == nb::dtype<float>();
    require(single || found.dtype() == (whole ? nb::dtype<int64_t>() : nb::dtype<double>()), "out has another type");
    held_ = nb::ndarray<nb::device::cpu>(found);
    if (whole) finish_.codes = static_cast<int64_t *>(found.data());
    else if (single) finish_.single = static_cast<float *>(found.data());
    else finish_.out = static_cast<double *>(found.data());
}

void bind_posterior(nb::module_ &m) {
    m.def(
        "answer",
        [](Table joint, int answer, nb::object out) {
            const auto rows = static_cast<int64_t>(joint.shape(0)), classes = static_cast<int64_t>(joint.shape(1));
            const Asked asked(answer, Vector(), out, joint.shape(0), joint.shape(1));
            nb::gil_scoped_release release;
            const int64_t step = std::max<int64_t>(TILE, (1 << 14) / std::max<int64_t>(classes, 1) / TILE * TILE);
            return answered(
                rows, step, (classes + 3) * TILE, [&](int64_t first, int64_t last, double *tile, int64_t *lost) {
                    kernels().posterior.answer(classes, first, last, joint.data(), asked.finish(), tile, lost);
                });
        },
        "joint"_a.noconvert(), "answer"_a, "out"_a);
    m.def(
        "add_to_rows",
        [](Vector offset, Output rows) {
            const int64_t classes = rows.shape(1);
            require(offset.shape(0) == rows.shape(1), "offset must have an entry for each class");
            nb::gil_scoped_release release;
            apart(
                rows.shape(0), std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(classes, 1)), [] { return 0; },
                [&](int64_t first, int64_t last, int) {
                    kernels().posterior.add_to_rows(classes, first, last, offset.data(), rows.data());
                });
        },
        "offset"_a.noconvert(), "rows"_a.noconvert());
}

}  // namespace suffice

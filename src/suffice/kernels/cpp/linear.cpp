// Scores that are linear in x.
#include <atomic>

#include "posterior_request.hpp"

namespace suffice {
namespace {

// Reorders classes x columns into the layout of the loops: strips of classes.
std::vector<double> in_strips(const Table &table) {
    const int64_t classes = static_cast<int64_t>(table.shape(0)), d = static_cast<int64_t>(table.shape(1));
    std::vector<double> out;
    out.reserve(classes * d);
    for (int64_t s = 0; s < strips_of(classes); ++s)
        for (int64_t j = 0; j < d; ++j)
            for (int64_t k = strip_start(s, classes); k < strip_start(s + 1, classes); ++k)
                out.push_back(table.data()[k * d + j]);
    return out;
}

}  // namespace

void bind_linear(nb::module_ &m) {
    m.def(
        "linear_scores",
        [](nb::object x, Table coef, Vector offset, Vector origin, Table zero, std::optional<double> threshold,
           int output, Vector more, nb::object out) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const size_t classes = coef.shape(0), d = static_cast<size_t>(view.columns);
            require_shape(coef, classes, d);
            require(offset.shape(0) == classes, "offset must have an entry for each class");
            require(!origin.is_valid() || origin.shape(0) == d, "origin must have an entry for each column");
            if (zero.is_valid()) require_shape(zero, classes, d);
            const CheckedRequest checked(output, more, out, static_cast<size_t>(view.rows), classes);
            std::atomic<uint32_t> flags{0};
            int64_t invalid_row;
            {
                nb::gil_scoped_release release;
                const std::vector<double> strips = in_strips(coef),
                                          zeros = zero.is_valid() ? in_strips(zero) : std::vector<double>();
                const LinearForm p{strips.data(),
                                   offset.data(),
                                   or_null(origin),
                                   zero.is_valid() ? zeros.data() : nullptr,
                                   threshold ? &*threshold : nullptr,
                                   static_cast<int64_t>(classes)};
                invalid_row = score_blocks(view.rows, 1024, static_cast<int64_t>(d + classes + 3) * TILE,
                                           [&](int64_t first, int64_t last, double *buffer, int64_t *part_row) {
                                               flags |= kernels().linear.linear(view, p, first, last, buffer,
                                                                                checked.request(), part_row);
                                           });
            }
            return nb::make_tuple(flags.load(), invalid_row);
        },
        "x"_a, "coef"_a.noconvert(), "offset"_a.noconvert(), "origin"_a.noconvert().none(), "zero"_a.noconvert().none(),
        "threshold"_a.none(), "output"_a, "more"_a.noconvert().none(), "out"_a);
}

}  // namespace suffice

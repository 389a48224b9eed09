// Weighted column sums of each class.
#include <algorithm>

#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

void class_sums(const Matrix &x, const Membership &m, double *total) {
    struct Part {
        std::vector<double> buffer, total;
    };
    const int64_t cells = m.classes * x.columns, step = block_rows(m.classes);
    const Kernels &run = kernels();
    in_order((x.rows + step - 1) / step, 8 * cells,
             [&] { return Part{std::vector<double>(TILE * x.columns), std::vector<double>(cells)}; },
             [&](int64_t block, Part &part) {
                 std::fill(part.total.begin(), part.total.end(), 0.0);
                 run.sums.sums(x, m, block * step, std::min(x.rows, (block + 1) * step), part.buffer.data(),
                          part.total.data());
             },
             [&](Part &part) {
                 for (int64_t i = 0; i < cells; ++i) total[i] += part.total[i];
             });
}

}  // namespace

void bind_sums(nb::module_ &m) {
    m.def(
        "class_sums",
        [](nb::object x, Codes codes, Table soft, Vector weights, Output total) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const Membership who = membership(view, codes, soft, weights, total.shape(0));
            require_shape(total, total.shape(0), static_cast<size_t>(view.columns));
            nb::gil_scoped_release release;
            class_sums(view, who, total.data());
        },
        "x"_a, "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "total"_a.noconvert());
}

}  // namespace suffice

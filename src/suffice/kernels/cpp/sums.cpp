// Per-class weighted column sums.
#include <algorithm>

#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

// Columns processed together: the totals of each thread stay within a few MB.
int64_t slab_columns(int64_t classes, int64_t columns) {
    return std::min(columns, std::max<int64_t>(64, (int64_t{1} << 19) / std::max<int64_t>(classes, 1)));
}

// Adds to the totals (classes x columns); returns flags about the values.
uint32_t class_sums(const Matrix &x, const Membership &m, const CellRule &rule, bool with_flags, double *total) {
    struct Part {
        std::vector<double> buffer, total;
        uint32_t flags;
    };
    const int64_t step = block_rows(m.classes), slab = slab_columns(m.classes, x.columns);
    const Kernels &run = kernels();
    uint32_t flags = 0;
    for (int64_t first = 0; first < x.columns; first += slab) {
        const int64_t columns = std::min(slab, x.columns - first), cells = m.classes * columns;
        reduce_blocks((x.rows + step - 1) / step, 8 * cells,
                      [&] { return Part{std::vector<double>(TILE * columns), std::vector<double>(cells), 0}; },
                      [&](int64_t block, Part &part) {
                          std::fill(part.total.begin(), part.total.end(), 0.0);
                          part.flags =
                              run.sums.sums(x, m, rule, with_flags, block * step, std::min(x.rows, (block + 1) * step),
                                            first, columns, part.buffer.data(), part.total.data());
                      },
                      [&](Part &part) {
                          flags |= part.flags;
                          for (int64_t k = 0; k < m.classes; ++k)
                              for (int64_t j = 0; j < columns; ++j)
                                  total[k * x.columns + first + j] += part.total[k * columns + j];
                      });
    }
    return flags;
}

}  // namespace

CellRule cell_rule(int cell, double threshold) {
    require(cell >= 0 && cell <= 2, "the cell rule must be 0 (value), 1 (above a threshold) or 2 (missing)");
    return {static_cast<CellCount>(cell), threshold};
}

void bind_sums(nb::module_ &m) {
    m.def(
        "class_sums",
        [](nb::object x, Codes codes, Table soft, Vector weights, int cell, double threshold, bool with_flags,
           Output total) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const Membership members = membership(view, codes, soft, weights, total.shape(0));
            const CellRule rule = cell_rule(cell, threshold);
            require_shape(total, total.shape(0), static_cast<size_t>(view.columns));
            nb::gil_scoped_release release;
            return class_sums(view, members, rule, with_flags, total.data());
        },
        "x"_a, "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "cell"_a,
        "threshold"_a, "with_flags"_a, "total"_a.noconvert());
}

}  // namespace suffice

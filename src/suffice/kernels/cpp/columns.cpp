// Some columns of a matrix as a matrix.
#include "binding.hpp"
#include "threads.hpp"

namespace suffice {

void bind_columns(nb::module_ &m) {
    m.def(
        "take_columns",
        [](Table x, Codes columns, Output out) {
            const auto rows = static_cast<int64_t>(x.shape(0)), width = static_cast<int64_t>(x.shape(1));
            const auto count = static_cast<int64_t>(columns.shape(0));
            require_shape(out, x.shape(0), columns.shape(0));
            for (int64_t j = 0; j < count; ++j)
                require(columns.data()[j] >= 0 && columns.data()[j] < width, "a column is outside the matrix");
            nb::gil_scoped_release release;
            for_blocks(
                rows, 1024, [] { return 0; },
                [&](int64_t first, int64_t last, int) {
                    for (int64_t i = first; i < last; ++i)
                        for (int64_t j = 0; j < count; ++j)
                            out.data()[i * count + j] = x.data()[i * width + columns.data()[j]];
                });
        },
        "x"_a.noconvert(), "columns"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace suffice

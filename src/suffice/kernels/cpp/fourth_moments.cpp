// Sums of products of up to four deviations, moved to another point.
#include <algorithm>

#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

using Square = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Totals = nb::ndarray<double, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

constexpr int64_t TASK_CELLS = 1 << 14;  // cells of a task, at least

}  // namespace

void bind_fourth_moments(nb::module_ &m) {
    m.def(
        "add_moved",
        [](Totals out, double sign, Vector weight, Vector weight_low, Table shift, Table shift_low, Square scatter,
           Square scatter_low, Square cubic, Square cubic_low, Square quartic, Square quartic_low) {
            const size_t classes = shift.shape(0), d = shift.shape(1), matrices = out.shape(1);
            require(weight.shape(0) == classes && weight_low.shape(0) == classes,
                    "weight must have one entry for each class");
            require_shape(shift_low, classes, d);
            for (const Square &each : {scatter, scatter_low, cubic, cubic_low, quartic, quartic_low})
                require(each.shape(0) == classes && each.shape(1) == d && each.shape(2) == d,
                        "products must have one matrix for each class");
            require(out.shape(0) == 6 && (matrices == classes || matrices == 1) && out.shape(2) == d &&
                        out.shape(3) == d,
                    "out must have six arrays of one matrix, or of one for each class");
            nb::gil_scoped_release release;
            const int64_t columns = static_cast<int64_t>(d), square = columns * columns;
            const int64_t cells = std::max<int64_t>(static_cast<int64_t>(classes) * columns, 1);
            const int64_t step = std::max<int64_t>(8, TASK_CELLS / cells);
            const auto make = [&] { return std::vector<double>(2 * (std::min(step, columns) + 1) * columns); };
            for_blocks(columns, step, make, [&](int64_t first, int64_t last, std::vector<double> &buffer) {
                for (size_t k = 0; k < classes; ++k) {
                    const size_t row = k * d, at = k * d * d;
                    const FourthMoments from{columns,
                                             weight.data()[k],
                                             weight_low.data()[k],
                                             shift.data() + row,
                                             shift_low.data() + row,
                                             scatter.data() + at,
                                             scatter_low.data() + at,
                                             cubic.data() + at,
                                             cubic_low.data() + at,
                                             quartic.data() + at,
                                             quartic_low.data() + at};
                    double *const to = out.data() + (matrices == 1 ? 0 : at);
                    const int64_t apart = static_cast<int64_t>(matrices) * square;
                    const FourthTotals totals{
                        to, to + apart, to + 2 * apart, to + 3 * apart, to + 4 * apart, to + 5 * apart};
                    kernels().fourth_moments.add_moved(from, first, last, sign, buffer.data(), totals);
                }
            });
        },
        "out"_a.noconvert(), "sign"_a, "weight"_a.noconvert(), "weight_low"_a.noconvert(), "shift"_a.noconvert(),
        "shift_low"_a.noconvert(), "scatter"_a.noconvert(), "scatter_low"_a.noconvert(), "cubic"_a.noconvert(),
        "cubic_low"_a.noconvert(), "quartic"_a.noconvert(), "quartic_low"_a.noconvert());
}

}  // namespace suffice

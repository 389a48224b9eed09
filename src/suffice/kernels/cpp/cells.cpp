// Cells of numbers, and the numbers that are in a cell.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cell_rows.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

using CellOutput = nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Narrow = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Lowers `low` and raises `high` (width) to the numbers in each cell, of rows that are not absent. Column j of `x` has
// the cells of column column[j].
void cell_ends(const Matrix &x, const CellRows &cells, const int64_t *column, const uint8_t *absent, int64_t width,
               double *low, double *high) {
    const Kernels &run = kernels();
    constexpr int64_t ROWS = 256;
    const int64_t step = 32 * ROWS;
    struct Part {
        std::vector<double> low, high;
        Buffer numbers;
        std::vector<int64_t> keys;
    };
    reduce_blocks((x.rows + step - 1) / step, 16 * width,
                  [&] {
                      return Part{std::vector<double>(width), std::vector<double>(width), Buffer(ROWS * x.columns),
                                  std::vector<int64_t>(ROWS * x.columns)};
                  },
                  [&](int64_t block, Part &part) {
                      std::fill(part.low.begin(), part.low.end(), HUGE_VAL);
                      std::fill(part.high.begin(), part.high.end(), -HUGE_VAL);
                      const int64_t end = std::min(x.rows, (block + 1) * step);
                      for (int64_t first = block * step; first < end; first += ROWS) {
                          const int64_t rows = std::min(ROWS, end - first);
                          run.bins.keys(x, first, rows, 0, x.columns, nullptr, 0, part.numbers.data(),
                                        part.keys.data());
                          for (int64_t i = 0; i < rows; ++i) {
                              if (absent && absent[first + i]) continue;
                              const double *const number = part.numbers.data() + i * x.columns;
                              for (int64_t j = 0; j < x.columns; ++j) {
                                  const int32_t cell = cells.row(first + i)[column[j]];
                                  require(cell >= 0 && cell < width, "a cell is outside the tables");
                                  part.low[cell] = number[j] < part.low[cell] ? number[j] : part.low[cell];
                                  part.high[cell] = number[j] > part.high[cell] ? number[j] : part.high[cell];
                              }
                          }
                      }
                  },
                  [&](const Part &part) {
                      for (int64_t c = 0; c < width; ++c) {
                          low[c] = std::min(low[c], part.low[c]);
                          high[c] = std::max(high[c], part.high[c]);
                      }
                  });
}

}  // namespace

void bind_cells(nb::module_ &m) {
    m.def(
        "interval_cells",
        [](nb::handle x, Table cuts, Narrow first, Narrow missing, Codes columns, CellOutput out) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const auto d = static_cast<size_t>(view.columns);
            require(cuts.shape(1) == d && first.shape(0) == d && missing.shape(0) == d && columns.shape(0) == d &&
                        out.shape(0) == static_cast<size_t>(view.rows),
                    "arrays must have an entry for each row or column");
            for (size_t j = 0; j < d; ++j)
                require(columns.data()[j] >= 0 && columns.data()[j] < static_cast<int64_t>(out.shape(1)),
                        "a column is outside the cells");
            const Intervals intervals{cuts.data(), first.data(), missing.data(), columns.data(),
                                      static_cast<int64_t>(cuts.shape(0))};
            const Kernels &run = kernels();
            nb::gil_scoped_release release;
            for_blocks(
                view.rows, 1024, [&] { return Buffer((TILE + 1) * view.columns); },
                [&](int64_t begin, int64_t end, Buffer &buffer) {
                    run.pairs.cells(view, intervals, begin, end, static_cast<int64_t>(out.shape(1)), buffer.data(),
                                    out.data());
                });
        },
        "x"_a, "cuts"_a.noconvert(), "first"_a.noconvert(), "missing"_a.noconvert(), "columns"_a.noconvert(),
        "out"_a.noconvert());

    m.def(
        "cell_ends",
        [](nb::handle x, Cells cells, Codes columns, Bytes absent, Weights low, Weights high) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const auto n = static_cast<size_t>(view.rows);
            require(cells.shape(0) == n && columns.shape(0) == static_cast<size_t>(view.columns) &&
                        (!absent.is_valid() || absent.shape(0) == n) && low.shape(0) == high.shape(0),
                    "arrays must have an entry for each row, column or cell");
            for (size_t j = 0; j < columns.shape(0); ++j)
                require(columns.data()[j] >= 0 && columns.data()[j] < static_cast<int64_t>(cells.shape(1)),
                        "a column is outside the cells");
            nb::gil_scoped_release release;
            cell_ends(view, rows_of(cells), columns.data(), absent.is_valid() ? absent.data() : nullptr,
                      static_cast<int64_t>(low.shape(0)), low.data(), high.data());
        },
        "x"_a, "cells"_a.noconvert(), "columns"_a.noconvert(), "absent"_a.noconvert().none(), "low"_a.noconvert(),
        "high"_a.noconvert());
}

}  // namespace suffice

// Value ranges of columns of categories, per-class counts of their levels, and row sums of table entries.
#include <algorithm>
#include <cmath>
#include <utility>

#include <nanobind/stl/pair.h>

#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

using Flags = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr int64_t LARGE = int64_t{1} << 20;  // tables with more cells are not copied for each thread

void value_ranges(const Matrix &x, const Ranges &total) {
    struct Part {
        std::vector<double> low, high;
        std::vector<uint8_t> missing, parts;
    };
    const Kernels &run = kernels();
    const int64_t d = x.columns, step = 8192;
    for (int64_t j = 0; j < d; ++j) {
        total.low[j] = HUGE_VAL;
        total.high[j] = -HUGE_VAL;
        total.missing[j] = total.parts[j] = 0;
    }
    reduce_blocks((x.rows + step - 1) / step, 18 * d,
                  [&] {
                      return Part{std::vector<double>(d), std::vector<double>(d), std::vector<uint8_t>(d),
                                  std::vector<uint8_t>(d)};
                  },
                  [&](int64_t block, Part &part) {
                      std::fill(part.low.begin(), part.low.end(), HUGE_VAL);
                      std::fill(part.high.begin(), part.high.end(), -HUGE_VAL);
                      std::fill(part.missing.begin(), part.missing.end(), uint8_t{0});
                      std::fill(part.parts.begin(), part.parts.end(), uint8_t{0});
                      const Ranges found{part.low.data(), part.high.data(), part.missing.data(), part.parts.data()};
                      run.counts.ranges(x, block * step, std::min(x.rows, (block + 1) * step), found);
                  },
                  [&](Part &part) {
                      for (int64_t j = 0; j < d; ++j) {
                          total.low[j] = std::min(total.low[j], part.low[j]);
                          total.high[j] = std::max(total.high[j], part.high[j]);
                          total.missing[j] |= part.missing[j];
                          total.parts[j] |= part.parts[j];
                      }
                  });
}

// total + total_low (classes x cells, zero on entry) = weight of the rows of each class and table cell. Merging a block
// costs as much as the table has cells, so blocks have at least as many numbers; a table too large for that is filled
// in one block.
void class_counts(const Matrix &x, const Membership &m, const TableLayout &p, double *total, double *total_low) {
    const Kernels &run = kernels();
    const int64_t cells = m.classes * p.cells, d = std::max<int64_t>(x.columns, 1);
    const bool large = cells > LARGE;
    const int64_t step = large ? std::max<int64_t>(x.rows, 1) : std::max<int64_t>(block_rows(m.classes), 2 * cells / d);
    if (m.codes && !m.weights && !large) {
        struct Part {
            std::vector<int32_t> buffer;
            std::vector<uint32_t> total;
        };
        reduce_blocks((x.rows + step - 1) / step, 4 * cells,
                      [&] { return Part{std::vector<int32_t>(COUNT_TILE * d), std::vector<uint32_t>(cells)}; },
                      [&](int64_t block, Part &part) {
                          std::fill(part.total.begin(), part.total.end(), 0);
                          run.counts.count(x, m, p, block * step, std::min(x.rows, (block + 1) * step),
                                           part.buffer.data(), part.total.data());
                      },
                      [&](Part &part) {
                          for (int64_t i = 0; i < cells; ++i) total[i] += part.total[i];
                      });
        return;
    }
    if (large) {
        std::vector<int32_t> buffer(COUNT_TILE * d);
        run.counts.weigh(x, m, p, 0, x.rows, buffer.data(), total, total_low);
    } else {
        struct Part {
            std::vector<int32_t> buffer;
            std::vector<double> total, total_low;
        };
        reduce_blocks((x.rows + step - 1) / step, 16 * cells,
                      [&] {
                          return Part{std::vector<int32_t>(COUNT_TILE * d), std::vector<double>(cells),
                                      std::vector<double>(cells)};
                      },
                      [&](int64_t block, Part &part) {
                          std::fill(part.total.begin(), part.total.end(), 0.0);
                          std::fill(part.total_low.begin(), part.total_low.end(), 0.0);
                          run.counts.weigh(x, m, p, block * step, std::min(x.rows, (block + 1) * step),
                                           part.buffer.data(), part.total.data(), part.total_low.data());
                      },
                      [&](Part &part) {
                          for (int64_t i = 0; i < cells; ++i) {
                              const double old = total[i], sum = old + part.total[i], t = sum - old;
                              total_low[i] += ((old - (sum - t)) + (part.total[i] - t)) + part.total_low[i];
                              total[i] = sum;
                          }
                      });
    }
    for (int64_t i = 0; i < cells; ++i) {  // normalise: the high part holds all leading digits
        const double sum = total[i] + total_low[i];
        total_low[i] -= sum - total[i];
        total[i] = sum;
    }
}

// out (rows x classes) = sum over columns of the entries of `table` (cells x step) at the table cells of a row.
void table_sums(const Matrix &x, const TableLayout &p, const double *table, int64_t step, int64_t classes,
                double *out) {
    const Kernels &run = kernels();
    for_blocks(
        x.rows, 2048, [&] { return std::vector<int32_t>(COUNT_TILE * x.columns); },
        [&](int64_t first, int64_t last, std::vector<int32_t> &buffer) {
            run.counts.table_sums(x, p, table, step, classes, first, last, buffer.data(), out);
        });
}

// Smallest and largest code; (0, -1) if there are no codes.
std::pair<int64_t, int64_t> code_range(const int64_t *codes, int64_t count) {
    if (count == 0) return {0, -1};
    std::pair<int64_t, int64_t> range{codes[0], codes[0]};
    const int64_t step = 1 << 16;
    reduce_blocks((count + step - 1) / step, 16, [] { return std::pair<int64_t, int64_t>(); },
                  [&](int64_t block, std::pair<int64_t, int64_t> &part) {
                      int64_t low = codes[block * step], high = low;
                      for (int64_t i = block * step; i < std::min(count, (block + 1) * step); ++i) {
                          low = std::min(low, codes[i]);
                          high = std::max(high, codes[i]);
                      }
                      part = {low, high};
                  },
                  [&](const std::pair<int64_t, int64_t> &part) {
                      range = {std::min(range.first, part.first), std::max(range.second, part.second)};
                  });
    return range;
}

// Adds the count of each of the codes 0..size-1 to `total`; returns the largest code beyond them, or -1.
int64_t code_counts(const int64_t *codes, int64_t count, int64_t size, int64_t *total) {
    // Successive codes are often equal. If there are few codes, four tables are counted in turn, so that increments of
    // one counter do not wait for each other.
    constexpr int64_t SIDES = 4;
    struct Part {
        std::vector<uint32_t> counts;
        int64_t beyond;
    };
    const int64_t apart = size <= 4096 ? size : 0, step = std::max<int64_t>(1 << 16, 8 * size);
    int64_t beyond = -1;
    reduce_blocks((count + step - 1) / step, 4 * SIDES * size,
                  [&] { return Part{std::vector<uint32_t>(size + (SIDES - 1) * apart), -1}; },
                  [&](int64_t block, Part &part) {
                      std::fill(part.counts.begin(), part.counts.end(), 0);
                      part.beyond = -1;
                      uint32_t *const counts = part.counts.data();
                      const auto add = [&](int64_t code, uint32_t *to) {
                          if (static_cast<uint64_t>(code) < static_cast<uint64_t>(size)) ++to[code];
                          else part.beyond = std::max(part.beyond, code);
                      };
                      const int64_t last = std::min(count, (block + 1) * step);
                      int64_t i = block * step;
                      for (; i + SIDES <= last; i += SIDES)
                          for (int64_t l = 0; l < SIDES; ++l) add(codes[i + l], counts + l * apart);
                      for (; i < last; ++i) add(codes[i], counts);
                  },
                  [&](const Part &part) {
                      beyond = std::max(beyond, part.beyond);
                      for (size_t i = 0; i < part.counts.size(); ++i) {
                          uint64_t sum = static_cast<uint64_t>(total[i % size]);  // the caller's totals may overflow
                          total[i % size] = static_cast<int64_t>(sum + part.counts[i]);
                      }
                  });
    return beyond;
}

// Owns the memory of a `TableLayout`: where the cells of each column begin.
class LayoutStore {
  public:
    LayoutStore(const Matrix &x, const Numbers &low, const Numbers &size) : start_(size.shape(0)) {
        require(low.shape(0) == static_cast<size_t>(x.columns) && size.shape(0) == low.shape(0),
                "low and size must have an entry for each column");
        int64_t at = 0;
        for (size_t j = 0; j < start_.size(); ++j) {
            require(size.data()[j] >= 0 && size.data()[j] < (int64_t{1} << 30), "a column has too many levels");
            start_[j] = at;
            at += size.data()[j] + 2;
        }
        require(at < (int64_t{1} << 31), "the columns have too many levels");
        view_ = {low.data(), size.data(), start_.data(), at};
    }
    const TableLayout &view() const { return view_; }

  private:
    std::vector<int64_t> start_;
    TableLayout view_;
};

}  // namespace

void bind_counts(nb::module_ &m) {
    m.def(
        "value_ranges",
        [](nb::object x, Weights low, Weights high, Flags missing, Flags parts) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const auto d = static_cast<size_t>(view.columns);
            require(low.shape(0) == d && high.shape(0) == d && missing.shape(0) == d && parts.shape(0) == d,
                    "an array must have one entry for each column");
            nb::gil_scoped_release release;
            value_ranges(view, {low.data(), high.data(), missing.data(), parts.data()});
        },
        "x"_a, "low"_a.noconvert(), "high"_a.noconvert(), "missing"_a.noconvert(), "parts"_a.noconvert());

    m.def(
        "code_range",
        [](Numbers codes) {
            nb::gil_scoped_release release;
            return code_range(codes.data(), static_cast<int64_t>(codes.shape(0)));
        },
        "codes"_a.noconvert());

    m.def(
        "code_counts",
        [](Numbers codes, nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> total) {
            nb::gil_scoped_release release;
            return code_counts(codes.data(), static_cast<int64_t>(codes.shape(0)), static_cast<int64_t>(total.shape(0)),
                               total.data());
        },
        "codes"_a.noconvert(), "total"_a.noconvert());

    m.def(
        "class_counts",
        [](nb::object x, Codes codes, Table soft, Vector weights, Numbers low, Numbers size, Output total,
           Output total_low) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const Membership members = membership(view, codes, soft, weights, total.shape(0));
            const LayoutStore layout(view, low, size);
            for (const Output &each : {total, total_low})
                require_shape(each, total.shape(0), static_cast<size_t>(layout.view().cells));
            nb::gil_scoped_release release;
            class_counts(view, members, layout.view(), total.data(), total_low.data());
        },
        "x"_a, "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(),
        "low"_a.noconvert(), "size"_a.noconvert(), "total"_a.noconvert(), "total_low"_a.noconvert());

    m.def(
        "table_sums",
        [](nb::object x, Numbers low, Numbers size, Table table, Output out) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const LayoutStore layout(view, low, size);
            const auto step = static_cast<int64_t>(table.shape(1)), classes = static_cast<int64_t>(out.shape(1));
            require(table.shape(0) == static_cast<size_t>(layout.view().cells), "table must have a row for each cell");
            require(step >= classes && (step == 1 || step == 2 || step == 4 || step == 8 || step % 16 == 0) &&
                        (step >= 16 || 2 * classes > step || step == 1),
                    "table must be padded to the width for its number of classes");
            require(out.shape(0) == static_cast<size_t>(view.rows), "out must be rows x classes");
            nb::gil_scoped_release release;
            table_sums(view, layout.view(), table.data(), step, classes, out.data());
        },
        "x"_a, "low"_a.noconvert(), "size"_a.noconvert(), "table"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace suffice

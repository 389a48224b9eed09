// Class sums and linear scores of sparse matrices.
#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>

#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

constexpr int64_t TABLES = int64_t{1} << 22;  // most entries in the separate totals of all blocks
constexpr int64_t FEW = 1 << 15;              // fewer stored cells than this are not worth a second thread
constexpr int64_t TOGETHER = 8;               // classes summed together if membership is soft

using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

int64_t lines(const Sparse &x) { return x.by_column ? x.columns : x.rows; }

int64_t bound(const Sparse &x, int64_t i) {
    return x.wide ? static_cast<const int64_t *>(x.bounds)[i] : static_cast<const int32_t *>(x.bounds)[i];
}

int64_t stored(const Sparse &x) { return bound(x, lines(x)); }

template <typename Index> bool are_bounds(const Index *bounds, int64_t count, int64_t cells) {
    bool falls = bounds[0] != 0 || static_cast<int64_t>(bounds[count]) > cells;
    for (int64_t i = 0; i < count; ++i) falls |= bounds[i + 1] < bounds[i];
    return !falls;
}

Sparse sparse(const Array &bounds, const Array &indices, const Array &values, int64_t rows, int64_t columns,
              bool by_column) {
    const bool wide = bounds.dtype() == nb::dtype<int64_t>();
    for (const Array &each : {bounds, indices, values}) require_aligned(each);
    require(indices.dtype() == bounds.dtype() && (wide || bounds.dtype() == nb::dtype<int32_t>()),
            "the indices and indptr of a sparse matrix must both be int32 or both int64");
    require(rows >= 0 && columns >= 0 && (wide || std::max(rows, columns) <= std::numeric_limits<int32_t>::max()),
            "the shape of a sparse matrix is too large for its index type");
    const Sparse x{bounds.data(), indices.data(), values.data(), type_of(values.dtype()),
                   wide,          by_column,      rows,          columns};
    require(static_cast<int64_t>(bounds.shape(0)) - 1 == lines(x), "indptr does not fit the shape");
    const auto cells = static_cast<int64_t>(std::min(indices.shape(0), values.shape(0)));
    require(wide ? are_bounds(static_cast<const int64_t *>(x.bounds), lines(x), cells)
                 : are_bounds(static_cast<const int32_t *>(x.bounds), lines(x), cells),
            "invalid sparse matrix: indptr decreases or exceeds the number of cells");
    return x;
}

void require_inside(uint32_t flags) {
    require(!(flags & FLAG_OUTSIDE), "invalid sparse matrix: an index is outside its shape");
}

// Rows (or columns) where pieces with about the same number of cells begin. Depends only on the matrix and `count`.
std::vector<int64_t> pieces(const Sparse &x, int64_t count) {
    std::vector<int64_t> out(count + 1, lines(x));
    int64_t line = 0;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t cell = stored(x) / count * i;
        while (line < lines(x) && bound(x, line) < cell) ++line;
        out[i] = line;
    }
    return out;
}

// Sorts rows by class, keeping their order; rows that do not count come last.
void group_rows(const Membership &m, int64_t rows, std::vector<int64_t> &starts, std::vector<int64_t> &order) {
    const auto group = [&](int64_t i) {
        const bool counts = m.codes[i] >= 0 && m.codes[i] < m.classes && (!m.weights || m.weights[i] > 0);
        return counts ? m.codes[i] : m.classes;
    };
    starts.assign(m.classes + 2, 0);
    for (int64_t i = 0; i < rows; ++i) ++starts[group(i) + 1];
    for (int64_t k = 0; k <= m.classes; ++k) starts[k + 1] += starts[k];
    order.resize(rows);
    std::vector<int64_t> next(starts.begin(), starts.end() - 1);
    for (int64_t i = 0; i < rows; ++i) order[next[group(i)]++] = i;
}

// Adds to the totals (classes x columns); returns flags about the values. The method depends only on the shape.
uint32_t sparse_sums(const Sparse &x, const Membership &m, const CellRule &rule, double *total) {
    const Kernels &run = kernels();
    const int64_t cells = stored(x), table = m.classes * x.columns;
    std::atomic<uint32_t> flags{0};
    const auto buffer = [&] { return std::vector<double>(CELLS + m.classes); };
    if (x.by_column) {  // one thread sums each column
        const std::vector<int64_t> at = pieces(x, std::clamp<int64_t>(cells / FEW, 1, 256));
        for_tasks(static_cast<int64_t>(at.size()) - 1, buffer, [&](int64_t i, std::vector<double> &part) {
            flags |= run.sparse.add_columns(x, m, rule, at[i], at[i + 1], part.data(), total);
        });
        return flags;
    }
    // Each block of rows has its own totals, which must be cleared and added to the final ones. Threads wait for each
    // other only once, at the end: on a busy machine more waiting would take longer than the sums.
    const int64_t blocks =
        std::min({int64_t{64}, TABLES / std::max<int64_t>(table, 1), cells / std::max(20 * table, FEW)});
    if (blocks > 1) {
        const std::vector<int64_t> at = pieces(x, blocks);
        const std::unique_ptr<double[]> own(new double[static_cast<size_t>(blocks * table)]);
        for_tasks(blocks, buffer, [&](int64_t i, std::vector<double> &part) {
            std::fill_n(own.get() + i * table, table, 0.0);
            flags |= run.sparse.add_rows(x, m, rule, nullptr, at[i], at[i + 1], 0, m.classes, part.data(),
                                         own.get() + i * table);
        });
        for_blocks(
            table, 1 << 14, [] { return 0; },
            [&](int64_t first, int64_t last, int) {
                for (int64_t i = 0; i < blocks; ++i)
                    for (int64_t j = first; j < last; ++j) total[j] += own[i * table + j];
            });
    } else if (cells <= FEW || m.classes < 2) {
        std::vector<double> part = buffer();
        flags |= run.sparse.add_rows(x, m, rule, nullptr, 0, x.rows, 0, m.classes, part.data(), total);
    } else if (m.codes) {  // one thread sums each class; the rows of the last group are only checked
        std::vector<int64_t> starts, order;
        group_rows(m, x.rows, starts, order);
        for_tasks(m.classes + 1, buffer, [&](int64_t k, std::vector<double> &part) {
            flags |= run.sparse.add_rows(x, m, rule, order.data(), starts[k], starts[k + 1], 0, m.classes, part.data(),
                                         total);
        });
    } else {
        for_tasks((m.classes + TOGETHER - 1) / TOGETHER, buffer, [&](int64_t i, std::vector<double> &part) {
            flags |= run.sparse.add_rows(x, m, rule, nullptr, 0, x.rows, i * TOGETHER,
                                         std::min(m.classes, (i + 1) * TOGETHER), part.data(), total);
        });
    }
    return flags;
}

uint32_t sparse_scores(const Sparse &x, const CellScores &s, const CellRule &rule, double *out) {
    const Kernels &run = kernels();
    std::atomic<uint32_t> flags{0};
    const std::vector<int64_t> at = pieces(x, std::clamp<int64_t>((stored(x) + x.rows) * s.classes / FEW, 1, 64));
    for_tasks(
        static_cast<int64_t>(at.size()) - 1, [&] { return std::vector<double>(CELLS + s.classes); },
        [&](int64_t i, std::vector<double> &part) {
            flags |= run.sparse.scores(x, s, rule, at[i], at[i + 1], part.data(), out);
        });
    return flags;
}

uint32_t check_indices(const Sparse &x) {
    const std::vector<int64_t> at = pieces(x, std::clamp<int64_t>(stored(x) / FEW, 1, 64));
    std::atomic<uint32_t> flags{0};
    for_tasks(
        static_cast<int64_t>(at.size()) - 1, [] { return 0; },
        [&](int64_t i, int) { flags |= kernels().sparse.check(x, at[i], at[i + 1]); });
    return flags;
}

}  // namespace

void bind_sparse(nb::module_ &m) {
    m.def(
        "sparse_sums",
        [](Array bounds, Array indices, Array values, int64_t rows, bool by_column, Codes codes, Table soft,
           Vector weights, int cell, double threshold, Output total) {
            const Sparse x = sparse(bounds, indices, values, rows, static_cast<int64_t>(total.shape(1)), by_column);
            Matrix shape{};
            shape.rows = rows;
            const Membership members = membership(shape, codes, soft, weights, total.shape(0));
            const CellRule rule = cell_rule(cell, threshold);
            uint32_t flags;
            {
                nb::gil_scoped_release release;
                flags = sparse_sums(x, members, rule, total.data());
            }
            require_inside(flags);
            return flags;
        },
        "bounds"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "rows"_a, "by_column"_a,
        "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "cell"_a,
        "threshold"_a, "total"_a.noconvert());

    m.def(
        "sparse_scores",
        [](Array bounds, Array indices, Array values, Vector offset, Table slope, Table zero, Flags never_more,
           Flags never_zero, Codes zeros, int cell, double threshold, bool missing, Output out) {
            const size_t classes = offset.shape(0), columns = slope.shape(0);
            const auto rows = static_cast<int64_t>(out.shape(0));
            const Sparse x = sparse(bounds, indices, values, rows, static_cast<int64_t>(columns), false);
            require_shape(slope, columns, classes);
            require_shape(out, static_cast<size_t>(rows), classes);
            if (zero.is_valid()) require_shape(zero, columns, classes);
            for (const Flags &each : {never_more, never_zero})
                if (each.is_valid()) require_shape(each, columns, classes);
            require(never_zero.is_valid() == zeros.is_valid() && (!zeros.is_valid() || zeros.shape(0) == classes),
                    "never_zero and zeros must be given together");
            const CellScores s{offset.data(),
                               slope.data(),
                               or_null(zero),
                               never_more.is_valid() ? never_more.data() : nullptr,
                               never_zero.is_valid() ? never_zero.data() : nullptr,
                               zeros.is_valid() ? zeros.data() : nullptr,
                               static_cast<int64_t>(classes),
                               missing};
            const CellRule rule = cell_rule(cell, threshold);
            uint32_t flags;
            {
                nb::gil_scoped_release release;
                flags = sparse_scores(x, s, rule, out.data());
            }
            require_inside(flags);
            return flags;
        },
        "bounds"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "offset"_a.noconvert(),
        "slope"_a.noconvert(), "zero"_a.noconvert().none(), "never_more"_a.noconvert().none(),
        "never_zero"_a.noconvert().none(), "zeros"_a.noconvert().none(), "cell"_a, "threshold"_a, "missing"_a,
        "out"_a.noconvert());

    m.def(
        "has_sorted_indices",
        [](Array bounds, Array indices, int64_t line_count, int64_t width) {
            const Sparse x = sparse(bounds, indices, indices, line_count, width, false);
            uint32_t flags;
            {
                nb::gil_scoped_release release;
                flags = check_indices(x);
            }
            require_inside(flags);
            return !(flags & FLAG_UNSORTED);
        },
        "bounds"_a.noconvert(), "indices"_a.noconvert(), "lines"_a, "width"_a);
}

}  // namespace suffice

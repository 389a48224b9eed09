// Passes that build scatter matrices.
#include <algorithm>
#include <cmath>

#include "binding.hpp"
#include "compensated.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

// Largest number of rows that centre_block writes for this membership.
int64_t centred_rows(const Membership &m, int64_t rows) { return (m.soft ? rows * m.classes : rows) + m.classes; }

// Centres one block of rows on its class means, for a matrix product that follows, and merges those means into the
// running ones (classes x columns; `weight` has one entry per class).
//
// Group k of `out` is rows offsets[k]..offsets[k+1]-1: sqrt(w) (x - mean) for its members, and one row sqrt(n_a n_b /
// (n_a + n_b)) (mean_b - mean_a) that joins the block to the blocks before it. The outer products of a group sum to the
// block's contribution to the scatter matrix of its class. The diagonal of that matrix is also summed here, in two
// doubles (classes x columns), to keep all its digits.
void centre_block(const Matrix &x, const Membership &m, double *weight, double *mean, double *mean_low, double *squares,
                  double *squares_low, int64_t *offsets, int64_t width, double *out) {
    const Kernels &run = kernels();
    const int64_t classes = m.classes, d = x.columns;
    std::vector<double> part(classes, 0.0), buffer(TILE * d), shift(mean, mean + classes * d), sum(classes * d, 0.0),
        low(classes * d), chunk(classes * d, 0.0);
    std::vector<int64_t> count(classes, 0), chunk_rows(classes, 0);

    const auto member = [&](int64_t row, int64_t k, double w) {
        if (count[k]++ == 0 && weight[k] == 0) {
            // A new class is centred on its first row until its mean is known.
            kernels().scatter.row(x, row, shift.data() + k * d);
        }
        part[k] += w;
    };
    for (int64_t i = 0; i < x.rows; ++i) {
        const double w = m.weights ? m.weights[i] : 1.0;
        if (!(w > 0)) continue;
        if (m.codes) {
            if (m.codes[i] >= 0 && m.codes[i] < classes) member(i, m.codes[i], w);
        } else {
            for (int64_t k = 0; k < classes; ++k)
                if (w * m.soft[i * classes + k] > 0) member(i, k, w * m.soft[i * classes + k]);
        }
    }

    run.scatter.shifted_sums(x, m, shift.data(), buffer.data(), sum.data());

    std::vector<int64_t> next(classes);
    int64_t at = 0;
    for (int64_t k = 0; k < classes; ++k) {
        offsets[k] = next[k] = at;
        if (count[k] == 0) continue;
        const double n = part[k], past = weight[k], share = n / (past + n);
        const double root = std::sqrt(past * share);
        double *join = out + (at + count[k]) * width;
        for (int64_t j = k * d; j < (k + 1) * d; ++j) {
            // The block's mean is shift + offset, kept in two doubles.
            const double offset = sum[j] / n;
            double high;
            two_sum(shift[j], offset, high, low[j]);
            if (past > 0) {
                const double delta = offset - mean_low[j];
                join[j - k * d] = root * delta;
                add(squares[j], squares_low[j], past * share * delta * delta);
                add(mean[j], mean_low[j], delta * share);
            } else {
                mean[j] = high;
                mean_low[j] = low[j];
            }
            shift[j] = high;
        }
        at += count[k] + (past > 0 ? 1 : 0);
        weight[k] = past + n;
    }
    offsets[classes] = at;

    run.scatter.centre(x, m, shift.data(), low.data(), next.data(), buffer.data(), chunk.data(), chunk_rows.data(),
                       squares, squares_low, width, out);
}

// Means and scatter matrices of some rows. Class k adds to matrix matrix_of[k].
struct Scattered {
    int64_t classes, d, width;
    const int64_t *matrix_of;
    std::vector<double> weight, mean, mean_low, squares, squares_low, total, total_low;

    Scattered(int64_t classes, int64_t d, int64_t matrices, const int64_t *matrix_of)
        : classes(classes), d(d), width((d + 7) / 8 * 8), matrix_of(matrix_of), weight(classes), mean(classes * d),
          mean_low(classes * d), squares(classes * d), squares_low(classes * d), total(matrices * d * width),
          total_low(matrices * d * width) {}

    void clear() {
        for (auto *each : {&weight, &mean, &mean_low, &squares, &squares_low, &total, &total_low})
            std::fill(each->begin(), each->end(), 0.0);
    }

    // Adds the products of rows stored in groups, one group for each class; `product` is scratch.
    void add_groups(const double *rows, const int64_t *offsets, double *product) {
        for (int64_t k = 0; k < classes;) {
            int64_t next = k + 1;  // adjacent classes that share a matrix form one group
            while (next < classes && matrix_of[next] == matrix_of[k]) ++next;
            const int64_t count = offsets[next] - offsets[k];
            if (count > 0) {
                const int64_t at = matrix_of[k] * d * width;
                kernels().scatter.products(rows + offsets[k] * width, count, width, product);
                kernels().scatter.accumulate(d * width, product, total.data() + at, total_low.data() + at);
            }
            k = next;
        }
    }

    // Merges the summary of other rows: as in `centre_block`, with a joining row for each class that both have.
    void merge(const Scattered &other, double *rows, int64_t *offsets, double *product) {
        int64_t at = 0;
        for (int64_t k = 0; k < classes; ++k) {
            offsets[k] = at;
            const double n = other.weight[k], past = weight[k];
            if (!(n > 0)) continue;
            const double share = n / (past + n), root = std::sqrt(past * share);
            for (int64_t j = k * d; j < (k + 1) * d; ++j) {
                if (!(past > 0)) {
                    mean[j] = other.mean[j];
                    mean_low[j] = other.mean_low[j];
                } else {
                    double difference, error;
                    two_sum(other.mean[j], -mean[j], difference, error);
                    const double delta = difference + (error + (other.mean_low[j] - mean_low[j]));
                    rows[at * width + j - k * d] = root * delta;
                    add(squares[j], squares_low[j], past * share * delta * delta);
                    add(mean[j], mean_low[j], delta * share);
                }
                add(squares[j], squares_low[j], other.squares[j]);
                add(squares[j], squares_low[j], other.squares_low[j]);
            }
            at += past > 0 ? 1 : 0;
            weight[k] = past + n;
        }
        offsets[classes] = at;
        add_groups(rows, offsets, product);
        kernels().scatter.accumulate(static_cast<int64_t>(total.size()), other.total.data(), total.data(),
                                     total_low.data());
        for (size_t i = 0; i < total.size(); ++i) total_low[i] += other.total_low[i];
    }
};

// Working memory and result for a block of rows.
struct ScatterPart {
    Scattered found;
    Buffer rows, product;
    std::vector<int64_t> offsets;
};

// A view of rows first..last-1 of a matrix.
Matrix rows_from(Matrix x, std::vector<Column> &columns, int64_t first, int64_t last) {
    x.rows = last - first;
    if (x.each) {
        columns.assign(x.each, x.each + x.columns);
        for (Column &c : columns) {
            c.data = static_cast<const char *>(c.data) + first * c.stride * TYPE_BYTES[static_cast<int>(c.type)];
            c.bit += first;
        }
        x.each = columns.data();
    } else {
        x.data = static_cast<const char *>(x.data) + first * x.row_stride * TYPE_BYTES[static_cast<int>(x.type)];
    }
    return x;
}

// Means and scatter of all rows in one read. Blocks run in parallel, each in windows that stay in cache from the
// computation of the means to the products.
void scatter_pass(const Matrix &x, const Membership &m, Scattered &whole, int64_t matrices) {
    const int64_t classes = m.classes, d = x.columns, width = std::max<int64_t>(whole.width, 8);
    // Long enough to outweigh the fixed cost of each matrix.
    const int64_t window = std::max<int64_t>({256, 4 * classes, std::min<int64_t>(1024, (1 << 16) / width),
                                              std::min<int64_t>(128 * matrices, (1 << 18) / width)});
    const int64_t step = 16 * window;
    const auto make = [&] {
        return ScatterPart{Scattered(classes, d, matrices, whole.matrix_of), Buffer((window + classes) * width),
                           Buffer(width * width), std::vector<int64_t>(classes + 1)};
    };
    ScatterPart joining = make();
    reduce_blocks(
        (x.rows + step - 1) / step, 16 * matrices * d * width + 8 * (window + classes) * width + 40 * classes * d, make,
        [&](int64_t block, ScatterPart &part) {
            Scattered &found = part.found;
            std::vector<Column> columns;
            found.clear();
            const int64_t last = std::min(x.rows, (block + 1) * step);
            for (int64_t from = block * step; from < last; from += window) {
                const int64_t to = std::min(last, from + window);
                const Membership members{m.codes + from, nullptr, m.weights ? m.weights + from : nullptr, classes};
                centre_block(rows_from(x, columns, from, to), members, found.weight.data(), found.mean.data(),
                             found.mean_low.data(), found.squares.data(), found.squares_low.data(), part.offsets.data(),
                             width, part.rows.data());
                found.add_groups(part.rows.data(), part.offsets.data(), part.product.data());
            }
        },
        [&](ScatterPart &part) {
            whole.merge(part.found, joining.rows.data(), joining.offsets.data(), joining.product.data());
        });
}

// Requires one matrix for each class, or one for all.
void require_matrices(const Cube &total, const Cube &total_low, size_t classes, size_t columns) {
    for (const Cube &each : {total, total_low})
        require((each.shape(0) == classes || each.shape(0) == 1) && each.shape(0) == total.shape(0) &&
                    each.shape(1) == columns && each.shape(2) == columns,
                "total must have one matrix, or one for each class");
}

}  // namespace

void bind_scatter(nb::module_ &m) {
    m.def(
        "centre_block",
        [](nb::object x, Codes codes, Table soft, Vector weights, Weights weight, Output mean, Output mean_low,
           Output squares, Output squares_low, Offsets offsets, Output out) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const Membership members = membership(view, codes, soft, weights, mean.shape(0));
            for (const Output &each : {mean, mean_low, squares, squares_low})
                require_shape(each, mean.shape(0), static_cast<size_t>(view.columns));
            require(weight.shape(0) == mean.shape(0) && offsets.shape(0) == mean.shape(0) + 1,
                    "weight and offsets must have one entry for each class");
            require(out.shape(1) == static_cast<size_t>(view.columns), "out and x differ in width");
            require(static_cast<int64_t>(out.shape(0)) >= centred_rows(members, view.rows), "out has too few rows");
            nb::gil_scoped_release release;
            centre_block(view, members, weight.data(), mean.data(), mean_low.data(), squares.data(), squares_low.data(),
                         offsets.data(), view.columns, out.data());
        },
        "x"_a, "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(),
        "weight"_a.noconvert(), "mean"_a.noconvert(), "mean_low"_a.noconvert(), "squares"_a.noconvert(),
        "squares_low"_a.noconvert(), "offsets"_a.noconvert(), "out"_a.noconvert());

    m.def(
        "scatter_pass",
        [](nb::object x, Codes codes, Vector weights, Codes matrix_of, Weights weight, Output mean, Output mean_low,
           Output squares, Output squares_low, Cube total, Cube total_low) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const size_t classes = mean.shape(0), d = static_cast<size_t>(view.columns), matrices = total.shape(0);
            require(codes.is_valid(), "codes are required");
            const Membership members = membership(view, codes, Table(), weights, static_cast<int64_t>(classes));
            for (const Output &each : {mean, mean_low, squares, squares_low}) require_shape(each, classes, d);
            require(weight.shape(0) == classes && matrix_of.shape(0) == classes,
                    "weight and matrix_of must have one entry for each class");
            for (size_t k = 0; k < classes; ++k)
                require(matrix_of.data()[k] >= 0 && matrix_of.data()[k] < static_cast<int64_t>(matrices),
                        "matrix_of has an index outside total");
            for (const Cube &each : {total, total_low})
                require(each.shape(0) == matrices && each.shape(1) == d && each.shape(2) == d,
                        "total must hold matrices of columns x columns");
            nb::gil_scoped_release release;
            Scattered whole(static_cast<int64_t>(classes), view.columns, static_cast<int64_t>(matrices),
                            matrix_of.data());
            scatter_pass(view, members, whole, static_cast<int64_t>(matrices));
            std::copy(whole.weight.begin(), whole.weight.end(), weight.data());
            std::copy(whole.mean.begin(), whole.mean.end(), mean.data());
            std::copy(whole.mean_low.begin(), whole.mean_low.end(), mean_low.data());
            std::copy(whole.squares.begin(), whole.squares.end(), squares.data());
            std::copy(whole.squares_low.begin(), whole.squares_low.end(), squares_low.data());
            for (size_t i = 0; i < matrices * d; ++i)
                for (size_t j = 0; j <= i % d; ++j) {
                    total.data()[i * d + j] = whole.total[i * whole.width + j];
                    total_low.data()[i * d + j] = whole.total_low[i * whole.width + j];
                }
        },
        "x"_a, "codes"_a.noconvert(), "weights"_a.noconvert().none(), "matrix_of"_a.noconvert(), "weight"_a.noconvert(),
        "mean"_a.noconvert(), "mean_low"_a.noconvert(), "squares"_a.noconvert(), "squares_low"_a.noconvert(),
        "total"_a.noconvert(), "total_low"_a.noconvert());

    m.def(
        "outer",
        [](Vector weight, Vector weight_low, Table z, Table z_low, Cube total, Cube total_low) {
            const size_t rows = z.shape(0), d = z.shape(1);
            require_shape(z_low, rows, d);
            require(weight.shape(0) == rows && weight_low.shape(0) == rows, "weight and z differ in length");
            require_matrices(total, total_low, rows, d);
            const bool pooled = total.shape(0) == 1;
            nb::gil_scoped_release release;
            for (size_t r = 0; r < rows; ++r) {
                const size_t at = pooled ? 0 : r * d * d;
                kernels().scatter.outer(static_cast<int64_t>(d), weight.data()[r], weight_low.data()[r],
                                        z.data() + r * d, z_low.data() + r * d, total.data() + at,
                                        total_low.data() + at);
            }
        },
        "weight"_a.noconvert(), "weight_low"_a.noconvert(), "z"_a.noconvert(), "z_low"_a.noconvert(),
        "total"_a.noconvert(), "total_low"_a.noconvert());

    m.def(
        "exact_scatter",
        [](nb::object x, Codes codes, Table soft, Vector weights, Table mean, Table mean_low, Cube total,
           Cube total_low) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const size_t classes = mean.shape(0), d = static_cast<size_t>(view.columns);
            const Membership members = membership(view, codes, soft, weights, classes);
            for (const Table &each : {mean, mean_low}) require_shape(each, classes, d);
            require_matrices(total, total_low, classes, d);
            nb::gil_scoped_release release;
            std::vector<double> buffer((TILE + 2) * d);
            kernels().scatter.exact(view, members, mean.data(), mean_low.data(), total.shape(0) == 1, buffer.data(),
                                    total.data(), total_low.data());
        },
        "x"_a, "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(),
        "mean"_a.noconvert(), "mean_low"_a.noconvert(), "total"_a.noconvert(), "total_low"_a.noconvert());

    m.def(
        "accumulate",
        [](Table part, Output total, Output total_low) {
            require(total.size() == part.size() && total_low.size() == part.size(), "part and total differ in size");
            nb::gil_scoped_release release;
            constexpr int64_t STEP = 1 << 15;
            for_blocks(
                static_cast<int64_t>(part.size()), STEP, [] { return 0; },
                [&](int64_t first, int64_t last, int) {
                    kernels().scatter.accumulate(last - first, part.data() + first, total.data() + first,
                                                 total_low.data() + first);
                });
        },
        "part"_a.noconvert(), "total"_a.noconvert(), "total_low"_a.noconvert());
}

}  // namespace suffice

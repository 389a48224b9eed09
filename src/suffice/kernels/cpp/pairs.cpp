// Per-class counts of pairs of cells, and averaged one-dependence scores from them.
#include <algorithm>
#include <cmath>
#include <vector>

#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

using Cells = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

constexpr int64_t LARGE = int64_t{1} << 20;  // tables with more cells are not copied for each thread
constexpr double NEGLIGIBLE = 1e-12;         // relative to a weight: a smaller difference is rounding

// Columns whose cells have a row in the table of pairs: cell c of parent p is in row c + shift[p].
struct Parents {
    const int64_t *column, *shift;
    int64_t count;
};

// Cells of rows (n x d): cell numbers of all columns are distinct; a negative cell is not read.
struct CellRows {
    const int32_t *data;
    int64_t rows, columns;
    const int32_t *row(int64_t i) const { return data + i * columns; }
};

// Columns that are counted with each parent: all but the parents before it, whose pairs are counted there.
std::vector<std::vector<int32_t>> partners(const Parents &parents, int64_t columns) {
    std::vector<std::vector<int32_t>> out(parents.count);
    std::vector<uint8_t> before(columns, 0);
    for (int64_t p = 0; p < parents.count; ++p) {
        for (int64_t j = 0; j < columns; ++j)
            if (!before[j]) out[p].push_back(static_cast<int32_t>(j));
        before[parents.column[p]] = 1;
    }
    return out;
}

void add_row(const int32_t *cell, const Parents &parents, const std::vector<std::vector<int32_t>> &partners,
             int64_t columns, int64_t width, double weight, double *pairs, double *single) {
    for (int64_t j = 0; j < columns; ++j) single[cell[j]] += weight;
    for (int64_t p = 0; p < parents.count; ++p) {
        double *to = pairs + (cell[parents.column[p]] + parents.shift[p]) * width;
        const int32_t *const with = partners[p].data();
        const auto size = static_cast<int64_t>(partners[p].size());
        for (int64_t i = 0; i < size; ++i) to[cell[with[i]]] += weight;
    }
}

void add_rows(const CellRows &x, const Parents &parents, const std::vector<std::vector<int32_t>> &partners,
              const Membership &m, int64_t height, int64_t width, int64_t first, int64_t last, double *pairs,
              double *single) {
    const int64_t size = height * width;
    for (int64_t i = first; i < last; ++i) {
        const double weight = m.weights ? m.weights[i] : 1.0;
        if (weight == 0) continue;
        if (m.codes) {
            const int64_t k = m.codes[i];
            if (k >= 0 && k < m.classes)
                add_row(x.row(i), parents, partners, x.columns, width, weight, pairs + k * size, single + k * width);
            continue;
        }
        for (int64_t k = 0; k < m.classes; ++k) {
            const double share = weight * m.soft[i * m.classes + k];
            if (share != 0)
                add_row(x.row(i), parents, partners, x.columns, width, share, pairs + k * size, single + k * width);
        }
    }
}

// Adds the weight of each pair of a parent's cell and any cell (classes x height x width), and of each cell
// (classes x width). Pairs of two parents are counted in the rows of the first.
void pair_counts(const CellRows &x, const Parents &parents, const Membership &m, int64_t height, int64_t width,
                 double *pairs, double *single) {
    const auto with = partners(parents, x.columns);
    const int64_t size = m.classes * (height + 1) * width;
    if (size > LARGE) {
        add_rows(x, parents, with, m, height, width, 0, x.rows, pairs, single);
        return;
    }
    const int64_t updates = std::max<int64_t>(1, x.columns * (parents.count + 1));
    const int64_t step = std::max<int64_t>(block_rows(m.classes), 8 * size / updates);
    struct Part {
        std::vector<double> pairs, single;
    };
    reduce_blocks(
        (x.rows + step - 1) / step, 8 * size,
        [&] { return Part{std::vector<double>(m.classes * height * width), std::vector<double>(m.classes * width)}; },
        [&](int64_t block, Part &part) {
            std::fill(part.pairs.begin(), part.pairs.end(), 0.0);
            std::fill(part.single.begin(), part.single.end(), 0.0);
            add_rows(x, parents, with, m, height, width, block * step, std::min(x.rows, (block + 1) * step),
                     part.pairs.data(), part.single.data());
        },
        [&](const Part &part) {
            for (size_t i = 0; i < part.pairs.size(); ++i) pairs[i] += part.pairs[i];
            for (size_t i = 0; i < part.single.size(); ++i) single[i] += part.single[i];
        });
}

// Counts of rows, and how they become probabilities.
struct PairModel {
    const double *pairs, *single, *weight, *pooled;  // classes x height x width, classes x width, classes, width
    int64_t classes, height, width;
    double smoothing, marginal, total;
};

double without(double whole, double part) {
    const double left = whole - part;
    return left <= NEGLIGIBLE * whole ? 0.0 : left;
}

// A product of factors of at most one: value 2^(-500 steps). Sums and products of any number of them do not underflow.
struct Product {
    double value = 1.0;
    int64_t steps = 0;
    void times(double factor) {
        value *= factor;
        if (value < 0x1p-500) {
            value *= 0x1p500;
            ++steps;
        }
    }
    double log() const { return std::log(value) - static_cast<double>(steps) * (500 * 0.6931471805599453); }
};

// What is known of one row: the cells and shares in all classes of its known columns, and of each known parent its
// position among them and its row in the table of pairs.
struct Scratch {
    std::vector<int32_t> cell;
    std::vector<int64_t> parent;
    std::vector<double> pool, share;
    std::vector<Product> products;
};

// Product over the known columns j of p(x_j | k, x_i), where i is the parent at position `at`; p(x_i | k) stands for
// its own. The weight of the row itself is subtracted if `LEAVE`.
template <bool LEAVE>
Product parent_product(const double *pair, const Scratch &s, int64_t at, double rows, double smoothing, double mine) {
    const auto known = static_cast<int64_t>(s.cell.size());
    const int32_t *const cell = s.cell.data();
    const double *const share = s.share.data();
    const double scale = 1 / rows;
    const auto given = [&](int64_t j) {
        const double count = pair[cell[j]];
        return ((LEAVE ? without(count, mine) : count) + smoothing * share[j]) * scale;
    };
    Product all;
    all.times(share[at]);
    const auto range = [&](int64_t first, int64_t last) {
        int64_t j = first;
        for (; j + 4 <= last; j += 4) {
            const double a = given(j), b = given(j + 1), c = given(j + 2), d = given(j + 3);
            const double ab = a * b, cd = c * d;
            if (ab < 0x1p-200 || cd < 0x1p-200) {  // factors as small as this are rare
                for (const double each : {a, b, c, d}) all.times(each);
            } else all.times(ab * cd);
        }
        for (; j < last; ++j) all.times(given(j));
    };
    range(0, at);
    range(at + 1, known);
    return all;
}

// log p(x | k) of one row: log mean over parents i of p(x_i | k) prod_j p(x_j | k, x_i). The row itself, of class `own`
// and weight `w`, is left out of the counts.
void score_row(const int32_t *cell, const Parents &parents, const PairModel &m, int64_t columns, int64_t own, double w,
               Scratch &s, double *out) {
    s.cell.clear();
    s.pool.clear();
    s.parent.clear();
    const double total = without(m.total, w);
    int64_t p = 0;
    for (int64_t j = 0; j < columns; ++j) {
        const bool parent = p < parents.count && parents.column[p] == j;
        const double held = cell[j] < 0 || total == 0 ? 0.0 : without(m.pooled[cell[j]], w);
        if (held > 0) {
            if (parent) {
                s.parent.push_back(static_cast<int64_t>(s.cell.size()));
                s.parent.push_back(cell[j] + parents.shift[p]);
            }
            s.cell.push_back(cell[j]);
            s.pool.push_back(held / total);
        }
        p += parent;
    }
    const auto known = static_cast<int64_t>(s.cell.size()), many = static_cast<int64_t>(s.parent.size() / 2);
    s.share.resize(known);
    s.products.resize(many);
    for (int64_t k = 0; k < m.classes; ++k) {
        const double mine = k == own ? w : 0.0;
        const double *single = m.single + k * m.width;
        const double size = without(m.weight[k], mine) + m.marginal;
        for (int64_t j = 0; j < known; ++j)
            s.share[j] = (without(single[s.cell[j]], mine) + m.marginal * s.pool[j]) / size;
        if (many == 0) {
            Product all;
            for (int64_t j = 0; j < known; ++j) all.times(s.share[j]);
            out[k] = all.log();
            continue;
        }
        int64_t least = INT64_MAX;
        for (int64_t i = 0; i < many; ++i) {
            const int64_t at = s.parent[2 * i];
            const double *pair = m.pairs + (k * m.height + s.parent[2 * i + 1]) * m.width;
            const double rows = without(single[s.cell[at]], mine) + m.smoothing;
            s.products[i] = mine == 0 ? parent_product<false>(pair, s, at, rows, m.smoothing, mine)
                                      : parent_product<true>(pair, s, at, rows, m.smoothing, mine);
            least = std::min(least, s.products[i].steps);
        }
        Product sum{0.0, least};
        for (const Product &each : s.products)
            if (each.steps - least < 3)
                sum.value += std::ldexp(each.value, static_cast<int>(-500 * (each.steps - least)));
        sum.value /= static_cast<double>(many);
        out[k] = sum.log();
    }
}

Parents parents_of(const Codes &column, const Codes &shift, int64_t columns) {
    require(column.shape(0) == shift.shape(0), "parents and shift differ in length");
    for (size_t p = 0; p < column.shape(0); ++p) {
        const int64_t at = column.data()[p];
        require(at >= 0 && at < columns && (p == 0 || at > column.data()[p - 1]), "parents must be sorted columns");
    }
    return {column.data(), shift.data(), static_cast<int64_t>(column.shape(0))};
}

// Requires every cell to be inside the tables, and the row of every parent's cell.
void require_inside(const CellRows &x, const Parents &parents, int64_t least, int64_t height, int64_t width) {
    bool inside = true;
    for (int64_t i = 0; i < x.rows * x.columns; ++i) inside &= x.data[i] >= least && x.data[i] < width;
    for (int64_t i = 0; i < x.rows; ++i)
        for (int64_t p = 0; p < parents.count; ++p) {
            const int64_t cell = x.row(i)[parents.column[p]], row = cell + parents.shift[p];
            inside &= cell < 0 || (row >= 0 && row < height);
        }
    require(inside, "a cell is outside the tables");
}

CellRows rows_of(const Cells &cells) {
    return {cells.data(), static_cast<int64_t>(cells.shape(0)), static_cast<int64_t>(cells.shape(1))};
}

}  // namespace

void bind_pairs(nb::module_ &m) {
    m.def(
        "pair_counts",
        [](Cells cells, Codes parents, Codes shift, Codes codes, Table soft, Vector weights, Cube pairs,
           Output single) {
            const CellRows x = rows_of(cells);
            const Matrix shape{nullptr, x.rows, x.columns, 0, 0, Type::f64, nullptr};
            const Membership members = membership(shape, codes, soft, weights, static_cast<int64_t>(pairs.shape(0)));
            const Parents chosen = parents_of(parents, shift, x.columns);
            require(single.shape(0) == pairs.shape(0) && single.shape(1) == pairs.shape(2),
                    "single must have the classes and cells of pairs");
            const auto height = static_cast<int64_t>(pairs.shape(1)), width = static_cast<int64_t>(pairs.shape(2));
            nb::gil_scoped_release release;
            require_inside(x, chosen, 0, height, width);
            pair_counts(x, chosen, members, height, width, pairs.data(), single.data());
        },
        "cells"_a.noconvert(), "parents"_a.noconvert(), "shift"_a.noconvert(), "codes"_a.noconvert().none(),
        "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "pairs"_a.noconvert(), "single"_a.noconvert());

    m.def(
        "pair_scores",
        [](Cells cells, Codes parents, Codes shift, Counts pairs, Table single, Vector weight, Vector pooled,
           double smoothing, double marginal, Codes own, Vector own_weights, Output out) {
            const CellRows x = rows_of(cells);
            const Parents chosen = parents_of(parents, shift, x.columns);
            const size_t n = cells.shape(0), classes = pairs.shape(0), width = pairs.shape(2);
            require(single.shape(0) == classes && single.shape(1) == width && weight.shape(0) == classes &&
                        pooled.shape(0) == width && out.shape(0) == n && out.shape(1) == classes,
                    "arrays must have an entry for each row, class or cell");
            require(own.is_valid() == own_weights.is_valid() &&
                        (!own.is_valid() || (own.shape(0) == n && own_weights.shape(0) == n)),
                    "own and own_weights must have an entry for each row");
            double total = 0;
            for (size_t k = 0; k < classes; ++k) total += weight.data()[k];
            const PairModel model{pairs.data(),
                                  single.data(),
                                  weight.data(),
                                  pooled.data(),
                                  static_cast<int64_t>(classes),
                                  static_cast<int64_t>(pairs.shape(1)),
                                  static_cast<int64_t>(width),
                                  smoothing,
                                  marginal,
                                  total};
            nb::gil_scoped_release release;
            require_inside(x, chosen, INT32_MIN, model.height, model.width);
            for_blocks(
                x.rows, 64, [] { return Scratch(); },
                [&](int64_t first, int64_t last, Scratch &scratch) {
                    for (int64_t i = first; i < last; ++i)
                        score_row(x.row(i), chosen, model, x.columns, own.is_valid() ? own.data()[i] : -1,
                                  own.is_valid() ? own_weights.data()[i] : 0.0, scratch,
                                  out.data() + i * model.classes);
                });
        },
        "cells"_a.noconvert(), "parents"_a.noconvert(), "shift"_a.noconvert(), "pairs"_a.noconvert(),
        "single"_a.noconvert(), "weight"_a.noconvert(), "pooled"_a.noconvert(), "smoothing"_a, "marginal"_a,
        "own"_a.noconvert().none(), "own_weights"_a.noconvert().none(), "out"_a.noconvert());
}

}  // namespace suffice

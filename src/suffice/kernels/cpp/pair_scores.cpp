// Averaged one-dependence scores from counts of pairs of cells.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "cell_rows.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

using Counts = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

constexpr double NEGLIGIBLE = 1e-12;  // relative to a weight: a smaller difference is rounding

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

double log_mean(const Product *products, int64_t count) {
    int64_t least = INT64_MAX;
    for (int64_t i = 0; i < count; ++i) least = std::min(least, products[i].steps);
    Product sum{0.0, least};
    constexpr double scale[] = {1, 0x1p-500, 0x1p-1000};
    for (int64_t i = 0; i < count; ++i)
        if (products[i].steps - least < 3) sum.value += products[i].value * scale[products[i].steps - least];
    sum.value /= static_cast<double>(count);
    return sum.log();
}

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

// log p(x | k) of one row: log mean over parents i of p(x_i | k) prod_j p(x_j | k, x_i). The counts exclude the row
// itself, of class `own` and weight `w`.
void score_row(const int32_t *cell, const Parents &parents, const PairModel &m, int64_t columns, int64_t own, double w,
               Scratch &s, double *out) {
    s.cell.clear();
    s.pool.clear();
    s.parent.clear();
    const double total = without(m.total, w);
    int64_t p = 0;
    for (int64_t j = 0; j < columns; ++j) {
        const bool parent = p < parents.count && parents.column[p] == j;
        const int64_t row = parent ? cell[j] + parents.shift[p] : 0;
        require(cell[j] < 0 || (cell[j] < m.width && row >= 0 && row < std::max<int64_t>(m.height, 1)),
                "a cell is outside the tables");
        const double held = cell[j] < 0 || total == 0 ? 0.0 : without(m.pooled[cell[j]], w);
        if (held > 0) {
            if (parent) {
                s.parent.push_back(static_cast<int64_t>(s.cell.size()));
                s.parent.push_back(row);
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
        for (int64_t i = 0; i < many; ++i) {
            const int64_t at = s.parent[2 * i];
            const double *pair = m.pairs + (k * m.height + s.parent[2 * i + 1]) * m.width;
            const double rows = without(single[s.cell[at]], mine) + m.smoothing;
            s.products[i] = mine == 0 ? parent_product<false>(pair, s, at, rows, m.smoothing, mine)
                                      : parent_product<true>(pair, s, at, rows, m.smoothing, mine);
        }
        out[k] = log_mean(s.products.data(), static_cast<int64_t>(s.products.size()));
    }
}

// Probabilities of two classes side by side.
#if defined(__GNUC__)
typedef double Two __attribute__((vector_size(16)));
inline Two two(const double *from) {
    Two out;
    std::memcpy(&out, from, sizeof out);
    return out;
}
#else
struct Two {
    double at[2];
    double operator[](int64_t i) const { return at[i]; }
};
inline Two two(const double *from) { return {{from[0], from[1]}}; }
inline void operator*=(Two &a, Two b) { a = {{a.at[0] * b.at[0], a.at[1] * b.at[1]}}; }
#endif

// Probabilities of cells: p(cell | k) (classes / 2 x width x 2), and p(cell | k, cell of a parent) (classes / 2 x
// height x width x 2), where the entry of a parent's cell with itself is p(cell | k). Their last column, of a cell that
// is not read, is one.
struct PairShares {
    const double *pairs, *single;
    int64_t classes, height, width;
    int64_t at_once;  // number of factors whose product does not underflow
};

constexpr int64_t SCORED = 128;          // rows that are scored together: the table of one parent stays in the cache
constexpr int64_t STRIDE = SCORED + 16;  // of columns of these rows: a power of two would use few sets of the cache
constexpr int64_t SIDES = 8;  // rows whose products are computed together, so none waits for the factor before it

struct ScoredRows {
    std::vector<int32_t> cells;        // column by column: the last cell of the tables where they are not read
    std::vector<Product> products[2];  // of each row and each parent that it has
    int64_t known[SCORED];             // number of parents that a row has
};

void read_rows(const CellRows &x, const PairShares &m, const double *pooled, int64_t first, int64_t last,
               ScoredRows &s) {
    s.cells.resize(STRIDE * x.columns);
    const auto none = static_cast<int32_t>(m.width - 1);
    if (last - first < SCORED) std::fill(s.cells.begin(), s.cells.end(), none);
    bool inside = true;
    for (int64_t i = first; i < last; ++i)
        for (int64_t j = 0; j < x.columns; ++j) {
            const int32_t cell = x.row(i)[j];
            inside &= cell < none;
            s.cells[j * STRIDE + i - first] = cell < 0 || cell >= none || !(pooled[cell] > 0) ? none : cell;
        }
    require(inside, "a cell is outside the tables");
}

// Products of the entries at the cells of several rows, of two classes. Each row has its own row of a table.
void products(const double *const *entries, const int32_t *cells, int64_t columns, int64_t at_once,
              Product *const *first, Product *const *second) {
    for (int64_t start = 0; start < columns; start += at_once) {
        Two value[SIDES];
        const double one[] = {1, 1};
        for (Two &each : value) each = two(one);
        const int64_t end = std::min(columns, start + at_once);
        for (int64_t j = start; j < end; ++j)
            for (int64_t i = 0; i < SIDES; ++i)
                value[i] *= two(entries[i] + 2 * static_cast<int64_t>(cells[j * STRIDE + i]));
        for (int64_t i = 0; i < SIDES; ++i) {
            first[i]->times(value[i][0]);
            second[i]->times(value[i][1]);
        }
    }
}

// log p(x | k) of rows first..last-1: log mean over parents i of p(x_i | k) prod_j p(x_j | k, x_i).
void score_rows(const CellRows &x, const Parents &parents, const PairShares &m, const double *pooled, int64_t first,
                int64_t last, ScoredRows &s, double *out) {
    const int64_t rows = last - first, most = std::max<int64_t>(parents.count, 1);
    read_rows(x, m, pooled, first, last, s);
    for (auto &each : s.products) each.resize(rows * most);
    for (int64_t k = 0; k < m.classes; k += 2) {
        // Multiplies the entries of a row of the tables that each row has; none is a null pointer.
        const auto multiply = [&](const auto &table_of) {
            for (int64_t start = 0; start < rows; start += SIDES) {
                const double *entries[SIDES];
                Product *to[2][SIDES], unused;
                for (int64_t side = 0; side < SIDES; ++side) {
                    const int64_t i = start + side;
                    const double *const table = i < rows ? table_of(i) : nullptr;
                    entries[side] = table ? table : m.single;
                    const int64_t at = table ? i * most + s.known[i]++ : -1;
                    for (int64_t c = 0; c < 2; ++c) {
                        to[c][side] = table ? &s.products[c][at] : &unused;
                        *to[c][side] = Product();
                    }
                }
                products(entries, s.cells.data() + start, x.columns, m.at_once, to[0], to[1]);
            }
        };
        const double *const single = m.single + k * m.width, *const pairs = m.pairs + k * m.height * m.width;
        std::fill(s.known, s.known + rows, 0);
        for (int64_t p = 0; p < parents.count; ++p)
            multiply([&](int64_t i) -> const double * {
                const int64_t cell = s.cells[parents.column[p] * STRIDE + i], row = cell + parents.shift[p];
                if (cell == m.width - 1) return nullptr;
                require(row >= 0 && row < m.height, "a cell is outside the tables");
                return pairs + 2 * row * m.width;
            });
        if (std::find(s.known, s.known + rows, 0) != s.known + rows)
            multiply([&](int64_t i) { return s.known[i] ? nullptr : single; });
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t side = 0; side < std::min<int64_t>(2, m.classes - k); ++side)
                out[(first + i) * m.classes + k + side] = log_mean(&s.products[side][i * most], s.known[i]);
    }
}

// Number of factors of at least `least` whose product does not underflow: all, if it is at least 2^-950, or as many as
// multiply a `Product`.
int64_t factors_at_once(double least, int64_t most) {
    if (!(least > 0x1p-450)) return 1;
    const double bits = -std::log2(least);
    return bits * static_cast<double>(most) <= 950 ? std::max<int64_t>(most, 1) : static_cast<int64_t>(450 / bits);
}

}  // namespace

void bind_pair_scores(nb::module_ &m) {
    m.def(
        "pair_scores",
        [](Cells cells, Codes parents, Codes shift, Counts pairs, Table single, Vector pooled, double least,
           Output out) {
            const CellRows x = rows_of(cells);
            const Parents chosen = parents_of(parents, shift, x.columns);
            const size_t classes = out.shape(1), width = pairs.shape(2) / 2;
            require(pairs.shape(0) == (classes + 1) / 2 && pairs.shape(2) % 2 == 0 &&
                        single.shape(0) == pairs.shape(0) && single.shape(1) == 2 * width &&
                        pooled.shape(0) + 1 == width && out.shape(0) == cells.shape(0),
                    "arrays must have an entry for each row, class or cell");
            const PairShares model{pairs.data(),
                                   single.data(),
                                   static_cast<int64_t>(classes),
                                   static_cast<int64_t>(pairs.shape(1)),
                                   static_cast<int64_t>(width),
                                   factors_at_once(least, x.columns)};
            nb::gil_scoped_release release;
            for_blocks(
                x.rows, SCORED, [] { return ScoredRows(); },
                [&](int64_t first, int64_t last, ScoredRows &scratch) {
                    score_rows(x, chosen, model, pooled.data(), first, last, scratch, out.data());
                });
        },
        "cells"_a.noconvert(), "parents"_a.noconvert(), "shift"_a.noconvert(), "pairs"_a.noconvert(),
        "single"_a.noconvert(), "pooled"_a.noconvert(), "least"_a, "out"_a.noconvert());

    m.def(
        "held_out_pair_scores",
        [](Cells cells, Codes parents, Codes shift, Counts pairs, Table single, Vector weight, Vector pooled,
           double smoothing, double marginal, Codes own, Vector own_weights, Output out) {
            const CellRows x = rows_of(cells);
            const Parents chosen = parents_of(parents, shift, x.columns);
            const size_t n = cells.shape(0), classes = pairs.shape(0), width = pairs.shape(2);
            require(single.shape(0) == classes && single.shape(1) == width && weight.shape(0) == classes &&
                        pooled.shape(0) == width && out.shape(0) == n && out.shape(1) == classes,
                    "arrays must have an entry for each row, class or cell");
            require(own.shape(0) == n && own_weights.shape(0) == n,
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
            for_blocks(
                x.rows, 64, [] { return Scratch(); },
                [&](int64_t first, int64_t last, Scratch &scratch) {
                    for (int64_t i = first; i < last; ++i)
                        score_row(x.row(i), chosen, model, x.columns, own.data()[i], own_weights.data()[i], scratch,
                                  out.data() + i * model.classes);
                });
        },
        "cells"_a.noconvert(), "parents"_a.noconvert(), "shift"_a.noconvert(), "pairs"_a.noconvert(),
        "single"_a.noconvert(), "weight"_a.noconvert(), "pooled"_a.noconvert(), "smoothing"_a, "marginal"_a,
        "own"_a.noconvert(), "own_weights"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace suffice

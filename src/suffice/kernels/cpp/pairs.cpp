// Per-class counts of pairs of cells, and averaged one-dependence scores from them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

using Cells = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using CellOutput = nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Narrow = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
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

// The least and the largest cell of a column.
struct Range {
    int64_t least, most;
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

// Rows of one block, class after class: their cells by column, and for columns with few cells a set of bits for each
// cell. The rows of each class begin at a new word.
class ClassSortedRows {
  public:
    ClassSortedRows(const CellRows &x, const Membership &m, const std::vector<Range> &ranges, int64_t first,
                    int64_t last)
        : ranges_(ranges), start_(m.classes + 1), row_(m.classes) {
        const auto has_class = [&](int64_t i) { return m.codes[i] >= 0 && m.codes[i] < m.classes; };
        for (int64_t i = first; i < last; ++i)
            if (has_class(i)) ++row_[m.codes[i]];
        for (int64_t k = 0; k < m.classes; ++k) start_[k + 1] = start_[k] + (row_[k] + WORD - 1) / WORD;
        const int64_t size = start_.back() * WORD;
        std::vector<int64_t> next(m.classes), place(last - first, -1);
        for (int64_t k = 0; k < m.classes; ++k) next[k] = start_[k] * WORD;
        for (int64_t i = first; i < last; ++i)
            if (has_class(i)) place[i - first] = next[m.codes[i]]++;
        cells_.assign(x.columns * size, -1);
        for (int64_t j = 0; j < x.columns; j += STRIP)
            for (int64_t i = first; i < last; ++i)
                for (int64_t c = j; c < std::min(j + STRIP, x.columns) && place[i - first] >= 0; ++c)
                    cells_[c * size + place[i - first]] = x.row(i)[c];
        bits_.resize(x.columns);
        for (int64_t j = 0; j < x.columns; ++j) set_bits(j);
    }

    int64_t words() const { return start_.back(); }
    int64_t words(int64_t k) const { return start_[k + 1] - start_[k]; }
    // Position of the first row of a class in the cells of a column, and number of its rows.
    int64_t start(int64_t k) const { return start_[k] * WORD; }
    int64_t rows(int64_t k) const { return row_[k]; }
    const int32_t *cells(int64_t j) const { return cells_.data() + j * words() * WORD; }
    // Cells of a column that occur, if they have sets of bits.
    const std::vector<int32_t> &found(int64_t j) const { return bits_[j].found; }
    const uint64_t *bits(int64_t j, int64_t at, int64_t k) const {
        return bits_[j].sets.data() + at * words() + start_[k];
    }
    // Adds the count of each cell of a column in one class.
    void count(int64_t j, int64_t k, double *single) const {
        const std::vector<int32_t> &each = found(j);
        for (size_t c = 0; c < each.size(); ++c)
            single[each[c]] += static_cast<double>(kernels().pairs.overlap(bits(j, c, k), bits(j, c, k), words(k)));
        if (each.empty())
            for (int64_t i = start(k); i < start(k) + rows(k); ++i) single[cells(j)[i]] += 1;
    }
    // Whether sets of bits are faster for two columns than the cells of each row.
    bool has_bits(int64_t i, int64_t j) const {
        const auto a = static_cast<int64_t>(found(i).size()), b = static_cast<int64_t>(found(j).size());
        return a && b && (a - 1) * (b - 1) * words() + a * b * static_cast<int64_t>(row_.size()) < words() * WORD;
    }

  private:
    static constexpr int64_t WORD = 64, STRIP = 16, MOST_SETS = 64;
    struct Bits {
        std::vector<int32_t> found;
        std::vector<uint64_t> sets;
    };

    void set_bits(int64_t j) {
        const int64_t first = ranges_[j].least, size = ranges_[j].most - first + 1;
        if (size < 1 || size > MOST_SETS) return;
        std::vector<uint64_t> sets(size * words());
        const int32_t *const cell = cells(j);
        for (int64_t i = 0; i < words() * WORD; ++i)
            if (cell[i] >= 0) sets[(cell[i] - first) * words() + i / WORD] |= uint64_t{1} << i % WORD;
        for (int64_t c = 0; c < size; ++c) {
            const auto begin = sets.begin() + c * words(), end = begin + words();
            if (std::all_of(begin, end, [](uint64_t word) { return word == 0; })) continue;
            bits_[j].found.push_back(static_cast<int32_t>(first + c));
            bits_[j].sets.insert(bits_[j].sets.end(), begin, end);
        }
    }

    const std::vector<Range> &ranges_;
    std::vector<int64_t> start_, row_;  // first word of each class, and its number of rows
    std::vector<int32_t> cells_;        // columns x (words x WORD)
    std::vector<Bits> bits_;
};

// Adds the counts of all pairs of cells of two columns in one class. The pairs with the last cell of each column follow
// from the counts of cells.
void add_overlaps(const ClassSortedRows &x, int64_t i, int64_t j, int64_t k, int64_t shift, int64_t width,
                  const double *single, std::vector<double> &rest, double *pairs) {
    const Kernels &run = kernels();
    const std::vector<int32_t> &a = x.found(i), &b = x.found(j);
    rest.resize(b.size());
    for (size_t c = 0; c < b.size(); ++c) rest[c] = single[b[c]];
    for (size_t r = 0; r < a.size(); ++r) {
        double *const to = pairs + (a[r] + shift) * width;
        double left = single[a[r]];
        for (size_t c = 0; c < b.size(); ++c) {
            double count = rest[c];
            if (r + 1 < a.size()) {
                count = left;
                if (c + 1 < b.size())
                    count = static_cast<double>(run.pairs.overlap(x.bits(i, r, k), x.bits(j, c, k), x.words(k)));
                left -= count;
                rest[c] -= count;
            }
            to[b[c]] += count;
        }
    }
}

// The same as `add_rows` for rows of weight one.
void count_rows(const CellRows &x, const Parents &parents, const std::vector<std::vector<int32_t>> &partners,
                const Membership &m, const std::vector<Range> &ranges, int64_t height, int64_t width, int64_t first,
                int64_t last, double *pairs, double *single) {
    const ClassSortedRows sorted(x, m, ranges, first, last);
    std::vector<double> own(width), rest;
    for (int64_t k = 0; k < m.classes; ++k) {
        const int64_t start = sorted.start(k), rows = sorted.rows(k);
        if (!rows) continue;
        for (int64_t j = 0; j < x.columns; ++j) {
            std::fill(own.begin() + ranges[j].least, own.begin() + ranges[j].most + 1, 0.0);
            sorted.count(j, k, own.data());
            for (int64_t c = ranges[j].least; c <= ranges[j].most; ++c) single[k * width + c] += own[c];
        }
        for (int64_t p = 0; p < parents.count; ++p) {
            const int64_t parent = parents.column[p], shift = parents.shift[p];
            const int32_t *const a = sorted.cells(parent) + start;
            double *const table = pairs + k * height * width;
            for (const int64_t j : partners[p]) {
                const int32_t *const b = sorted.cells(j) + start;
                if (j == parent)
                    for (int64_t c = ranges[j].least; c <= ranges[j].most; ++c)
                        table[(c + shift) * width + c] += own[c];
                else if (sorted.has_bits(parent, j))
                    add_overlaps(sorted, parent, j, k, shift, width, own.data(), rest, table);
                else
                    for (int64_t i = 0; i < rows; ++i) table[(a[i] + shift) * width + b[i]] += 1;
            }
        }
    }
}

// Adds the weight of each pair of a parent's cell and any cell (classes x height x width), and of each cell
// (classes x width). Pairs of two parents are counted in the rows of the first.
void pair_counts(const CellRows &x, const Parents &parents, const Membership &m, const std::vector<Range> &ranges,
                 int64_t height, int64_t width, double *pairs, double *single) {
    const auto with = partners(parents, x.columns);
    const int64_t size = m.classes * (height + 1) * width;
    const int64_t updates = std::max<int64_t>(1, x.columns * (parents.count + 1));
    const int64_t step = std::max<int64_t>(2 * block_rows(m.classes), 8 * std::min(size, LARGE) / updates);
    const auto add = [&](int64_t block, double *to_pairs, double *to_single) {
        const int64_t first = block * step, last = std::min(x.rows, first + step);
        if (m.codes && !m.weights)
            count_rows(x, parents, with, m, ranges, height, width, first, last, to_pairs, to_single);
        else add_rows(x, parents, with, m, height, width, first, last, to_pairs, to_single);
    };
    const int64_t blocks = (x.rows + step - 1) / step;
    if (size > LARGE) {
        for (int64_t block = 0; block < blocks; ++block) add(block, pairs, single);
        return;
    }
    struct Part {
        std::vector<double> pairs, single;
    };
    reduce_blocks(
        blocks, 8 * size,
        [&] { return Part{std::vector<double>(m.classes * height * width), std::vector<double>(m.classes * width)}; },
        [&](int64_t block, Part &part) {
            std::fill(part.pairs.begin(), part.pairs.end(), 0.0);
            std::fill(part.single.begin(), part.single.end(), 0.0);
            add(block, part.pairs.data(), part.single.data());
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

Parents parents_of(const Codes &column, const Codes &shift, int64_t columns) {
    require(column.shape(0) == shift.shape(0), "parents and shift differ in length");
    for (size_t p = 0; p < column.shape(0); ++p) {
        const int64_t at = column.data()[p];
        require(at >= 0 && at < columns && (p == 0 || at > column.data()[p - 1]), "parents must be sorted columns");
    }
    return {column.data(), shift.data(), static_cast<int64_t>(column.shape(0))};
}

// The range of each column. Requires every cell to be inside the tables, and the row of every parent's cell.
std::vector<Range> ranges_inside(const CellRows &x, const Parents &parents, int64_t height, int64_t width) {
    const Kernels &run = kernels();
    const auto d = static_cast<size_t>(x.columns);
    struct Part {
        std::vector<uint32_t> least, most;  // a negative cell is above all others
    };
    const auto make = [&] { return Part{std::vector<uint32_t>(d, UINT32_MAX), std::vector<uint32_t>(d, 0)}; };
    Part all = make();
    const int64_t step = 4096;
    reduce_blocks((x.rows + step - 1) / step, 8 * x.columns, make,
                  [&](int64_t block, Part &part) {
                      part = make();
                      run.pairs.cell_range(x.data, block * step, std::min(x.rows, (block + 1) * step), x.columns,
                                           part.least.data(), part.most.data());
                  },
                  [&](const Part &part) {
                      for (size_t j = 0; j < d; ++j) {
                          all.least[j] = std::min(all.least[j], part.least[j]);
                          all.most[j] = std::max(all.most[j], part.most[j]);
                      }
                  });
    std::vector<Range> ranges;
    bool inside = true;
    for (size_t j = 0; j < d; ++j) {
        ranges.push_back({all.least[j], all.most[j]});
        inside &= ranges[j].most < width;
    }
    for (int64_t p = 0; p < parents.count; ++p) {
        const Range &range = ranges[parents.column[p]];
        inside &= range.least + parents.shift[p] >= 0 && range.most + parents.shift[p] < height;
    }
    require(inside, "a cell is outside the tables");
    return ranges;
}

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
            const std::vector<Range> ranges = ranges_inside(x, chosen, height, width);
            pair_counts(x, chosen, members, ranges, height, width, pairs.data(), single.data());
        },
        "cells"_a.noconvert(), "parents"_a.noconvert(), "shift"_a.noconvert(), "codes"_a.noconvert().none(),
        "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "pairs"_a.noconvert(), "single"_a.noconvert());

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

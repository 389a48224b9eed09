// Per-class counts of pairs of cells.
#include <algorithm>
#include <vector>

#include "cell_rows.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

constexpr int64_t LARGE = int64_t{1} << 20;  // tables with more cells are not copied for each thread

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

}  // namespace

void bind_pair_counts(nb::module_ &m) {
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
}

}  // namespace suffice

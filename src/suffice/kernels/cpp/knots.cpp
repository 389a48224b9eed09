// Scores of one column from a table with a row for each interval, or for each knot with lines between them.
#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

// Numbers of a column that separate intervals, or between which scores are linear, and scores (rows x classes).
struct Knots {
    const double *at;
    int64_t count;
    const double *table;
    int64_t classes;
};

constexpr int64_t GROUP = 16;  // values searched together; their steps overlap

// Number of knots below each of at most GROUP values. The steps do not depend on the values: no branch is mispredicted.
void knots_below(const Knots &knots, const double *values, int64_t size, int64_t *below) {
    std::fill_n(below, size, int64_t{0});
    int64_t left = knots.count;
    while (left > 1) {
        const int64_t half = left / 2;
        for (int64_t i = 0; i < size; ++i)
            below[i] += half * static_cast<int64_t>(knots.at[below[i] + half - 1] < values[i]);
        left -= half;
    }
    if (left == 1)
        for (int64_t i = 0; i < size; ++i) below[i] += static_cast<int64_t>(knots.at[below[i]] < values[i]);
}

// Adds the weighted scores of the interval of each value; a missing value adds nothing.
void add_steps(const double *values, const int64_t *below, int64_t size, const Knots &knots, double weight,
               double *out) {
    for (int64_t i = 0; i < size; ++i) {
        if (values[i] != values[i]) continue;
        const double *const score = knots.table + below[i] * knots.classes;
        for (int64_t k = 0; k < knots.classes; ++k) out[i * knots.classes + k] += weight * score[k];
    }
}

// Adds the weighted scores between the knots around each value; they are constant beyond the first and the last.
void add_lines(const double *values, const int64_t *below, int64_t size, const Knots &knots, double weight,
               double *out) {
    for (int64_t i = 0; i < size; ++i) {
        const double value = values[i];
        if (value != value) continue;
        const int64_t at = std::clamp<int64_t>(below[i] - 1, 0, knots.count - 2);
        const double share = std::clamp((value - knots.at[at]) / (knots.at[at + 1] - knots.at[at]), 0.0, 1.0);
        const double *const low = knots.table + at * knots.classes, *const high = low + knots.classes;
        const double before = weight * (1 - share), after = weight * share;
        for (int64_t k = 0; k < knots.classes; ++k) out[i * knots.classes + k] += before * low[k] + after * high[k];
    }
}

}  // namespace

void bind_knots(nb::module_ &m) {
    m.def(
        "knot_scores",
        [](Vector values, Vector at, Table table, double weight, bool lines, Output out) {
            const Knots knots{at.data(), static_cast<int64_t>(at.shape(0)), table.data(),
                              static_cast<int64_t>(table.shape(1))};
            require(lines ? knots.count >= 2 && table.shape(0) == at.shape(0) : table.shape(0) == at.shape(0) + 1,
                    "the table must have a row for each knot or interval");
            require(out.shape(0) == values.shape(0) && out.shape(1) == table.shape(1),
                    "out must have an entry for each value and class");
            nb::gil_scoped_release release;
            for_blocks(
                static_cast<int64_t>(values.shape(0)), 4096, [] { return 0; },
                [&](int64_t first, int64_t last, int) {
                    int64_t below[GROUP];
                    for (int64_t i = first; i < last; i += GROUP) {
                        const int64_t size = std::min(GROUP, last - i);
                        knots_below(knots, values.data() + i, size, below);
                        (lines ? add_lines : add_steps)(values.data() + i, below, size, knots, weight,
                                                        out.data() + i * knots.classes);
                    }
                });
        },
        "values"_a.noconvert(), "at"_a.noconvert(), "table"_a.noconvert(), "weight"_a, "lines"_a, "out"_a.noconvert());
}

}  // namespace suffice

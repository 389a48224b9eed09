// Per-class counts of numbers in bins that depend on the set of numbers alone (see statistics/bin_counts.py).
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "compensated.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

constexpr int MANTISSA = 52;
constexpr int DIRECT = 40;         // from this shift on, an octave has a slot for each possible bin
constexpr size_t MOST_BINS = 128;  // of one octave
constexpr int64_t OCTAVES = 4096;  // of both signs
constexpr int64_t SLOTS = 512;     // of an octave whose bins are hashed
constexpr int64_t ROWS = 1024;     // read together
constexpr int64_t COLUMNS = 8;     // of a task: a cache line of doubles
constexpr uint8_t EMPTY = 255;

// Bins of the numbers from 2^e to 2^(e+1) of one sign. Their shift is the least with which there were at most MOST_BINS
// when it last grew, and of all numbers after `finish`.
class Octave {
  public:
    explicit Octave(int64_t classes) : classes_(classes), slots_(SLOTS, EMPTY) {}

    // Position of the bin of a number with these bits of its absolute value.
    int64_t position(int64_t bits) {
        const int64_t slot = find(bits);
        return slots_[slot] != EMPTY ? slots_[slot] : insert(bits, slot);
    }
    double *count(int64_t at) { return count_.data() + at * classes_; }
    double *low(int64_t at) { return low_.data() + at * classes_; }

    void finish() {
        if (bins_.size() > MOST_BINS) widen();
    }
    int shift() const { return shift_; }
    const std::vector<int64_t> &bins() const { return bins_; }

  private:
    // The slot of a bin, or the empty slot where it belongs.
    int64_t find(int64_t bits) const {
        if (shift_ >= DIRECT) return (bits & ((int64_t{1} << MANTISSA) - 1)) >> shift_;
        const int64_t bin = bits >> shift_ << shift_;
        uint64_t slot = static_cast<uint64_t>(bin >> shift_) * 0x9E3779B97F4A7C15u >> 55;
        while (slots_[slot] != EMPTY && bins_[slots_[slot]] != bin) slot = (slot + 1) % SLOTS;
        return static_cast<int64_t>(slot);
    }

    int64_t insert(int64_t bits, int64_t slot) {
        const auto at = static_cast<int64_t>(bins_.size());
        bins_.push_back(bits >> shift_ << shift_);
        count_.resize(bins_.size() * classes_);
        low_.resize(bins_.size() * classes_);
        slots_[slot] = static_cast<uint8_t>(at);
        if (at + 1 < EMPTY) return at;
        widen();
        return slots_[find(bits)];
    }

    // Doubles the width of the bins until they are at most MOST_BINS.
    void widen() {
        std::vector<std::pair<int64_t, int64_t>> order;
        for (size_t i = 0; i < bins_.size(); ++i) order.emplace_back(bins_[i], i);
        std::sort(order.begin(), order.end());
        const auto differ = [&](size_t i) { return order[i].first >> shift_ != order[i - 1].first >> shift_; };
        for (size_t distinct = order.size(); distinct > MOST_BINS;) {
            ++shift_;
            distinct = 1;
            for (size_t i = 1; i < order.size(); ++i) distinct += differ(i);
        }
        Octave wide(classes_);
        wide.shift_ = shift_;
        if (shift_ >= DIRECT) wide.slots_.assign(size_t{1} << (MANTISSA - shift_), EMPTY);
        for (const auto &[bin, at] : order) {
            const int64_t to = wide.position(bin);
            for (int64_t k = 0; k < classes_; ++k) {
                add(wide.count(to)[k], wide.low(to)[k], count(at)[k]);
                wide.low(to)[k] += low(at)[k];
            }
        }
        *this = std::move(wide);
    }

    int64_t classes_;
    int shift_ = 0;
    std::vector<int64_t> bins_;
    std::vector<double> count_, low_;  // bins x classes
    std::vector<uint8_t> slots_;
};

// Bins of a column, and their counts (bins x classes).
struct ColumnBins {
    std::vector<int64_t> bins, shift;
    std::vector<double> count;
};

class ColumnCounts {
  public:
    explicit ColumnCounts(int64_t classes) : classes_(classes), place_(OCTAVES, -1) {}

    // Counts rows first.. with these keys.
    void add_rows(const Membership &m, int64_t first, int64_t rows, const int64_t *keys) {
        for (int64_t i = 0; i < rows; ++i) {
            const double weight = m.weights ? m.weights[first + i] : 1.0;
            if (keys[i] == NO_KEY || !(weight > 0)) continue;
            if (m.codes) {
                const int64_t k = m.codes[first + i];
                if (k < 0 || k >= classes_) continue;
                Octave &octave = octave_of(keys[i]);
                const int64_t at = octave.position(std::abs(keys[i]));
                if (m.weights) add(octave.count(at)[k], octave.low(at)[k], weight);
                else octave.count(at)[k] += 1;
                continue;
            }
            const double *soft = m.soft + (first + i) * classes_;
            if (std::none_of(soft, soft + classes_, [](double each) { return each > 0; })) continue;
            Octave &octave = octave_of(keys[i]);
            const int64_t at = octave.position(std::abs(keys[i]));
            for (int64_t k = 0; k < classes_; ++k) add(octave.count(at)[k], octave.low(at)[k], weight * soft[k]);
        }
    }

    // All bins in ascending order.
    ColumnBins sorted() {
        struct Entry {
            int64_t bin, place, at;
        };
        std::vector<Entry> order;
        for (int64_t o = 0; o < OCTAVES; ++o) {
            if (place_[o] < 0) continue;
            octaves_[place_[o]].finish();
            const auto &bins = octaves_[place_[o]].bins();
            for (size_t i = 0; i < bins.size(); ++i)
                order.push_back({o < OCTAVES / 2 ? bins[i] : -bins[i], place_[o], static_cast<int64_t>(i)});
        }
        std::sort(order.begin(), order.end(), [](const Entry &a, const Entry &b) { return a.bin < b.bin; });
        ColumnBins out;
        for (const Entry &each : order) {
            Octave &octave = octaves_[each.place];
            out.bins.push_back(each.bin);
            out.shift.push_back(octave.shift());
            for (int64_t k = 0; k < classes_; ++k)
                out.count.push_back(octave.count(each.at)[k] + octave.low(each.at)[k]);
        }
        return out;
    }

  private:
    Octave &octave_of(int64_t key) {
        const int64_t o = (std::abs(key) >> MANTISSA) + (key < 0 ? OCTAVES / 2 : 0);
        if (place_[o] < 0) {
            place_[o] = static_cast<int16_t>(octaves_.size());
            octaves_.emplace_back(classes_);
        }
        return octaves_[place_[o]];
    }

    int64_t classes_;
    std::vector<int16_t> place_;  // of each octave; -1 before its first number
    std::vector<Octave> octaves_;
};

std::vector<ColumnBins> bin_counts(const Matrix &x, const Membership &m, const double *cuts, int64_t n_cuts) {
    const Kernels &run = kernels();
    std::vector<ColumnBins> out(x.columns);
    const int64_t threads = thread_count(x.columns), least = (x.columns + COLUMNS - 1) / COLUMNS;
    const int64_t tasks = std::min(x.columns, (least + threads - 1) / threads * threads);
    struct Tile {
        Buffer numbers{ROWS * COLUMNS};
        std::vector<int64_t> keys = std::vector<int64_t>(ROWS * COLUMNS);
    };
    for_tasks(
        tasks, [] { return Tile(); },
        [&](int64_t task, Tile &tile) {
            const int64_t first = task * x.columns / tasks, last = (task + 1) * x.columns / tasks;
            std::vector<ColumnCounts> counts(last - first, ColumnCounts(m.classes));
            for (int64_t row = 0; row < x.rows; row += ROWS) {
                const int64_t rows = std::min(ROWS, x.rows - row);
                run.bins.keys(x, row, rows, first, last - first, cuts, n_cuts, tile.numbers.data(), tile.keys.data());
                for (int64_t j = first; j < last; ++j)
                    counts[j - first].add_rows(m, row, rows, tile.keys.data() + (j - first) * rows);
            }
            for (int64_t j = first; j < last; ++j) out[j] = counts[j - first].sorted();
        });
    return out;
}

template <typename T> void append(std::vector<T> &to, const std::vector<T> &from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void bind_bin_counts(nb::module_ &m) {
    m.def(
        "bin_counts",
        [](nb::handle x, Codes codes, Table soft, Vector weights, int64_t classes, Vector cuts) {
            const Rows rows(x, true);
            const Membership members = membership(rows.view(), codes, soft, weights, classes);
            ColumnBins all;
            std::vector<int64_t> sizes;
            {
                nb::gil_scoped_release release;
                for (const ColumnBins &each : bin_counts(rows.view(), members, cuts.data(), cuts.shape(0))) {
                    sizes.push_back(static_cast<int64_t>(each.bins.size()));
                    append(all.bins, each.bins);
                    append(all.shift, each.shift);
                    append(all.count, each.count);
                }
            }
            return nb::make_tuple(vector_array<double>(std::move(all.count)),
                                  vector_array<int64_t>(std::move(all.bins)),
                                  vector_array<int64_t>(std::move(all.shift)), vector_array<int64_t>(std::move(sizes)));
        },
        "x"_a, "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "classes"_a,
        "cuts"_a.noconvert());
}

}  // namespace suffice

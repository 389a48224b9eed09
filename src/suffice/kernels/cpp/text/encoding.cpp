#include "encoding.hpp"

namespace suffice::text {
namespace {

// Where a number stands in the row that is being made.
struct Mark {
    uint32_t row = 0, at = 0;
};

// The rows of a portion of documents: numbers and counts, one after the other.
struct Portion {
    std::vector<uint32_t> numbers, counts;
    std::vector<uint32_t> sizes;  // of each row, or of each level of it
    int seat = 0;
};

struct Seat {
    Reader reader;
    Tables tables;
    std::vector<std::vector<Mark>> marks;
    Portion portion;
    std::vector<uint64_t> sorted, sorted_too;
    int number = 0;
};

void add(Portion &portion, std::vector<Mark> &marks, uint32_t row, const uint32_t *numbers, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        if (numbers[i] == NONE) continue;
        Mark &mark = marks[numbers[i]];
        if (mark.row == row) {
            ++portion.counts[mark.at];
            continue;
        }
        mark = {row, static_cast<uint32_t>(portion.numbers.size())};
        portion.numbers.push_back(numbers[i]);
        portion.counts.push_back(1);
    }
}

// Cells (column above, count below) in the order of their columns, of which there are so many.
void sort_cells(std::vector<uint64_t> &cells, std::vector<uint64_t> &other, uint64_t columns) {
    if (cells.size() < 64) {
        std::sort(cells.begin(), cells.end());
        return;
    }
    other.resize(cells.size());
    for (int shift = 32; shift < 64 && columns >> (shift - 32); shift += 8) {
        std::array<uint32_t, 257> starts{};
        for (const uint64_t cell : cells) ++starts[(cell >> shift & 0xFF) + 1];
        for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
        for (const uint64_t cell : cells) other[starts[cell >> shift & 0xFF]++] = cell;
        cells.swap(other);
    }
}

}  // namespace

Encoded encode_words(const Documents &documents, const Reading &reading, const Vocabulary *vocabulary) {
    const size_t levels = vocabulary ? 1 : static_cast<size_t>(std::max(reading.most, 1));
    const std::vector<int64_t> bounds = portions(documents);
    std::vector<Portion> portions(bounds.size() - 1);
    int made = 0;
    auto seats = read_all<Seat>(
        documents,
        [&] {
            Seat seat{Reader(reading), Tables(reading), std::vector<std::vector<Mark>>(levels), {}, {}, {}, made++};
            if (vocabulary) seat.marks[0].resize(static_cast<size_t>(std::max(vocabulary->size, vocabulary->slots)));
            return seat;
        },
        [&](int64_t row, Seat &seat) {
            Portion &portion = seat.portion;
            const auto mark = static_cast<uint32_t>(row + 1);
            const size_t before = portion.numbers.size();
            if (vocabulary) {
                seat.reader.look_up(documents.texts[row], *vocabulary, [&](const uint32_t *places, size_t n) {
                    add(portion, seat.marks[0], mark, places, n);
                });
                // In order at once, while the row is in cache.
                seat.sorted.resize(portion.numbers.size() - before);
                for (size_t i = 0; i < seat.sorted.size(); ++i)
                    seat.sorted[i] = static_cast<uint64_t>(portion.numbers[before + i]) << 32 | portion.counts[before + i];
                sort_cells(seat.sorted, seat.sorted_too, static_cast<uint64_t>(seat.marks[0].size()));
                for (size_t i = 0; i < seat.sorted.size(); ++i) {
                    portion.numbers[before + i] = static_cast<uint32_t>(seat.sorted[i] >> 32);
                    portion.counts[before + i] = static_cast<uint32_t>(seat.sorted[i]);
                }
                portion.sizes.push_back(static_cast<uint32_t>(seat.sorted.size()));
                return;
            }
            // Numbers of one level follow one another, though a long document has several batches of each.
            if (levels == 1) {
                seat.reader.learn(documents.texts[row], seat.tables, [&](int, const uint32_t *numbers, size_t n) {
                    if (seat.marks[0].size() < seat.tables.words.size()) seat.marks[0].resize(2 * seat.tables.words.size());
                    add(portion, seat.marks[0], mark, numbers, n);
                });
                portion.sizes.push_back(static_cast<uint32_t>(portion.numbers.size() - before));
                return;
            }
            std::vector<Portion> parts(levels);
            seat.reader.learn(documents.texts[row], seat.tables, [&](int level, const uint32_t *numbers, size_t n) {
                const size_t size = level ? seat.tables.runs[level - 1].size() : seat.tables.words.size();
                if (seat.marks[level].size() < size) seat.marks[level].resize(2 * size);
                add(parts[level], seat.marks[level], mark, numbers, n);
            });
            for (const Portion &part : parts) {
                portion.numbers.insert(portion.numbers.end(), part.numbers.begin(), part.numbers.end());
                portion.counts.insert(portion.counts.end(), part.counts.begin(), part.counts.end());
                portion.sizes.push_back(static_cast<uint32_t>(part.numbers.size()));
            }
        },
        [&](int64_t task, Seat &seat) {
            // A copy of just that size; the seat keeps its memory for the next portion.
            portions[task] = seat.portion;
            portions[task].seat = seat.number;
            seat.portion.numbers.clear();
            seat.portion.counts.clear();
            seat.portion.sizes.clear();
        });
    Encoded found;
    found.starts.assign(1, 0);
    found.starts.reserve(static_cast<size_t>(documents.size()) + 1);
    for (const Portion &portion : portions)
        for (size_t i = 0; i < portion.sizes.size(); i += levels) {
            int64_t size = 0;
            for (size_t level = 0; level < levels; ++level) size += portion.sizes[i + level];
            found.starts.push_back(found.starts.back() + size);
        }
    std::vector<std::vector<std::vector<uint32_t>>> places;  // [seat][level][number]
    uint64_t columns = 0;
    if (!vocabulary) {
        std::vector<Tables *> tables;
        for (Seat &seat : seats) tables.push_back(&seat.tables);
        Learned learned(reading, tables);
        learned.arrange(true);
        columns = static_cast<uint64_t>(learned.size());
        places.push_back(std::move(learned.places));
        for (size_t s = 1; s < seats.size(); ++s) {
            for (size_t level = 0; level < levels; ++level)
                for (uint32_t &number : learned.moved[s][level]) number = places[0][level][number];
            places.push_back(std::move(learned.moved[s]));
        }
        found.words = std::move(learned.words);
    }
    seats.clear();
    const auto total = static_cast<size_t>(found.starts.back());
    found.columns.reset(new int32_t[total]);
    found.counts.reset(new int64_t[total]);
    struct Cells {
        std::vector<uint64_t> cells, other;
    };
    in_turn(static_cast<int64_t>(portions.size()), [] { return Cells{}; }, [&](int64_t p, Cells &here) {
        Portion portion = std::move(portions[p]);
        int64_t at = found.starts[bounds[p]];
        if (vocabulary) {
            for (size_t i = 0; i < portion.numbers.size(); ++i, ++at) {
                found.columns[at] = static_cast<int32_t>(portion.numbers[i]);
                found.counts[at] = portion.counts[i];
            }
            return;
        }
        const auto &numbered = places[static_cast<size_t>(portion.seat)];
        size_t from = 0;
        for (size_t i = 0; i < portion.sizes.size(); i += levels) {
            here.cells.clear();
            for (size_t level = 0; level < levels; ++level)
                for (uint32_t j = 0; j < portion.sizes[i + level]; ++j, ++from)
                    here.cells.push_back(static_cast<uint64_t>(numbered[level][portion.numbers[from]]) << 32 |
                                         portion.counts[from]);
            sort_cells(here.cells, here.other, columns);
            for (const uint64_t cell : here.cells) {
                found.columns[at] = static_cast<int32_t>(cell >> 32);
                found.counts[at++] = static_cast<int64_t>(cell & 0xFFFFFFFF);
            }
        }
    });
    return found;
}

void score_words(const Documents &documents, const Reading &reading, const Vocabulary &vocabulary, const double *slope,
                 int64_t classes, bool distinct, double *scores, double *lengths) {
    struct Scorer {
        Reader reader;
        std::vector<uint32_t> last;
    };
    const auto size = static_cast<size_t>(std::max(vocabulary.size, vocabulary.slots));
    read_all<Scorer>(
        documents, [&] { return Scorer{Reader(reading), std::vector<uint32_t>(distinct ? size : 0)}; },
        [&](int64_t row, Scorer &seat) {
            double *score = scores + row * classes, length = 0;
            std::fill(score, score + classes, 0.0);
            const auto mark = static_cast<uint32_t>(row + 1);
            seat.reader.look_up(documents.texts[row], vocabulary, [&](const uint32_t *places, size_t n) {
                for (size_t i = 0; i < n; ++i) {
                    if (places[i] == NONE) continue;
                    if (distinct) {
                        if (seat.last[places[i]] == mark) continue;
                        seat.last[places[i]] = mark;
                    }
                    const double *here = slope + static_cast<int64_t>(places[i]) * classes;
                    for (int64_t k = 0; k < classes; ++k) score[k] += here[k];
                    length += 1;
                }
            });
            lengths[row] = length;
        },
        [](int64_t, Scorer &) {});
}

}  // namespace suffice::text

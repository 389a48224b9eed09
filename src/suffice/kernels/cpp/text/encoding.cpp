#include "encoding.hpp"

#include <map>
#include <utility>

namespace suffice::text {
namespace {

// The position of a number in the row that is being built.
struct Mark {
    uint32_t row = 0, at = 0;
};

// The rows of a portion of documents: numbers and counts, row after row.
struct Portion {
    std::vector<uint32_t> numbers, counts;
    std::vector<uint32_t> sizes;  // of each row, or of each level of a row
    size_t worker = 0;

    void clear() {
        numbers.clear();
        counts.clear();
        sizes.clear();
    }
};

struct Worker {
    size_t number;
    Reader reader;
    Tables tables;
    std::vector<std::vector<Mark>> marks;
    Portion portion;
    std::vector<Portion> levels;  // of one row
    std::vector<uint32_t> positions, other;
};

// Appends portions in order, whatever the order in which they arrive.
class Sequence {
  public:
    Sequence(Encoded &found, size_t levels) : found_(found), levels_(levels) {}

    // Leaves the portion empty.
    void take(int64_t task, Portion &portion) {
        const std::lock_guard<std::mutex> lock(guard_);
        if (task != next_) {
            waiting_.emplace(task, portion);  // a copy without spare capacity
            portion.clear();
            return;
        }
        append(portion);
        portion.clear();
        for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
             first = waiting_.begin()) {
            append(first->second);
            waiting_.erase(first);
        }
    }

    std::vector<uint32_t> sizes;  // of each row and level
    std::vector<size_t> workers;  // of each portion

  private:
    Encoded &found_;
    size_t levels_;
    std::mutex guard_;
    std::map<int64_t, Portion> waiting_;
    int64_t next_ = 0;

    void append(const Portion &portion) {
        ++next_;
        workers.push_back(portion.worker);
        const size_t n = portion.numbers.size();
        std::copy(portion.numbers.begin(), portion.numbers.end(), found_.columns.more(n));
        std::copy(portion.counts.begin(), portion.counts.end(), found_.counts.more(n));
        for (size_t i = 0; i < portion.sizes.size(); i += levels_) {
            int64_t size = 0;
            for (size_t level = 0; level < levels_; ++level) size += portion.sizes[i + level];
            found_.starts.push_back(found_.starts.back() + size);
        }
        if (levels_ > 1) sizes.insert(sizes.end(), portion.sizes.begin(), portion.sizes.end());
    }
};

void add(Portion &portion, std::vector<Mark> &marks, uint32_t row, const uint32_t *numbers, size_t n) {
    for (size_t i = 0; i < n; ++i) {
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

// Sorts cells (column in the high half, count in the low half) by column. `columns` is the number of columns.
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

uint64_t cell(uint32_t column, int64_t count) {
    return static_cast<uint64_t>(column) << 32 | static_cast<uint64_t>(count);
}

// Sorts positions. All are below `known`.
void sort_positions(std::vector<uint32_t> &positions, std::vector<uint32_t> &other, size_t known) {
    if (positions.size() < 64) {
        std::sort(positions.begin(), positions.end());
        return;
    }
    other.resize(positions.size());
    const size_t digits = known >> 24 ? 4 : known >> 16 ? 3 : known >> 8 ? 2 : 1;
    std::array<std::array<uint32_t, 256>, 4> starts;
    for (size_t d = 0; d < digits; ++d) starts[d].fill(0);
    for (const uint32_t position : positions)
        for (size_t d = 0; d < digits; ++d) ++starts[d][position >> (8 * d) & 0xFF];
    for (size_t d = 0; d < digits; ++d) {
        uint32_t before = 0;
        for (uint32_t &each : starts[d]) before += std::exchange(each, before);
        for (const uint32_t position : positions) other[starts[d][position >> (8 * d) & 0xFF]++] = position;
        positions.swap(other);
    }
}

// Adds a row to the portion: each distinct position and its count.
void add_row(Portion &portion, std::vector<uint32_t> &positions, std::vector<uint32_t> &other, size_t known) {
    sort_positions(positions, other, known);
    const size_t before = portion.numbers.size();
    for (size_t i = 0; i < positions.size();) {
        size_t next = i + 1;
        while (next < positions.size() && positions[next] == positions[i]) ++next;
        portion.numbers.push_back(positions[i]);
        portion.counts.push_back(static_cast<uint32_t>(next - i));
        i = next;
    }
    portion.sizes.push_back(static_cast<uint32_t>(portion.numbers.size() - before));
}

}  // namespace

Encoded encode_words(const Documents &documents, const TokenRules &rules, const Vocabulary *vocabulary) {
    const size_t levels = vocabulary ? 1 : static_cast<size_t>(std::max(rules.most, 1));
    const size_t known = vocabulary ? static_cast<size_t>(std::max(vocabulary->size, vocabulary->slots)) : 0;
    Encoded found;
    found.starts.reserve(static_cast<size_t>(documents.size()) + 1);
    Sequence sequence(found, levels);
    size_t made = 0;
    auto workers = read_all<Worker>(
        documents,
        [&] {
            Worker worker{made++, Reader(rules), Tables(rules), std::vector<std::vector<Mark>>(levels), {}, {}, {}, {}};
            worker.levels.resize(levels);
            worker.portion.worker = worker.number;
            return worker;
        },
        [&](int64_t row, Worker &worker) {
            const auto mark = static_cast<uint32_t>(row + 1);
            if (vocabulary) {
                worker.positions.clear();
                worker.reader.look_up(documents.texts[row], *vocabulary, [&](const uint32_t *positions, size_t n) {
                    for (size_t i = 0; i < n; ++i)
                        if (positions[i] != NONE) worker.positions.push_back(positions[i]);
                });
                add_row(worker.portion, worker.positions, worker.other, known);
                return;
            }
            for (Portion &each : worker.levels) each.clear();
            worker.reader.learn(documents.texts[row], worker.tables, [&](int level, const uint32_t *numbers, size_t n) {
                const size_t size = level ? worker.tables.ngrams[level - 1].size() : worker.tables.words.size();
                if (worker.marks[level].size() < size) worker.marks[level].resize(2 * size);
                add(worker.levels[level], worker.marks[level], mark, numbers, n);
            });
            for (const Portion &each : worker.levels) {
                worker.portion.numbers.insert(worker.portion.numbers.end(), each.numbers.begin(), each.numbers.end());
                worker.portion.counts.insert(worker.portion.counts.end(), each.counts.begin(), each.counts.end());
                worker.portion.sizes.push_back(static_cast<uint32_t>(each.numbers.size()));
            }
        },
        [&](int64_t task, Worker &worker) { sequence.take(task, worker.portion); });
    if (vocabulary) return found;
    std::vector<Tables *> tables;
    for (Worker &worker : workers) {
        tables.push_back(&worker.tables);
        worker.marks = {};
    }
    MergedVocabulary merged(rules, tables);
    merged.arrange(true);
    const auto columns = static_cast<uint64_t>(merged.size());
    std::vector<std::vector<std::vector<uint32_t>>> positions;  // [worker][level][number]
    positions.push_back(std::move(merged.positions));
    for (size_t s = 1; s < workers.size(); ++s) {
        for (size_t level = 0; level < levels; ++level)
            for (uint32_t &number : merged.moved[s][level]) number = positions[0][level][number];
        positions.push_back(std::move(merged.moved[s]));
    }
    found.words = std::move(merged.words);
    workers.clear();
    // Replace the numbers of each thread by columns, in place.
    const std::vector<int64_t> bounds = portions(documents);
    struct Cells {
        std::vector<uint64_t> cells, other;
    };
    for_tasks(
        static_cast<int64_t>(bounds.size()) - 1, [] { return Cells{}; },
        [&](int64_t p, Cells &here) {
            const auto &numbered = positions[sequence.workers[static_cast<size_t>(p)]];
            for (int64_t row = bounds[p]; row < bounds[p + 1]; ++row) {
                auto at = static_cast<size_t>(found.starts[row]);
                const auto end = static_cast<size_t>(found.starts[row + 1]);
                here.cells.clear();
                for (size_t level = 0; level < levels; ++level) {
                    const size_t size =
                        levels > 1 ? sequence.sizes[static_cast<size_t>(row) * levels + level] : end - at;
                    for (const size_t stop = at + size; at < stop; ++at)
                        here.cells.push_back(
                            cell(numbered[level][static_cast<uint32_t>(found.columns[at])], found.counts[at]));
                }
                sort_cells(here.cells, here.other, columns);
                at = static_cast<size_t>(found.starts[row]);
                for (const uint64_t each : here.cells) {
                    found.columns[at] = static_cast<int32_t>(each >> 32);
                    found.counts[at++] = static_cast<int64_t>(each & 0xFFFFFFFF);
                }
            }
        });
    return found;
}

void score_words(const Documents &documents, const TokenRules &rules, const Vocabulary &vocabulary, const double *slope,
                 int64_t classes, bool distinct, double *scores, double *lengths) {
    struct Scorer {
        Reader reader;
        std::vector<uint32_t> last;
    };
    const auto size = static_cast<size_t>(std::max(vocabulary.size, vocabulary.slots));
    read_all<Scorer>(
        documents, [&] { return Scorer{Reader(rules), std::vector<uint32_t>(distinct ? size : 0)}; },
        [&](int64_t row, Scorer &worker) {
            double *score = scores + row * classes, length = 0;
            std::fill(score, score + classes, 0.0);
            const auto mark = static_cast<uint32_t>(row + 1);
            worker.reader.look_up(documents.texts[row], vocabulary, [&](const uint32_t *positions, size_t n) {
                for (size_t i = 0; i < n; ++i) {
                    if (positions[i] == NONE) continue;
                    if (distinct) {
                        if (worker.last[positions[i]] == mark) continue;
                        worker.last[positions[i]] = mark;
                    }
                    const double *here = slope + static_cast<int64_t>(positions[i]) * classes;
                    for (int64_t k = 0; k < classes; ++k) score[k] += here[k];
                    length += 1;
                }
            });
            lengths[row] = length;
        },
        [](int64_t, Scorer &) {});
}

}  // namespace suffice::text

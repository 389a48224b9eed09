#include "counting.hpp"

namespace suffice::text {
namespace {

// Occurrences of each number in each class, and the number of documents that contain it.
struct Tally {
    std::vector<uint32_t> cells;  // (number, class, occurrences or documents)
    std::vector<uint32_t> last;   // the last document that contains the number, counted from 1

    void reach(size_t size, size_t stride) {
        if (last.size() >= size) return;
        last.resize(size, 0);
        cells.resize(size * stride, 0);
    }
    void add(uint32_t number, size_t stride, size_t code, uint32_t document) {
        uint32_t *cell = cells.data() + number * stride + 2 * code;
        ++cell[0];
        if (last[number] == document) return;
        last[number] = document;
        ++cell[1];
    }
};

struct Worker {
    Reader reader;
    Tables tables;
    std::vector<Tally> tallies;
};

}  // namespace

Counts count_words(const Documents &documents, const TokenRules &rules, const int64_t *codes, int64_t classes) {
    const auto stride = static_cast<size_t>(2 * classes);
    const size_t levels = static_cast<size_t>(std::max(rules.most, 1));
    auto workers = read_all<Worker>(
        documents, [&] { return Worker{Reader(rules), Tables(rules), std::vector<Tally>(levels)}; },
        [&](int64_t row, Worker &worker) {
            if (codes[row] < 0 || codes[row] >= classes) return;
            const auto code = static_cast<size_t>(codes[row]);
            const auto document = static_cast<uint32_t>(row + 1);
            worker.reader.learn(documents.texts[row], worker.tables, [&](int level, const uint32_t *numbers, size_t n) {
                Tally &tally = worker.tallies[level];
                tally.reach(level ? worker.tables.ngrams[level - 1].size() : worker.tables.words.size(), stride);
                for (size_t i = 0; i < n; ++i) tally.add(numbers[i], stride, code, document);
            });
        },
        [](int64_t, Worker &) {});
    std::vector<Tables *> tables;
    for (Worker &worker : workers) tables.push_back(&worker.tables);
    MergedVocabulary merged(rules, tables);
    std::vector<Tally> &all = workers[0].tallies;
    for (size_t s = 1; s < workers.size(); ++s) {
        for (size_t level = 0; level < levels; ++level) {
            Tally &from = workers[s].tallies[level];
            if (from.last.empty()) continue;
            all[level].reach(level ? workers[0].tables.ngrams[level - 1].size() : workers[0].tables.words.size(),
                             stride);
            for (size_t i = 0; i < from.last.size(); ++i) {
                uint32_t *to = all[level].cells.data() + merged.moved[s][level][i] * stride;
                for (size_t j = 0; j < stride; ++j) to[j] += from.cells[i * stride + j];
            }
            from = Tally{};
        }
        workers[s].tables = Tables(rules);
    }
    merged.moved.clear();
    merged.arrange(true);
    const int64_t size = merged.size();
    Counts found{std::move(merged.words), RawDoubles(static_cast<size_t>(classes * size)),
                 RawDoubles(static_cast<size_t>(classes * size))};
    for_blocks(
        size, 1 << 14, [] { return 0; },
        [&](int64_t from, int64_t to, int &) {
            for (int64_t i = from; i < to; ++i) {
                const uint32_t *cell = all[merged.order[i].level].cells.data() + merged.order[i].number * stride;
                for (int64_t k = 0; k < classes; ++k) {
                    found.count[k * size + i] = cell[2 * k];
                    found.documents[k * size + i] = cell[2 * k + 1];
                }
            }
        });
    return found;
}

SlotCounts count_slots(const Documents &documents, const TokenRules &rules, const int64_t *codes, int64_t classes,
                       int64_t slots) {
    struct Slots {
        Reader reader;
        Tally tally;
    };
    const auto stride = static_cast<size_t>(2 * classes);
    Vocabulary vocabulary;
    vocabulary.slots = slots;
    auto workers = read_all<Slots>(
        documents,
        [&] {
            Slots worker{Reader(rules), {}};
            worker.tally.reach(static_cast<size_t>(slots), stride);
            return worker;
        },
        [&](int64_t row, Slots &worker) {
            if (codes[row] < 0 || codes[row] >= classes) return;
            const auto code = static_cast<size_t>(codes[row]);
            worker.reader.look_up(documents.texts[row], vocabulary, [&](const uint32_t *positions, size_t n) {
                for (size_t i = 0; i < n; ++i)
                    worker.tally.add(positions[i], stride, code, static_cast<uint32_t>(row + 1));
            });
        },
        [](int64_t, Slots &) {});
    SlotCounts found{RawDoubles(static_cast<size_t>(classes * slots)),
                     RawDoubles(static_cast<size_t>(classes * slots))};
    for_blocks(
        slots, 1 << 14, [] { return 0; },
        [&](int64_t from, int64_t to, int &) {
            for (int64_t i = from; i < to; ++i)
                for (int64_t k = 0; k < classes; ++k) {
                    uint64_t count = 0, having = 0;
                    for (const Slots &worker : workers) {
                        const uint32_t *cell = worker.tally.cells.data() + static_cast<size_t>(i) * stride + 2 * k;
                        count += cell[0];
                        having += cell[1];
                    }
                    found.count[k * slots + i] = static_cast<double>(count);
                    found.documents[k * slots + i] = static_cast<double>(having);
                }
        });
    return found;
}

}  // namespace suffice::text

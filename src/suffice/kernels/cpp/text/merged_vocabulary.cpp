#include "merged_vocabulary.hpp"

namespace suffice::text {
namespace {

// The first eight bytes as a number that sorts like the text.
uint64_t head(const char *text, int64_t length) {
    uint64_t out = 0;
    for (int64_t i = 0; i < 8; ++i) out = out << 8 | (i < length ? static_cast<uint8_t>(text[i]) : 0);
    return out;
}

std::vector<uint32_t> ranks_of(const std::vector<uint32_t> &order) {
    std::vector<uint32_t> ranks(order.size());
    for (size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<uint32_t>(i);
    return ranks;
}

}  // namespace

std::vector<uint32_t> sorted_numbers(const WordTable &words) {
    struct Each {
        uint64_t head;
        uint32_t number;
    };
    std::vector<Each> all(words.size());
    for (uint32_t i = 0; i < words.size(); ++i) all[i] = {head(words.text(i), words.length(i)), i};
    std::sort(all.begin(), all.end(), [&](const Each &a, const Each &b) {
        if (a.head != b.head) return a.head < b.head;
        const int64_t m = words.length(a.number), n = words.length(b.number);
        const int found = std::memcmp(words.text(a.number), words.text(b.number), static_cast<size_t>(std::min(m, n)));
        return found ? found < 0 : m < n;
    });
    std::vector<uint32_t> order(all.size());
    for (size_t i = 0; i < all.size(); ++i) order[i] = all[i].number;
    return order;
}

MergedVocabulary::MergedVocabulary(const TokenRules &rules, const std::vector<Tables *> &tables)
    : rules_(rules), all_(*tables[0]) {
    const size_t levels = 1 + all_.ngrams.size();
    moved.resize(tables.size());
    for (size_t t = 1; t < tables.size(); ++t) {
        Tables &theirs = *tables[t];
        moved[t].resize(levels);
        std::vector<uint32_t> &words = moved[t][0];
        words.resize(theirs.words.size());
        for (uint32_t i = 0; i < theirs.words.size(); ++i)
            words[i] = all_.words.number({theirs.words.text(i), theirs.words.length(i), theirs.words.hash(i)});
        for (size_t level = 1; level < levels; ++level) {
            const PairTable &from = theirs.ngrams[level - 1];
            PairTable &to = all_.ngrams[level - 1];
            const std::vector<uint32_t> &before = moved[t][level - 1];
            const auto key = [&](uint32_t i) {
                return PairTable::key(before[from.key(i) >> 32], words[from.key(i) & 0xFFFFFFFF]);
            };
            constexpr uint32_t FAR = 16;
            moved[t][level].resize(from.size());
            for (uint32_t i = 0; i < from.size(); ++i) {
                if (i + FAR < from.size()) to.prefetch(key(i + FAR));
                moved[t][level][i] = to.number(key(i));
            }
        }
    }
    for (PairTable &each : all_.ngrams) each.close();
}

void MergedVocabulary::arrange(bool text) {
    const size_t levels = 1 + all_.ngrams.size();
    std::vector<std::vector<uint32_t>> orders(levels), ranks(levels), parents(levels);
    orders[0] = sorted_numbers(all_.words);
    ranks[0] = ranks_of(orders[0]);
    for (size_t level = 1; level < levels; ++level) {
        // A space sorts before every character of a word, so n-grams sort word by word: first by the n-gram without its
        // last word, then by the last word.
        const PairTable &ngrams = all_.ngrams[level - 1];
        const std::vector<uint32_t> &before = ranks[level - 1];
        std::vector<size_t> starts(orders[level - 1].size() + 1);
        for (uint32_t i = 0; i < ngrams.size(); ++i) ++starts[before[ngrams.key(i) >> 32] + 1];
        for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
        std::vector<uint64_t> cells(ngrams.size());  // rank of the last word in the high half, number in the low half
        std::vector<size_t> next(starts.begin(), starts.end() - 1);
        for (uint32_t i = 0; i < ngrams.size(); ++i) {
            const uint64_t key = ngrams.key(i);
            cells[next[before[key >> 32]]++] = static_cast<uint64_t>(ranks[0][key & 0xFFFFFFFF]) << 32 | i;
        }
        orders[level].resize(ngrams.size());
        parents[level].resize(ngrams.size());
        for_blocks(
            static_cast<int64_t>(starts.size()) - 1, std::max<int64_t>(1, static_cast<int64_t>(starts.size()) / 64),
            [] { return 0; },
            [&](int64_t from, int64_t to, int &) {
                for (auto parent = static_cast<size_t>(from); parent < static_cast<size_t>(to); ++parent) {
                    std::sort(cells.data() + starts[parent], cells.data() + starts[parent + 1]);
                    for (size_t i = starts[parent]; i < starts[parent + 1]; ++i) {
                        orders[level][i] = static_cast<uint32_t>(cells[i]);
                        parents[level][i] = static_cast<uint32_t>(parent);
                    }
                }
            });
        if (level + 1 < levels) ranks[level] = ranks_of(orders[level]);
    }
    const auto least = static_cast<size_t>(rules_.analyzer == Analyzer::WORD ? std::max(rules_.least, 1) : 1);
    size_t total = 0;
    positions.resize(levels);
    for (size_t level = 0; level < levels; ++level) {
        positions[level].assign(orders[level].size(), NONE);
        if (level + 1 >= least) total += orders[level].size();
    }
    if (total) next_number(total - 1);  // throws if there are too many
    order.resize(total);
    // Every n-gram sorts right after the n-gram without its last word and before the next such n-gram. So all entries
    // that begin with a range of first words form one piece of the result, whose position is the number of entries
    // before it.
    const auto firsts = static_cast<int64_t>(orders[0].size()), step = std::max<int64_t>(1, firsts / 64);
    const int64_t pieces = (firsts + step - 1) / step;
    std::vector<Packed> written(static_cast<size_t>(pieces));
    for_tasks(
        pieces, [] { return 0; },
        [&](int64_t piece, int &) {
            Packed &out = written[static_cast<size_t>(piece)];
            std::vector<size_t> next(levels);
            std::vector<std::string> prefix(levels);
            next[0] = static_cast<size_t>(piece * step);
            for (size_t level = 1; level < levels; ++level) {
                const std::vector<uint32_t> &all = parents[level];
                next[level] =
                    static_cast<size_t>(std::lower_bound(all.begin(), all.end(), next[level - 1]) - all.begin());
            }
            size_t at = 0;
            for (size_t level = least - 1; level < levels; ++level) at += next[level];
            const auto visit = [&](const auto &self, size_t level, size_t rank) -> void {
                const uint32_t number = orders[level][rank];
                const uint32_t last =
                    level ? static_cast<uint32_t>(all_.ngrams[level - 1].key(number) & 0xFFFFFFFF) : number;
                const char *word = all_.words.text(last);
                const auto size = static_cast<size_t>(all_.words.length(last));
                if (level + 1 >= least) {
                    positions[level][number] = static_cast<uint32_t>(at);
                    order[at++] = {static_cast<uint32_t>(level), number};
                    if (text) {
                        if (level) out.text.insert(out.text.end(), prefix[level - 1].begin(), prefix[level - 1].end());
                        out.text.insert(out.text.end(), word, word + size);
                        out.ends.push_back(static_cast<int64_t>(out.text.size()));
                    }
                }
                if (level + 1 >= levels) return;
                if (level) prefix[level] = prefix[level - 1];
                else prefix[level].clear();
                prefix[level].append(word, size).push_back(' ');
                for (size_t &child = next[level + 1];
                     child < orders[level + 1].size() && parents[level + 1][child] == rank; ++child)
                    self(self, level + 1, child);
            };
            for (int64_t rank = piece * step; rank < std::min(firsts, (piece + 1) * step); ++rank)
                visit(visit, 0, static_cast<size_t>(rank));
        });
    if (!text) return;
    size_t bytes = 0;
    for (const Packed &each : written) bytes += each.text.size();
    words.text.reserve(bytes);
    words.ends.reserve(total);
    for (Packed &each : written) {
        const auto before = static_cast<int64_t>(words.text.size());
        words.text.insert(words.text.end(), each.text.begin(), each.text.end());
        for (const int64_t end : each.ends) words.ends.push_back(before + end);
        each = Packed{};
    }
}

}  // namespace suffice::text

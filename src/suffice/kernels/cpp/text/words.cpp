#include "words.hpp"

#include <random>

namespace suffice::text {

const uint64_t TABLE_SEED = [] {
    std::random_device device;
    return static_cast<uint64_t>(device()) << 32 | device();
}();

namespace {

uint32_t number_of(WordTable &table, std::vector<uint32_t> &positions, std::string_view word) {
    const uint32_t number = table.number(word_of(word.data(), static_cast<int64_t>(word.size())));
    if (number >= positions.size()) positions.resize(number + 1, NONE);
    return number;
}

}  // namespace

std::unique_ptr<Vocabulary> vocabulary_of(const WordsView &words, bool cut) {
    auto found = std::make_unique<Vocabulary>();
    found->size = words.size;
    found->words = WordTable(static_cast<size_t>(words.size));
    found->positions.resize(1);
    for (int64_t i = 0; i < words.size; ++i) {
        const std::string_view word = words[i];
        if (!cut || word.find(' ') == std::string_view::npos) {
            found->positions[0][number_of(found->words, found->positions[0], word)] = static_cast<uint32_t>(i);
            continue;
        }
        uint32_t before = NONE;
        size_t level = 0;
        for (size_t start = 0; start <= word.size(); ++level) {
            const size_t end = std::min(word.find(' ', start), word.size());
            const uint32_t last = number_of(found->words, found->positions[0], word.substr(start, end - start));
            if (level == 0) {
                before = last;
            } else {
                if (found->ngrams.size() < level) {
                    found->ngrams.emplace_back();
                    found->positions.emplace_back();
                }
                before = found->ngrams[level - 1].number(PairTable::key(before, last));
                if (before >= found->positions[level].size()) found->positions[level].resize(before + 1, NONE);
            }
            start = end + 1;
        }
        found->positions[level - 1][before] = static_cast<uint32_t>(i);
    }
    return found;
}

}  // namespace suffice::text

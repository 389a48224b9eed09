// Packed words: UTF-8 one after another, and where each ends.
#pragma once

#include <string_view>

#include "reader.hpp"

namespace suffice::text {

struct WordsView {
    const char *text;
    const int64_t *ends;
    int64_t size;

    std::string_view operator[](int64_t i) const {
        const int64_t start = i ? ends[i - 1] : 0;
        return {text + start, static_cast<size_t>(ends[i] - start)};
    }
};

// The order of the bytes of UTF-8 is that of code points.
inline int compare(std::string_view a, std::string_view b) {
    const int found = std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
    return found ? found : a.size() < b.size() ? -1 : a.size() > b.size();
}

// A vocabulary of these words; with runs of words as the numbers of their words, if they are cut at spaces.
std::unique_ptr<Vocabulary> vocabulary_of(const WordsView &words, bool cut);

}  // namespace suffice::text

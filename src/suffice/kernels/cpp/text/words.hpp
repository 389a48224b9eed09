// Packed words: their UTF-8 one after another, and the end of each.
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

// The byte order of UTF-8 is the order of code points.
inline int compare(std::string_view a, std::string_view b) {
    const int found = std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
    return found ? found : a.size() < b.size() ? -1 : a.size() > b.size();
}

// A vocabulary of these words. With `cut`, words are split at spaces into n-grams of words.
std::unique_ptr<Vocabulary> vocabulary_of(const WordsView &words, bool cut);

}  // namespace suffice::text

// Iterates over the characters of a document in any storage form.
#pragma once

#include <vector>

#include "characters.hpp"
#include "documents.hpp"

namespace suffice::text {

// A document is not UTF-8.
struct BadBytes {
    int64_t at;
};

inline int put_utf8(uint32_t c, char *out) {
    if (c < 0x80) {
        out[0] = static_cast<char>(c);
        return 1;
    }
    if (c < 0x800) {
        out[0] = static_cast<char>(0xC0 | c >> 6);
        out[1] = static_cast<char>(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = static_cast<char>(0xE0 | c >> 12);
        out[1] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
        out[2] = static_cast<char>(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = static_cast<char>(0xF0 | c >> 18);
    out[1] = static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out[2] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out[3] = static_cast<char>(0x80 | (c & 0x3F));
    return 4;
}

// Characters of one, two or four bytes each.
template <typename Unit> struct Units {
    const Unit *data;
    int64_t length;
    // The character at a position, which moves past it.
    uint32_t next(int64_t &at) const { return data[at++]; }
    // The character before a position, which moves to it.
    uint32_t previous(int64_t &at) const { return data[--at]; }
};

struct Utf8 {
    const uint8_t *data;
    int64_t length;

    uint32_t next(int64_t &at) const {
        const uint32_t first = data[at];
        if (first < 0x80) {
            ++at;
            return first;
        }
        const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
        if (first < 0xC2 || first > 0xF4 || at + more >= length) throw BadBytes{at};
        uint32_t c = first & (0x3F >> more);
        for (int i = 1; i <= more; ++i) {
            const uint32_t byte = data[at + i];
            if ((byte & 0xC0) != 0x80) throw BadBytes{at};
            c = c << 6 | (byte & 0x3F);
        }
        constexpr uint32_t LEAST[] = {0, 0x80, 0x800, 0x10000};
        if (c < LEAST[more] || c > LAST_CHARACTER || (c >= 0xD800 && c < 0xE000)) throw BadBytes{at};
        at += more + 1;
        return c;
    }
    uint32_t previous(int64_t &at) const {
        do --at;
        while (at > 0 && (data[at] & 0xC0) == 0x80);
        int64_t copy = at;
        return next(copy);
    }
};

// Calls read(source) with an iterator over the characters of a document.
template <typename Read> void with_characters(const Text &document, Read read) {
    const void *data = document.data;
    switch (document.form) {
    case Form::ASCII:
    case Form::LATIN: read(Units<uint8_t>{static_cast<const uint8_t *>(data), document.length}); break;
    case Form::TWO: read(Units<uint16_t>{static_cast<const uint16_t *>(data), document.length}); break;
    case Form::FOUR: read(Units<uint32_t>{static_cast<const uint32_t *>(data), document.length}); break;
    case Form::UTF8: read(Utf8{static_cast<const uint8_t *>(data), document.length}); break;
    case Form::MISSING:
    case Form::TOKENS: break;
    }
}

// Lower case of a capital sigma that ends before `at`, by Unicode's rule: the final sigma if a cased character comes
// before it and none after it, not counting ignored characters.
template <typename Source> uint32_t lower_sigma(const Source &source, int64_t start, int64_t at) {
    const std::vector<uint8_t> &classes = case_classes();
    constexpr uint8_t IGNORED = 1, CASED = 2;
    uint8_t before = 0, after = 0;
    for (int64_t i = start; i > 0;)
        if ((before = classes[source.previous(i)]) != IGNORED) break;
    for (int64_t i = at; i < source.length;)
        if ((after = classes[source.next(i)]) != IGNORED) break;
    return before == CASED && after != CASED ? FINAL_SIGMA : SMALL_SIGMA;
}

}  // namespace suffice::text

// A document as UTF-8 in lower case, with a bit for each byte that is part of a word, so that words are found in the
// same way for every storage form. If punctuation counts as words, another bit marks the first byte of each character
// that is neither part of a word nor white space.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "source.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace suffice::text {

// Uninitialised memory that grows.
template <typename T> class Scratch {
  public:
    T *data() { return data_.get(); }
    T &operator[](size_t i) { return data_[i]; }
    // Grows to at least `size` elements and keeps the contents.
    void reach(size_t size) {
        if (size <= capacity_) return;
        const size_t larger = std::max(size, 2 * capacity_);
        std::unique_ptr<T[]> fresh(new T[larger]);
        if (capacity_) std::memcpy(fresh.get(), data_.get(), capacity_ * sizeof(T));
        data_ = std::move(fresh);
        capacity_ = larger;
    }

  private:
    std::unique_ptr<T[]> data_;
    size_t capacity_ = 0;
};

class NormalizedText {
  public:
    NormalizedText(bool lowercase, bool marks) : lowercase_(lowercase), with_marks_(marks) {}

    const char *text() { return text_.data(); }
    bool ascii() const { return ascii_; }
    // Byte positions where words begin and end, alternating.
    const std::vector<uint32_t> &edges() const { return edges_; }
    // Whether the character that begins at a byte is a punctuation mark.
    bool is_mark_at(uint32_t at) { return with_marks_ && (marks_[at / 64] >> (at % 64) & 1); }

    void read(const Text &document) {
        size_ = 0;
        ascii_ = document.form == Form::ASCII;
        reserve(static_cast<size_t>(document.length));
        if (ascii_) plain(static_cast<const uint8_t *>(document.data), document.length);
        else with_characters(document, [&](const auto &source) { any(source); });
        cut();
        if (with_marks_) add_marks();
    }

  private:
    static constexpr int CHUNK = 16;

    bool lowercase_, with_marks_, ascii_ = true;
    size_t size_ = 0;  // bytes of text
    Scratch<char> text_;
    Scratch<uint64_t> parts_;  // a bit for each byte: part of a word
    Scratch<uint64_t> marks_;  // a bit for each byte: first byte of a punctuation mark
    size_t cleared_ = 0;       // number of elements set to zero
    std::vector<uint32_t> edges_, joined_;

    // Makes room for this many more bytes and for the writes beyond them.
    void reserve(size_t more) {
        text_.reach(size_ + more + 4 * CHUNK);
        const size_t words = (size_ + more) / 64 + 3;
        parts_.reach(words);
        if (with_marks_) marks_.reach(words);
        if (size_ == 0) cleared_ = 0;
        for (size_t i = cleared_; i < words; ++i) parts_[i] = 0;
        for (size_t i = cleared_; with_marks_ && i < words; ++i) marks_[i] = 0;
        cleared_ = std::max(cleared_, words);
    }

    // Appends 16 bytes of ASCII in lower case, with their bits.
    void chunk(const uint8_t *in) {
        const uint64_t bits = parts_of(in, text_.data() + size_);
        set_bits(parts_, bits);
        if (!with_marks_) return;
        uint64_t marks = 0;
        for (int i = 0; i < CHUNK; ++i) marks |= static_cast<uint64_t>(is_mark(in[i])) << i;
        set_bits(marks_, marks & ~bits);
    }
    void set_bits(Scratch<uint64_t> &to, uint64_t bits) {
        to[size_ / 64] |= bits << (size_ % 64);
        if (size_ % 64 > 64 - CHUNK) to[size_ / 64 + 1] |= bits >> (64 - size_ % 64);
    }
    // Whether an ASCII character that is not part of a word is a mark: Python does not count it as white space.
    static bool is_mark(uint8_t c) { return c != ' ' && !(c >= 0x09 && c <= 0x0D) && !(c >= 0x1C && c <= 0x1F); }

    uint64_t parts_of(const uint8_t *in, char *out) const {
#if defined(__SSE2__)
        const auto between = [](__m128i x, char low, char high) {  // bytes above 127 are negative and in no range
            return _mm_and_si128(_mm_cmpgt_epi8(x, _mm_set1_epi8(static_cast<char>(low - 1))),
                                 _mm_cmplt_epi8(x, _mm_set1_epi8(static_cast<char>(high + 1))));
        };
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i *>(in));
        const __m128i upper = between(x, 'A', 'Z');
        const __m128i lower = _mm_or_si128(x, _mm_and_si128(upper, _mm_set1_epi8(0x20)));
        const __m128i letter = between(lower, 'a', 'z'), digit = between(x, '0', '9');
        const __m128i word = _mm_or_si128(_mm_or_si128(letter, digit), _mm_cmpeq_epi8(x, _mm_set1_epi8('_')));
        _mm_storeu_si128(reinterpret_cast<__m128i *>(out), lowercase_ ? lower : x);
        return static_cast<uint64_t>(_mm_movemask_epi8(word));
#else
        uint64_t bits = 0;
        for (int i = 0; i < CHUNK; ++i) {
            const uint8_t c = in[i], lower = c >= 'A' && c <= 'Z' ? c | 0x20 : c;
            out[i] = static_cast<char>(lowercase_ ? lower : c);
            const bool word = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_';
            bits |= static_cast<uint64_t>(word) << i;
        }
        return bits;
#endif
    }

    // Appends ASCII text, which keeps its length.
    void plain(const uint8_t *in, int64_t length) {
        for (; size_ + CHUNK <= static_cast<size_t>(length); size_ += CHUNK) chunk(in + size_);
        if (size_ < static_cast<size_t>(length)) {
            uint8_t rest[CHUNK];
            std::memset(rest, ' ', CHUNK);
            std::memcpy(rest, in + size_, static_cast<size_t>(length) - size_);
            chunk(rest);
        }
        size_ = static_cast<size_t>(length);
    }

    // Copies the next 16 units if all are ASCII.
    template <typename Source> static bool ascii_ahead(const Source &source, int64_t at, uint8_t *out) {
        if (at + CHUNK > source.length) return false;
        uint32_t seen = 0;
        for (int i = 0; i < CHUNK; ++i) {
            seen |= source.data[at + i];
            out[i] = static_cast<uint8_t>(source.data[at + i]);
        }
        return seen < 0x80;
    }

    template <typename Source> void any(const Source &source) {
        uint8_t ahead[CHUNK];
        for (int64_t at = 0; at < source.length;) {
            if (ascii_ahead(source, at, ahead)) {
                reserve(CHUNK);
                chunk(ahead);
                size_ += CHUNK;
                at += CHUNK;
                continue;
            }
            // Read some characters one by one before trying ASCII again.
            for (int i = 0; i < CHUNK && at < source.length; ++i) {
                const int64_t start = at;
                const uint32_t character = source.next(at);
                put(source, start, character, at);
            }
        }
    }

    template <typename Source> void put(const Source &source, int64_t start, uint32_t c, int64_t after) {
        reserve(8);
        const Page &page = page_of(c);
        const bool space = page.space[c & 0xFF];
        if (!lowercase_) {
            put(c, page.word[c & 0xFF], space);
        } else if (c == CAPITAL_SIGMA) {
            put(lower_sigma(source, start, after), true, false);
        } else if (c == CAPITAL_I_WITH_DOT) {
            put('i', true, false);
            put(DOT_ABOVE, false, false);
        } else {
            put(page.lower[c & 0xFF], page.lower_word[c & 0xFF], space);
        }
    }

    void put(uint32_t c, bool word, bool space) {
        if (!word && (space || !with_marks_)) {
            text_[size_++] = ' ';  // stands for any separator
            return;
        }
        const int bytes = put_utf8(c, text_.data() + size_);
        if (!word) set_bit(marks_, size_);
        for (int i = 0; word && i < bytes; ++i) set_bit(parts_, size_ + static_cast<size_t>(i));
        size_ += static_cast<size_t>(bytes);
    }
    static void set_bit(Scratch<uint64_t> &to, size_t at) { to[at / 64] |= uint64_t{1} << (at % 64); }

    // Finds where words begin and end.
    void cut() {
        edges_.clear();
        uint64_t before = 0;
        const size_t words = size_ / 64 + 1;  // includes a bit after the last byte, where every word has ended
        for (size_t i = 0; i < words; ++i) {
            const uint64_t here = parts_[i];
            uint64_t changes = here ^ (here << 1 | before);
            before = here >> 63;
            while (changes) {
                edges_.push_back(static_cast<uint32_t>(i * 64) + static_cast<uint32_t>(__builtin_ctzll(changes)));
                changes &= changes - 1;
            }
        }
    }

    // Inserts punctuation marks among the words, each as its own word.
    void add_marks() {
        joined_.clear();
        size_t next = 0;
        for (size_t i = 0; i < size_ / 64 + 1; ++i) {
            for (uint64_t here = marks_[i]; here; here &= here - 1) {
                const uint32_t at = static_cast<uint32_t>(i * 64) + static_cast<uint32_t>(__builtin_ctzll(here));
                while (next < edges_.size() && edges_[next] < at) {
                    joined_.push_back(edges_[next++]);
                    joined_.push_back(edges_[next++]);
                }
                const auto first = static_cast<uint8_t>(text_[at]);
                joined_.push_back(at);
                joined_.push_back(at + (first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4));
            }
        }
        joined_.insert(joined_.end(), edges_.begin() + static_cast<std::ptrdiff_t>(next), edges_.end());
        edges_.swap(joined_);
    }
};

// Number of characters of UTF-8 text.
inline int64_t characters(const char *text, int64_t bytes) {
    int64_t n = 0;
    for (int64_t i = 0; i < bytes; ++i) n += (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80;
    return n;
}

}  // namespace suffice::text

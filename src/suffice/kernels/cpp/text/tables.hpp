// Hash tables that number words in the order in which they arrive.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace suffice::text {

constexpr uint32_t NONE = 0xFFFFFFFF;
constexpr int64_t MOST_WORDS = 0x7FFFFFFF;  // columns of a sparse matrix are signed 32-bit numbers

// The number after `size` words.
inline uint32_t next_number(size_t size) {
    if (static_cast<int64_t>(size) >= MOST_WORDS)
        throw std::length_error(
            "The documents have more than 2,147,483,647 distinct words. Use shorter n-grams or slots.");
    return static_cast<uint32_t>(size);
}

// ---------------------------------------------------------------------- hashes

inline uint64_t mix(uint64_t h) {
    h *= 0xBF58476D1CE4E5B9u;
    return h ^ (h >> 32);
}

// Up to eight bytes as a number, first byte lowest.
inline uint64_t low_bytes(const char *text, int64_t n) {
    uint64_t out = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    std::memcpy(&out, text, static_cast<size_t>(n));
#else
    for (int64_t i = 0; i < n; ++i) out |= static_cast<uint64_t>(static_cast<uint8_t>(text[i])) << (8 * i);
#endif
    return out;
}

// The same if eight bytes can be read beyond `text`: one load instead of one for each length.
inline uint64_t low_bytes_ahead(const char *text, int64_t n) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t out;
    std::memcpy(&out, text, 8);
    return n >= 8 ? out : out & ((uint64_t{1} << (8 * n)) - 1);
#else
    return low_bytes(text, n < 8 ? n : 8);
#endif
}

// Hashes for tables start from a seed that is drawn for each process, so that nobody can send words that all collide.
// Hashes for slots start from SLOT_SEED on every machine, since slots are stored in files.
extern const uint64_t TABLE_SEED;
constexpr uint64_t SLOT_SEED = 0x9E3779B97F4A7C15u;

// The hash of a word.
inline uint64_t hash_of(const char *text, int64_t n, uint64_t seed) {
    uint64_t h = seed;
    int64_t at = 0;
    for (; at + 8 <= n; at += 8) h = mix(h ^ low_bytes(text + at, 8));
    if (at < n) h = mix(h ^ low_bytes(text + at, n - at));
    return mix(h ^ static_cast<uint64_t>(n));
}

// A word and its hash for tables.
struct Word {
    const char *text;
    int64_t length;
    uint64_t hash;
};

inline Word word_of(const char *text, int64_t n) { return {text, n, hash_of(text, n, TABLE_SEED)}; }

// The same for a word after which eight bytes can be read.
inline Word word_ahead(const char *text, int64_t n) {
    uint64_t h = TABLE_SEED;
    int64_t at = 0;
    for (; at + 8 <= n; at += 8) h = mix(h ^ low_bytes_ahead(text + at, 8));
    if (at < n) h = mix(h ^ low_bytes_ahead(text + at, n - at));
    return {text, n, mix(h ^ static_cast<uint64_t>(n))};
}

// ---------------------------------------------------------------------- words

// Numbers words by their bytes.
class WordTable {
  public:
    explicit WordTable(size_t expected = 0) {
        size_t slots = 1024;
        while (slots < 2 * expected) slots *= 2;
        slots_.assign(slots, Slot{0, NONE});
    }

    uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
    const char *text(uint32_t id) const { return arena_.data() + entries_[id].start; }
    int64_t length(uint32_t id) const { return entries_[id].length; }

    void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
    // Prefetches the entry of a slot that was prefetched before.
    void prefetch_entry(uint64_t hash) const {
        const Slot &slot = slots_[hash & (slots_.size() - 1)];
        if (slot.id != NONE) __builtin_prefetch(&entries_[slot.id]);
    }

    // The number of a word; NONE if it is unknown.
    uint32_t find(const Word &word) const {
        const auto tag = static_cast<uint32_t>(word.hash >> 32);
        for (size_t at = word.hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
            const Slot &slot = slots_[at];
            if (slot.id == NONE) return NONE;
            if (slot.tag == tag && same(slot.id, word)) return slot.id;
        }
    }

    // The number of a word; an unknown word gets the next number.
    uint32_t number(const Word &word) {
        const auto tag = static_cast<uint32_t>(word.hash >> 32);
        size_t at = word.hash & (slots_.size() - 1);
        for (;; at = (at + 1) & (slots_.size() - 1)) {
            const Slot &slot = slots_[at];
            if (slot.id == NONE) break;
            if (slot.tag == tag && same(slot.id, word)) return slot.id;
        }
        const uint32_t id = next_number(entries_.size());
        slots_[at] = {tag, id};
        entries_.push_back({word.hash, arena_.size(), word.length});
        arena_.insert(arena_.end(), word.text, word.text + word.length);
        if (2 * entries_.size() > slots_.size()) grow();
        return id;
    }

    uint64_t hash(uint32_t id) const { return entries_[id].hash; }

  private:
    struct Slot {
        uint32_t tag, id;
    };
    struct Entry {
        uint64_t hash;
        size_t start;
        int64_t length;
    };
    std::vector<Slot> slots_;
    std::vector<Entry> entries_;
    std::vector<char> arena_;

    // Words of equal length up to eight bytes are equal if their hashes are, since every step of the hash is
    // invertible.
    bool same(uint32_t id, const Word &word) const {
        const Entry &entry = entries_[id];
        return entry.hash == word.hash && entry.length == word.length &&
               (word.length <= 8 ||
                std::memcmp(arena_.data() + entry.start, word.text, static_cast<size_t>(word.length)) == 0);
    }

    void grow() {
        std::vector<Slot> larger(2 * slots_.size(), Slot{0, NONE});
        for (uint32_t id = 0; id < size(); ++id) {
            size_t at = entries_[id].hash & (larger.size() - 1);
            while (larger[at].id != NONE) at = (at + 1) & (larger.size() - 1);
            larger[at] = {static_cast<uint32_t>(entries_[id].hash >> 32), id};
        }
        slots_.swap(larger);
    }
};

// ---------------------------------------------------------------------- n-grams of words

// Numbers n-grams of words by the number of the n-gram without its last word, and the number of the last word.
class PairTable {
  public:
    PairTable() : slots_(16, NONE) {}  // small at first: there is a table for each length of n-grams

    static uint64_t key(uint32_t before, uint32_t last) { return static_cast<uint64_t>(before) << 32 | last; }

    uint32_t size() const { return static_cast<uint32_t>(keys_.size()); }
    uint64_t key(uint32_t id) const { return keys_[id]; }

    void prefetch(uint64_t key) const { __builtin_prefetch(&slots_[slot_of(key)]); }
    void prefetch_entry(uint64_t key) const {
        const uint32_t id = slots_[slot_of(key)];
        if (id != NONE) __builtin_prefetch(&keys_[id]);
    }

    uint32_t find(uint64_t key) const {
        for (size_t at = slot_of(key);; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at] == NONE) return NONE;
            if (keys_[slots_[at]] == key) return slots_[at];
        }
    }

    uint32_t number(uint64_t key) {
        size_t at = slot_of(key);
        for (; slots_[at] != NONE; at = (at + 1) & (slots_.size() - 1))
            if (keys_[slots_[at]] == key) return slots_[at];
        const uint32_t id = next_number(keys_.size());
        slots_[at] = id;
        keys_.push_back(key);
        if (2 * keys_.size() > slots_.size()) grow();
        return id;
    }

    // Frees the memory for lookups; the keys stay.
    void close() { std::vector<uint32_t>().swap(slots_); }

  private:
    std::vector<uint32_t> slots_;
    std::vector<uint64_t> keys_;

    size_t slot_of(uint64_t key) const { return mix(mix(key ^ TABLE_SEED)) & (slots_.size() - 1); }

    void grow() {
        std::vector<uint32_t> larger(2 * slots_.size(), NONE);
        slots_.swap(larger);
        larger = {};
        for (uint32_t id = 0; id < size(); ++id) {
            size_t at = slot_of(keys_[id]);
            while (slots_[at] != NONE) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = id;
        }
    }
};

}  // namespace suffice::text

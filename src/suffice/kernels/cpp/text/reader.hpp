// Turns documents into numbers of their words and n-grams: in tables that learn them, in a given vocabulary, or in
// slots.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "normalized_text.hpp"
#include "character_text.hpp"
#include "tables.hpp"

namespace suffice::text {

enum class Analyzer : uint8_t { WORD, CHAR, CHAR_WB };

struct TokenRules {
    Analyzer analyzer = Analyzer::WORD;
    bool lowercase = true;
    int64_t min_length = 2;
    int least = 1, most = 1;          // words or characters in an n-gram
    const WordTable *stop = nullptr;  // stop words, or null
    bool punctuation = false;         // whether punctuation marks are words
    int shortest = 0, longest = 0;    // characters in the fragments of words that are counted beside words; 0 for none

    // Whether n-grams are made of words, and are numbered by the numbers of their words.
    bool by_words(const Text &document) const { return analyzer == Analyzer::WORD && document.form != Form::TOKENS; }
};

// Words, and n-grams of n words at ngrams[n - 2]. Character n-grams and words split by the caller are stored as words.
struct Tables {
    WordTable words;
    std::vector<PairTable> ngrams;
    explicit Tables(const TokenRules &rules) : ngrams(static_cast<size_t>(std::max(rules.most - 1, 0))) {}
};

// A given vocabulary: the position of each word and n-gram, NONE for those that are only part of others.
struct Vocabulary {
    int64_t size = 0, slots = 0;  // with slots, the position is a hash and there are no tables
    WordTable words;
    std::vector<PairTable> ngrams;
    std::vector<std::vector<uint32_t>> positions;  // of words, of n-grams of two words, ...
};

class Reader {
  public:
    explicit Reader(const TokenRules &rules)
        : rules_(rules), normalized_(rules.lowercase, rules.punctuation), characters_(rules.lowercase) {}

    // Reads the words of a document, before n-grams are formed, in batches: calls batch(first), where the entries of
    // `words()` from `first` on are new and the entries before it are those in which an n-gram can begin. The views are
    // valid until the batch after the next.
    template <typename Batch> void read(const Text &document, Batch batch) {
        words_.clear();
        fresh_ = 0;
        const auto add = [&](const Word &word) {
            words_.push_back(word);
            if (words_.size() >= BATCH) pass_on(document, batch);
        };
        if (document.form == Form::TOKENS) tokens(document, add);
        else if (document.form == Form::MISSING) return;
        else if (rules_.analyzer == Analyzer::WORD) plain_words(document, add);
        else if (rules_.analyzer == Analyzer::CHAR) character_ngrams(document, add);
        else ngrams_within_words(document, add);
        if (words_.size() > fresh_) pass_on(document, batch);
    }
    const std::vector<Word> &words() const { return words_; }

    // Reads the fragments of a document in batches: calls batch() with some of them in `words()`. A fragment is a
    // character n-gram within words, "~" and its characters, with "|" for the edge of a word. No word starts like this,
    // and none has a character that sorts before a space.
    template <typename Batch> void read_fragments(const Text &document, Batch batch) {
        if (!rules_.longest || !rules_.by_words(document) || document.form == Form::MISSING) return;
        fragments_.clear();
        ends_.assign(1, 0);
        within_words(document, rules_.shortest, rules_.longest, '|', [&](const char *text, int64_t length) {
            fragments_.push_back('~');
            for (int64_t i = 0; i < length; ++i)
                fragments_.push_back(static_cast<uint8_t>(text[i]) < ' ' ? '|' : text[i]);
            ends_.push_back(fragments_.size());
        });
        fragments_.append(8, ' ');
        for (size_t i = 0; i + 1 < ends_.size();) {
            words_.clear();
            for (; i + 1 < ends_.size() && words_.size() < BATCH; ++i)
                words_.push_back(
                    word_ahead(fragments_.data() + ends_[i], static_cast<int64_t>(ends_[i + 1] - ends_[i])));
            batch();
        }
    }

    // Learns words and n-grams and emits their numbers by level: emit(level, numbers, count). Level 0 is words, level n
    // - 1 is n-grams of n words.
    template <typename Emit> void learn(const Text &document, Tables &tables, Emit emit) {
        read(document, [&](size_t fresh) {
            number(fresh, tables.words, [&](const Word &word) { return tables.words.number(word); });
            const bool by_words = rules_.by_words(document);
            if (!by_words || rules_.least <= 1) emit(0, ids_.data() + fresh, ids_.size() - fresh);
            if (!by_words) return;
            before_ = ids_;
            for (int length = 2; length <= rules_.most && !before_.empty(); ++length) {
                PairTable &table = tables.ngrams[static_cast<size_t>(length) - 2];
                const size_t from = longer(length, fresh, table, [&](uint64_t key) { return table.number(key); });
                if (length >= rules_.least) emit(length - 1, before_.data() + from, before_.size() - from);
            }
        });
        read_fragments(document, [&] {
            number(0, tables.words, [&](const Word &word) { return tables.words.number(word); });
            emit(0, ids_.data(), ids_.size());
        });
    }

    // Looks up positions in a vocabulary: emit(positions, count), with NONE for unknown words.
    template <typename Emit> void look_up(const Text &document, const Vocabulary &vocabulary, Emit emit) {
        read(document, [&](size_t fresh) {
            if (vocabulary.slots) {
                slots(document, fresh, static_cast<uint64_t>(vocabulary.slots), emit);
                return;
            }
            number(fresh, vocabulary.words, [&](const Word &word) { return vocabulary.words.find(word); });
            const bool by_words = rules_.by_words(document);
            if (!by_words || rules_.least <= 1) emit_positions(ids_, fresh, vocabulary.positions[0], emit);
            if (!by_words) return;
            before_ = ids_;
            const int most = std::min(rules_.most, static_cast<int>(vocabulary.ngrams.size()) + 1);
            for (int length = 2; length <= most && !before_.empty(); ++length) {
                const PairTable &table = vocabulary.ngrams[static_cast<size_t>(length) - 2];
                const size_t from = longer(length, fresh, table, [&](uint64_t key) { return table.find(key); });
                if (length >= rules_.least)
                    emit_positions(before_, from, vocabulary.positions[static_cast<size_t>(length) - 1], emit);
            }
        });
        read_fragments(document, [&] {
            if (vocabulary.slots) {
                slots_of(1, 0, static_cast<uint64_t>(vocabulary.slots), emit);
                return;
            }
            number(0, vocabulary.words, [&](const Word &word) { return vocabulary.words.find(word); });
            emit_positions(ids_, 0, vocabulary.positions[0], emit);
        });
    }

    // The text of an n-gram of words, separated by spaces.
    static void join(const Word *words, int length, std::string &out) {
        out.clear();
        for (int j = 0; j < length; ++j) {
            if (j) out.push_back(' ');
            out.append(words[j].text, static_cast<size_t>(words[j].length));
        }
    }

  private:
    static constexpr size_t BATCH = 4096;  // words of a batch, few enough to stay in cache however long a document is

    TokenRules rules_;
    NormalizedText normalized_;
    CharacterText characters_;
    std::vector<Word> words_;
    size_t fresh_ = 0;  // index of the first new word
    std::vector<uint32_t> ids_, before_, positions_;
    Scratch<char> copy_;
    std::string joined_, spaced_, fragments_;
    std::vector<size_t> ends_;  // of the fragments
    std::vector<uint32_t> cuts_;
    std::vector<size_t> bounds_;

    // Passes the words to the batch, and keeps those in which an unfinished n-gram can begin.
    template <typename Batch> void pass_on(const Text &document, Batch batch) {
        batch(fresh_);
        const size_t reach = rules_.by_words(document) ? static_cast<size_t>(rules_.most) - 1 : 0;
        fresh_ = std::min(reach, words_.size());
        words_.erase(words_.begin(), words_.end() - static_cast<std::ptrdiff_t>(fresh_));
    }

    // Runs the three steps of each item at increasing delays, so that memory is prefetched before it is needed.
    template <typename First, typename Second, typename Last>
    static void ahead(size_t n, First first, Second second, Last last) {
        constexpr size_t FAR = 16, NEAR = 8;
        for (size_t i = 0; i < std::min(n, FAR); ++i) first(i);
        for (size_t i = 0; i < std::min(n, NEAR); ++i) second(i);
        for (size_t i = 0; i < n; ++i) {
            if (i + FAR < n) first(i + FAR);
            if (i + NEAR < n) second(i + NEAR);
            last(i);
        }
    }

    // Numbers the new words; keeps the numbers of the earlier words that are still needed.
    template <typename Number> void number(size_t fresh, const WordTable &table, Number each) {
        ids_.erase(ids_.begin(), ids_.end() - static_cast<std::ptrdiff_t>(std::min(fresh, ids_.size())));
        ids_.resize(words_.size());
        const Word *words = words_.data() + fresh;
        uint32_t *ids = ids_.data() + fresh;
        ahead(
            words_.size() - fresh, [&](size_t i) { table.prefetch(words[i].hash); },
            [&](size_t i) { table.prefetch_entry(words[i].hash); }, [&](size_t i) { ids[i] = each(words[i]); });
    }

    // Extends n-grams by one word; returns the index of the first one that ends in a new word.
    template <typename Number> size_t longer(int length, size_t fresh, const PairTable &table, Number each) {
        const size_t n = ids_.size(), last = static_cast<size_t>(length) - 1, count = n > last ? n - last : 0;
        const auto known = [&](size_t i) { return before_[i] != NONE && ids_[i + last] != NONE; };
        const auto key = [&](size_t i) { return PairTable::key(before_[i], ids_[i + last]); };
        ahead(
            count,
            [&](size_t i) {
                if (known(i)) table.prefetch(key(i));
            },
            [&](size_t i) {
                if (known(i)) table.prefetch_entry(key(i));
            },
            [&](size_t i) { before_[i] = known(i) ? each(key(i)) : NONE; });
        before_.resize(count);
        return std::min(count, fresh > last ? fresh - last : 0);
    }

    template <typename Emit>
    void emit_positions(const std::vector<uint32_t> &ids, size_t from, const std::vector<uint32_t> &positions,
                        Emit emit) {
        positions_.resize(ids.size() - from);
        for (size_t i = from; i < ids.size(); ++i) positions_[i - from] = ids[i] == NONE ? NONE : positions[ids[i]];
        emit(positions_.data(), positions_.size());
    }

    template <typename Emit> void slots(const Text &document, size_t fresh, uint64_t n_slots, Emit emit) {
        const bool by_words = rules_.by_words(document);
        for (int length = by_words ? rules_.least : 1; length <= (by_words ? rules_.most : 1); ++length)
            slots_of(length, fresh, n_slots, emit);
    }

    // The slots of n-grams of a length that end in a new word.
    template <typename Emit> void slots_of(int length, size_t fresh, uint64_t n_slots, Emit emit) {
        const size_t run = static_cast<size_t>(length);
        positions_.clear();
        for (size_t i = fresh >= run ? fresh - run + 1 : 0; i + run <= words_.size(); ++i) {
            const char *text = words_[i].text;
            int64_t size = words_[i].length;
            if (length > 1) {
                join(&words_[i], length, joined_);
                text = joined_.data();
                size = static_cast<int64_t>(joined_.size());
            }
            positions_.push_back(static_cast<uint32_t>(hash_of(text, size, SLOT_SEED) % n_slots));
        }
        emit(positions_.data(), positions_.size());
    }

    // ------------------------------------------------------------------ words of each analyzer

    template <typename Add> void tokens(const Text &document, Add add) {
        if (!document.length) return;
        const auto *ends = static_cast<const int64_t *>(document.data);
        const int64_t first = ends[-1], bytes = ends[document.length - 1] - first;
        copy_.reach(static_cast<size_t>(bytes) + 8);
        if (bytes) std::memcpy(copy_.data(), document.words + first, static_cast<size_t>(bytes));
        for (int64_t i = 0, start = 0; i < document.length; ++i) {
            add(word_ahead(copy_.data() + start, ends[i] - first - start));
            start = ends[i] - first;
        }
    }

    template <typename Add> void plain_words(const Text &document, Add add) {
        normalized_.read(document);
        const std::vector<uint32_t> &edges = normalized_.edges();
        const char *text = normalized_.text();
        for (size_t i = 0; i + 1 < edges.size(); i += 2) {
            const int64_t length = edges[i + 1] - edges[i];
            const char *start = text + edges[i];
            if (!normalized_.is_mark_at(edges[i]) && is_short(start, length)) continue;
            const Word word = word_ahead(start, length);
            if (!rules_.stop || rules_.stop->find(word) == NONE) add(word);
        }
    }

    bool is_short(const char *text, int64_t bytes) const {
        if (bytes < rules_.min_length) return true;  // there are no more characters than bytes
        return !normalized_.ascii() && rules_.min_length > 1 && characters(text, bytes) < rules_.min_length;
    }

    template <typename Add> void character_ngrams(const Text &document, Add add) {
        characters_.read(document);
        const std::vector<uint32_t> &starts = characters_.starts();
        const size_t n = starts.size() - 1;
        for (size_t run = static_cast<size_t>(rules_.least); run <= std::min(n, static_cast<size_t>(rules_.most));
             ++run) {
            for (size_t i = 0; i + run <= n; ++i)
                add(word_ahead(characters_.text() + starts[i], starts[i + run] - starts[i]));
        }
    }

    template <typename Add> void ngrams_within_words(const Text &document, Add add) {
        within_words(document, rules_.least, rules_.most, ' ',
                     [&](const char *text, int64_t length) { add(word_ahead(text, length)); });
    }

    // n-grams within words padded with an edge on either side; a word shorter than an n-gram is one n-gram.
    template <typename Add> void within_words(const Text &document, int least, int most, char edge, Add add) {
        characters_.read(document);
        const std::vector<uint32_t> &starts = characters_.starts();
        const size_t n = starts.size() - 1;
        spaced_.clear();
        cuts_.clear();
        bounds_.assign(1, 0);
        const auto cut = [&] { cuts_.push_back(static_cast<uint32_t>(spaced_.size())); };
        for (size_t i = 0; i < n;) {
            if (characters_.is_space(i)) {
                ++i;
                continue;
            }
            cut();
            spaced_.push_back(edge);
            for (; i < n && !characters_.is_space(i); ++i) {
                cut();
                spaced_.append(characters_.text() + starts[i], starts[i + 1] - starts[i]);
            }
            cut();
            spaced_.push_back(edge);
            cut();
            bounds_.push_back(cuts_.size());
        }
        spaced_.append(8, ' ');
        for (size_t w = 0; w + 1 < bounds_.size(); ++w) {
            const uint32_t *at = cuts_.data() + bounds_[w];
            const size_t size = bounds_[w + 1] - bounds_[w] - 1;  // number of characters
            for (int length = least; length <= most; ++length) {
                const size_t run = static_cast<size_t>(length);
                for (size_t i = 0; i == 0 || i + run <= size; ++i)
                    add(spaced_.data() + at[i], at[std::min(i + run, size)] - at[i]);
                if (size <= run) break;
            }
        }
    }
};

}  // namespace suffice::text

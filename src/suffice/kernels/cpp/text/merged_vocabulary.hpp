// The vocabularies of several threads merged into one, sorted by code points.
#pragma once

#include "passes.hpp"

namespace suffice::text {

struct Packed {
    std::vector<char> text;
    std::vector<int64_t> ends;
};

class MergedVocabulary {
  public:
    // Merges the tables into the first of them.
    MergedVocabulary(const TokenRules &rules, const std::vector<Tables *> &tables);

    // New numbers of the words and n-grams of the other tables: `moved[table][level][number]`.
    std::vector<std::vector<std::vector<uint32_t>>> moved;

    // Sorts all entries and sets the members below.
    void arrange(bool text);
    int64_t size() const { return static_cast<int64_t>(order.size()); }
    struct Named {
        uint32_t level, number;
    };
    // Level and number of each entry, sorted.
    std::vector<Named> order;
    // [level][number]: position in `order`; NONE for entries that are only part of others.
    std::vector<std::vector<uint32_t>> positions;
    Packed words;

  private:
    TokenRules rules_;
    Tables &all_;
};

// Numbers of the words, sorted by their bytes.
std::vector<uint32_t> sorted_numbers(const WordTable &words);

}  // namespace suffice::text

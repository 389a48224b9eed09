// What several threads have learned as one vocabulary, in the order of code points.
#pragma once

#include "passes.hpp"

namespace suffice::text {

struct Packed {
    std::vector<char> text;
    std::vector<int64_t> ends;
};

class MergedVocabulary {
  public:
    // Joins tables into the first of them.
    MergedVocabulary(const TokenRules &rules, const std::vector<Tables *> &tables);

    // The number that a word or run of another table has in the first; `moved[table][level][number]`.
    std::vector<std::vector<std::vector<uint32_t>>> moved;

    // Puts all in order; after this:
    void arrange(bool text);
    int64_t size() const { return static_cast<int64_t>(order.size()); }
    struct Named {
        uint32_t level, number;
    };
    std::vector<Named> order;                      // of the words, one after the other
    std::vector<std::vector<uint32_t>> positions;  // [level][number]: its place among them; NONE of a part of others
    Packed words;

  private:
    TokenRules rules_;
    Tables &all_;
};

// Words in the order of their bytes, by numbers.
std::vector<uint32_t> sorted_numbers(const WordTable &words);

}  // namespace suffice::text

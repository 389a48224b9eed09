// Character properties from Python: which characters are part of words, which are white space, and their lower case.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace suffice::text {

constexpr uint32_t LAST_CHARACTER = 0x10FFFF, CAPITAL_SIGMA = 0x3A3, SMALL_SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2;
// The only character whose lower case is two characters: an i and a combining dot above, which is not part of a word.
constexpr uint32_t CAPITAL_I_WITH_DOT = 0x130, DOT_ABOVE = 0x307;

// The properties of 256 consecutive characters.
struct Page {
    std::array<uint32_t, 256> lower;
    std::array<bool, 256> word, lower_word, space;  // lower_word: whether the lower case is part of a word
};

// The page of a character, built from Python's tables at first use.
const Page &page_of(uint32_t character);

// The lower case of a capital sigma depends on its neighbours: it is the final sigma at the end of a word. Class of
// each character for this rule: 1, ignored; 2, cased; 0, neither. Python computes the classes when a text with a
// capital sigma is first read.
struct SigmaNeeded {};
void set_case_classes(std::vector<uint8_t> classes);
const std::vector<uint8_t> &case_classes();  // throws SigmaNeeded

}  // namespace suffice::text

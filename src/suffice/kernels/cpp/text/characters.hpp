// What Python knows of characters: which are parts of words, which are space, and their lower case.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace suffice::text {

constexpr uint32_t LAST_CHARACTER = 0x10FFFF, CAPITAL_SIGMA = 0x3A3, SMALL_SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2;
// The one character whose lower case is two: an i, and a dot above it, which is no part of a word.
constexpr uint32_t CAPITAL_I_WITH_DOT = 0x130, DOT_ABOVE = 0x307;

// 256 characters that follow one another.
struct Page {
    std::array<uint32_t, 256> lower;
    std::array<bool, 256> word, lower_word, space;  // lower_word: whether the lower case is a part of words
};

// The page of a character, asked of Python when it is met for the first time.
const Page &page_of(uint32_t character);

// Whether the lower case of a capital sigma is the one at the end of words depends on what is around it.
// Of each character: 1, case is ignored there; 2, it has case; 0, neither. Python is asked for all of them before a
// text that has a capital sigma is read.
struct SigmaNeeded {};
void set_case_classes(std::vector<uint8_t> classes);
const std::vector<uint8_t> &case_classes();  // throws SigmaNeeded

}  // namespace suffice::text

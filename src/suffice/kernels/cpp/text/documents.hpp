// Documents read in place: Python strings or Arrow columns.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace suffice::text {

// How the characters of a text are stored. LATIN, TWO and FOUR are Python's representations with one, two or four bytes
// for each character.
enum class Form : uint8_t { MISSING, ASCII, LATIN, TWO, FOUR, UTF8, TOKENS };

struct Text {
    const void *data = nullptr;
    int64_t length = 0;  // in units of its form; for TOKENS, the number of words
    Form form = Form::MISSING;
    // For TOKENS: their UTF-8. `data` holds the end of each word; the first begins at ends[-1].
    const char *words = nullptr;
};

// Words that were split by the caller, and the end of each.
struct Tokens {
    std::vector<char> text;
    std::vector<int64_t> ends{0};
};

class Documents {
  public:
    std::vector<Text> texts;
    std::vector<nanobind::object> owners;         // objects whose memory the texts view
    std::vector<std::shared_ptr<Tokens>> tokens;  // the same for tokens

    int64_t size() const { return static_cast<int64_t>(texts.size()); }
    // Approximate number of bytes of text.
    int64_t bytes() const;
};

struct NotText {
    int64_t row;
};

// From a list or tuple of str and None; throws NotText.
std::unique_ptr<Documents> of_strings(nanobind::handle list);
// From an Arrow C stream of strings; null if it holds anything else.
std::unique_ptr<Documents> of_arrow(nanobind::handle capsule);
// From lists of words; throws NotText.
std::unique_ptr<Documents> of_tokens(nanobind::handle lists);

}  // namespace suffice::text

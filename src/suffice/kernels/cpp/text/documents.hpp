// Documents where they lie: texts of Python's objects or of Arrow columns.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace suffice::text {

// How the characters of a text are stored; LATIN, TWO and FOUR are Python's ways, with one, two or four bytes for each.
enum class Form : uint8_t { MISSING, ASCII, LATIN, TWO, FOUR, UTF8, TOKENS };

struct Text {
    const void *data = nullptr;
    int64_t length = 0;  // in units of its form; of TOKENS, how many
    Form form = Form::MISSING;
    const char *words =
        nullptr;  // of TOKENS: their UTF-8, where `data` says the end of each; the first begins at ends[-1]
};

// Words that need no reading, and where each ends.
struct Tokens {
    std::vector<char> text;
    std::vector<int64_t> ends{0};
};

class Documents {
  public:
    std::vector<Text> texts;
    std::vector<nanobind::object> owners;         // of what the texts are views of
    std::vector<std::shared_ptr<Tokens>> tokens;  // likewise

    int64_t size() const { return static_cast<int64_t>(texts.size()); }
    // About how many bytes of text there are.
    int64_t bytes() const;
};

struct NotText {
    int64_t row;
};

// Of a list or tuple of str and None; throws NotText.
std::unique_ptr<Documents> of_strings(nanobind::handle list);
// Of a stream of texts by the Arrow C stream interface; none if it is of anything else.
std::unique_ptr<Documents> of_arrow(nanobind::handle capsule);
// Of lists of words; throws NotText.
std::unique_ptr<Documents> of_tokens(nanobind::handle lists);

}  // namespace suffice::text

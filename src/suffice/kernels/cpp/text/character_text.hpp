// A document prepared for character n-grams: in lower case, with each run of white space as one space, and the position
// of each character.
#pragma once

#include "source.hpp"

namespace suffice::text {

class CharacterText {
  public:
    explicit CharacterText(bool lowercase) : lowercase_(lowercase) {}

    // Eight bytes can be read beyond its end.
    const char *text() const { return text_.data(); }
    // Byte position of each character, and of the end of the last.
    const std::vector<uint32_t> &starts() const { return starts_; }
    bool is_space(size_t i) const { return space_[i]; }

    void read(const Text &document) {
        text_.clear();
        starts_.assign(1, 0);
        space_.clear();
        with_characters(document, [&](const auto &source) { any(source); });
        text_.insert(text_.end(), 8, ' ');
    }

  private:
    bool lowercase_;
    std::vector<char> text_;
    std::vector<uint32_t> starts_;
    std::vector<bool> space_;

    template <typename Source> void any(const Source &source) {
        for (int64_t at = 0; at < source.length;) {
            const int64_t start = at;
            uint32_t c = source.next(at);
            const Page &page = page_of(c);
            if (page.space[c & 0xFF] && !space_.empty() && space_.back()) {
                text_.resize(starts_[starts_.size() - 2]);  // the previous white space becomes a plain space
                starts_.pop_back();
                space_.pop_back();
                put(' ', true);
                continue;
            }
            const bool space = page.space[c & 0xFF];
            if (lowercase_) c = c == CAPITAL_SIGMA ? lower_sigma(source, start, at) : page.lower[c & 0xFF];
            put(c, space);
            if (lowercase_ && c == 'i' && source_is_dotted(source, start)) put(DOT_ABOVE, false);
        }
    }
    template <typename Source> static bool source_is_dotted(const Source &source, int64_t at) {
        return source.next(at) == CAPITAL_I_WITH_DOT;
    }
    void put(uint32_t c, bool space) {
        char bytes[4];
        const int n = put_utf8(c, bytes);
        text_.insert(text_.end(), bytes, bytes + n);
        starts_.push_back(static_cast<uint32_t>(text_.size()));
        space_.push_back(space);
    }
};

}  // namespace suffice::text

// Positions of the records in delimited text. A field that begins with a quote ends at the next quote that is not
// doubled, and may contain delimiters and line ends. A quote in any other field is an ordinary character. Lines end in
// \n, \r\n or \r.
#include <cstring>

#include "binding.hpp"

namespace suffice {
namespace {

inline bool breaks(uint8_t c) { return c == '\n' || c == '\r'; }

// Fields are short, so the first bytes are compared without a call of memchr.
inline const uint8_t *next(const uint8_t *at, const uint8_t *end, int sought) {
    for (const uint8_t *const near = end - at < 16 ? end : at + 16; at < near; ++at)
        if (*at == sought) return at;
    const void *found = at < end ? std::memchr(at, sought, static_cast<size_t>(end - at)) : nullptr;
    return found ? static_cast<const uint8_t *>(found) : end;
}

// Position after the quote that closes a field whose content begins here; nullptr if there is none.
inline const uint8_t *closed(const uint8_t *at, const uint8_t *end, int quote) {
    for (;;) {
        at = next(at, end, quote);
        if (at == end) return nullptr;
        if (at + 1 == end || at[1] != quote) return at + 1;
        at += 2;
    }
}

// Position after the last line end before `at`, or nullptr. A \r at the end of the text may be half of a line end.
inline const uint8_t *last_break(const uint8_t *begin, const uint8_t *at, const uint8_t *end) {
    for (; at != begin; --at)
        if (at[-1] == '\n' || (at[-1] == '\r' && at != end && *at != '\n')) return at;
    return nullptr;
}

struct Cut {
    int64_t end, open;
    bool broken;
};

// Calls visit(opening quote, position after the closing quote) for each quoted field. Returns the quote that is not
// closed, or nullptr.
template <typename Visit>
const uint8_t *each_quoted(const uint8_t *begin, const uint8_t *end, int delimiter, int quote, Visit visit) {
    for (const uint8_t *at = begin; quote >= 0 && (at = next(at, end, quote)) != end;) {
        if (at != begin && at[-1] != delimiter && !breaks(at[-1])) {
            ++at;
            continue;
        }
        const uint8_t *const after = closed(at + 1, end, quote);
        if (!after) return at;
        visit(at, after);
        at = after;
    }
    return nullptr;
}

Cut last_record(const uint8_t *begin, int64_t size, int delimiter, int quote) {
    const uint8_t *const end = begin + size;
    const uint8_t *last = last_break(begin, end, end);
    if (!last) last = begin;
    bool broken = false, within = false;
    const uint8_t *const open =
        each_quoted(begin, end, delimiter, quote, [&](const uint8_t *mark, const uint8_t *after) {
            within |= mark < last && last <= after;
            if (!broken) broken = next(mark, after, '\n') != after || next(mark, after, '\r') != after;
        });
    if (within || (open && open < last)) {  // the last line end is inside quotes: search outside them
        last = begin;
        const uint8_t *from = begin;
        const auto see = [&](const uint8_t *to) {
            if (const uint8_t *found = last_break(from, to, end)) last = found;
        };
        each_quoted(begin, end, delimiter, quote, [&](const uint8_t *mark, const uint8_t *after) {
            see(mark);
            from = after;
        });
        see(open ? open : end);
    }
    return {last - begin, open ? open - begin : -1, broken || open};
}

struct Found {
    std::vector<int64_t> starts, ends, fields;
};

Found records(const uint8_t *begin, int64_t size, int delimiter, int quote, int64_t most) {
    const uint8_t *const end = begin + size;
    Found found;
    bool special[256] = {};
    special['\n'] = special['\r'] = true;
    if (delimiter >= 0) special[delimiter] = true;
    for (const uint8_t *at = begin; at != end && static_cast<int64_t>(found.starts.size()) < most;) {
        if (breaks(*at)) {  // a blank line is not a record
            ++at;
            continue;
        }
        found.starts.push_back(at - begin);
        int64_t fields = 1;
        for (;; ++fields, ++at) {
            if (at != end && *at == quote) {
                const uint8_t *const after = closed(at + 1, end, quote);
                at = after ? after : end;
            }
            while (at != end && !special[*at]) ++at;
            if (at == end || *at != delimiter) break;
        }
        found.ends.push_back(at - begin);
        found.fields.push_back(fields);
    }
    return found;
}

int64_t count_lines(const uint8_t *at, int64_t size) {
    const uint8_t *const end = at + size;
    int64_t lines = 0;
    const bool returns = next(at, end, '\r') != end;
    for (const uint8_t *each = at; each != end; ++each) lines += *each == '\n';
    for (const uint8_t *each = at; returns && each != end; ++each)
        lines += *each == '\r' && (each + 1 == end || each[1] != '\n');
    return lines;
}

void require_marks(int delimiter, int quote) {
    require(delimiter < 256 && quote < 256 && (delimiter != quote || quote < 0),
            "delimiter and quote must be two different bytes");
}

}  // namespace

void bind_records(nb::module_ &m) {
    m.def("last_record", [](Bytes data, int delimiter, int quote) {
        require_marks(delimiter, quote);
        Cut cut;
        {
            nb::gil_scoped_release free;
            cut = last_record(data.data(), static_cast<int64_t>(data.shape(0)), delimiter, quote);
        }
        return nb::make_tuple(cut.end, cut.open, cut.broken);
    });
    m.def("records", [](Bytes data, int delimiter, int quote, int64_t most) {
        require_marks(delimiter, quote);
        Found found;
        {
            nb::gil_scoped_release free;
            found = records(data.data(), static_cast<int64_t>(data.shape(0)), delimiter, quote, most);
        }
        return nb::make_tuple(vector_array<int64_t>(std::move(found.starts)),
                              vector_array<int64_t>(std::move(found.ends)),
                              vector_array<int64_t>(std::move(found.fields)));
    });
    m.def("count_lines", [](Bytes data) {
        nb::gil_scoped_release free;
        return count_lines(data.data(), static_cast<int64_t>(data.shape(0)));
    });
}

}  // namespace suffice

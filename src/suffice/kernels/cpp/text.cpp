// Bindings for documents and their words.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <array>
#include <string>

#include "binding.hpp"
#include "text/counting.hpp"
#include "text/encoding.hpp"
#include "text/passes.hpp"
#include "text/words.hpp"

namespace suffice {
namespace {

using namespace suffice::text;

// ---------------------------------------------------------------------- arrays

template <typename T> nb::object array_of(T *data, std::initializer_list<size_t> shape) {
    nb::capsule owner(data, [](void *held) noexcept { delete[] static_cast<T *>(held); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

template <typename T> nb::object array_of(GrowingArray<T> &&values) {
    const size_t size = values.size();
    T *data = values.release();
    nb::capsule owner(data ? data : std::malloc(1), [](void *held) noexcept { std::free(held); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, {size}, owner));
}

nb::object words_of(Packed &&words) {
    return nb::make_tuple(vector_array<uint8_t>(std::move(words.text)), vector_array<int64_t>(std::move(words.ends)));
}

WordsView view_of(const Bytes &text, const Codes &ends) {
    const auto size = static_cast<int64_t>(ends.shape(0));
    for (int64_t i = 0, before = 0; i < size; before = ends.data()[i++])
        require(ends.data()[i] >= before && ends.data()[i] <= static_cast<int64_t>(text.shape(0)),
                "the ends of words must increase and lie within the text");
    return {reinterpret_cast<const char *>(text.data()), ends.data(), size};
}

// ---------------------------------------------------------------------- token rules and vocabularies

struct OwnedTokenRules {
    TokenRules rules;
    std::unique_ptr<WordTable> stop;
};

std::unique_ptr<OwnedTokenRules> token_rules(int analyzer, bool lowercase, int64_t min_length, int least, int most,
                                             Bytes text, Codes ends, bool punctuation, int shortest, int longest) {
    auto found = std::make_unique<OwnedTokenRules>();
    const WordsView stop = view_of(text, ends);
    if (stop.size) {
        found->stop = std::make_unique<WordTable>(static_cast<size_t>(stop.size));
        for (int64_t i = 0; i < stop.size; ++i) {
            const std::string_view word = stop[i];
            const auto n = static_cast<int64_t>(word.size());
            found->stop->number(word_of(word.data(), n));
        }
    }
    require(analyzer >= 0 && analyzer <= 2 && least >= 1 && most >= least, "invalid token rules");
    require(shortest >= 0 && longest >= shortest && (!longest || (shortest && !analyzer && least == 1)),
            "invalid fragments of words");
    found->rules = {static_cast<Analyzer>(analyzer),
                    lowercase,
                    min_length,
                    least,
                    most,
                    found->stop.get(),
                    punctuation,
                    shortest,
                    longest};
    return found;
}

// Units of a document, so that positions in its UTF-8 fit in 32 bits.
constexpr int64_t LONGEST = (int64_t{1} << 30) - 1;
constexpr int64_t MOST_CLASSES = MOST_WORDS;  // so that the number of counts fits in 64 bits

[[noreturn]] void throw_row_error(const char *why, int64_t row, int64_t number) {
    const auto message = std::string(why) + " " + std::to_string(row) + " " + std::to_string(number);
    throw nb::value_error(message.c_str());
}

// The rules for documents first..last-1. Words split by the caller form no n-grams, and no n-gram is longer than the
// longest document, since every length has its own tables.
TokenRules rules_for(const OwnedTokenRules &own, const Documents &documents, int64_t first, int64_t last) {
    TokenRules rules = own.rules;
    if (!documents.tokens.empty()) {
        rules.least = rules.most = 1;
        return rules;
    }
    int64_t longest = 0;
    for (int64_t row = first; row < last; ++row) {
        const int64_t length = documents.texts[static_cast<size_t>(row)].length;
        if (length > LONGEST) throw_row_error("long", row, length);
        longest = std::max(longest, length);
    }
    // A capital I with a dot becomes two characters, and words get a space on either side for n-grams within them.
    rules.most = static_cast<int>(std::min<int64_t>(rules.most, 2 * longest + 2));
    return rules;
}
TokenRules rules_for(const OwnedTokenRules &own, const Documents &documents) {
    return rules_for(own, documents, 0, documents.size());
}

class Lookup {
  public:
    Lookup(Bytes text, Codes ends, int64_t slots) : slots_(slots) {
        require(slots >= 0 && slots <= MOST_WORDS, "too many slots");
        require(view_of(text, ends).size <= MOST_WORDS, "too many words");
        text_ = text;
        ends_ = ends;
        if (slots) {
            made_[false] = std::make_unique<Vocabulary>();
            made_[false]->slots = slots;
        }
    }
    int64_t size() const { return slots_ ? slots_ : static_cast<int64_t>(ends_.shape(0)); }

    // The vocabulary in the form that these rules and documents need. The caller holds the interpreter lock.
    const Vocabulary &of(const TokenRules &rules, const Documents &documents) {
        const bool cut = !slots_ && rules.analyzer == Analyzer::WORD && rules.most > 1 && documents.tokens.empty();
        std::unique_ptr<Vocabulary> &each = made_[cut];
        if (!each) each = vocabulary_of(view_of(text_, ends_), cut);
        return *each;
    }

  private:
    int64_t slots_;
    Bytes text_;
    Codes ends_;
    std::array<std::unique_ptr<Vocabulary>, 2> made_;  // indexed by whether words are split into n-grams
};

// ---------------------------------------------------------------------- passes

// Runs a pass without the interpreter lock. When it first needs the case classes for a capital sigma, they are computed
// in Python and the pass is run again.
template <typename Pass> auto run_pass(Pass pass) {
    for (int i = 0; i < 2; ++i) {
        try {
            nb::gil_scoped_release release;
            return pass();
        } catch (const SigmaNeeded &) {
        } catch (const Interrupted &) {
            throw nb::python_error();  // of the signal handler
        } catch (const BadText &bad) {
            throw_row_error("bad", bad.row, bad.at);
        }
        const nb::object found = nb::module_::import_("suffice.kernels.text").attr("case_classes")();
        const auto classes = nb::cast<Bytes>(found);
        require(classes.shape(0) == LAST_CHARACTER + 1, "case_classes must return a class for each character");
        set_case_classes({classes.data(), classes.data() + classes.shape(0)});
    }
    throw std::logic_error("the case classes are missing although they were set");
}

}  // namespace

void bind_text(nb::module_ &m) {
    interrupted = [] {
        nb::gil_scoped_acquire acquire;
        return PyErr_CheckSignals() != 0;
    };
    nb::class_<Documents>(m, "Documents")
        .def("__len__", &Documents::size)
        .def("bytes", &Documents::bytes)
        .def("missing",
             [](const Documents &self) {
                 std::vector<uint8_t> out(self.texts.size());
                 for (size_t i = 0; i < out.size(); ++i) out[i] = self.texts[i].form == Form::MISSING;
                 return vector_array<uint8_t>(std::move(out));
             })
        .def("sizes",
             [](const Documents &self) {
                 std::vector<int64_t> out(self.texts.size());
                 for (size_t i = 0; i < out.size(); ++i) out[i] = self.texts[i].length;
                 return vector_array<int64_t>(std::move(out));
             })
        // Position of the first byte of each document that is not UTF-8; -1 if all are.
        .def("bad_bytes",
             [](const Documents &self) {
                 std::vector<int64_t> out(self.texts.size(), -1);
                 nb::gil_scoped_release release;
                 for (size_t i = 0; i < out.size(); ++i) {
                     const Text &text = self.texts[i];
                     if (text.form != Form::UTF8) continue;
                     const Utf8 source{static_cast<const uint8_t *>(text.data), text.length};
                     try {
                         for (int64_t at = 0; at < text.length;) source.next(at);
                     } catch (const BadBytes &bad) {
                         out[i] = bad.at;
                     }
                 }
                 nb::gil_scoped_acquire acquire;
                 return vector_array<int64_t>(std::move(out));
             })
        .def(
            "take",
            [](const Documents &self, Codes index) {
                auto out = std::make_unique<Documents>();
                out->owners = self.owners;
                out->tokens = self.tokens;
                out->texts.reserve(index.shape(0));
                for (size_t i = 0; i < index.shape(0); ++i) {
                    const int64_t at = index.data()[i];
                    require(at >= 0 && at < self.size(), "the row is out of range");
                    out->texts.push_back(self.texts[static_cast<size_t>(at)]);
                }
                return out;
            },
            "index"_a.noconvert())
        .def("rows", [](const Documents &self, int64_t start, int64_t stop) {
            require(0 <= start && start <= stop && stop <= self.size(), "the rows are out of range");
            auto out = std::make_unique<Documents>();
            out->owners = self.owners;
            out->tokens = self.tokens;
            out->texts.assign(self.texts.begin() + start, self.texts.begin() + stop);
            return out;
        });
    nb::class_<OwnedTokenRules>(m, "TokenRules");
    nb::class_<Lookup>(m, "Lookup")
        .def(nb::init<Bytes, Codes, int64_t>(), "text"_a.noconvert(), "ends"_a.noconvert(), "slots"_a)
        .def("__len__", &Lookup::size);
    m.def("token_rules", &token_rules, "analyzer"_a, "lowercase"_a, "min_length"_a, "least"_a, "most"_a,
          "text"_a.noconvert(), "ends"_a.noconvert(), "punctuation"_a, "shortest"_a, "longest"_a);
    const auto checked = [](auto make) {
        return [make](nb::handle given) -> std::unique_ptr<Documents> {
            try {
                return make(given);
            } catch (const NotText &bad) {
                const std::string row = std::to_string(bad.row);
                throw nb::type_error(row.c_str());
            }
        };
    };
    m.def("documents_of_strings", checked(&of_strings), "texts"_a);
    m.def("documents_of_tokens", checked(&of_tokens), "tokens"_a);
    m.def("documents_of_arrow", &of_arrow, "capsule"_a);
    m.def(
        "count_words",
        [](const Documents &documents, const OwnedTokenRules &own, Codes codes, int64_t classes) {
            require(static_cast<int64_t>(codes.shape(0)) == documents.size(), "codes and documents differ in length");
            require(classes >= 0 && classes <= MOST_CLASSES, "too many classes");
            const TokenRules rules = rules_for(own, documents);
            Counts found = run_pass([&] { return count_words(documents, rules, codes.data(), classes); });
            const auto k = static_cast<size_t>(classes), n = found.words.ends.size();
            return nb::make_tuple(words_of(std::move(found.words)), array_of(found.count.release(), {k, n}),
                                  array_of(found.documents.release(), {k, n}));
        },
        "documents"_a, "rules"_a, "codes"_a.noconvert(), "classes"_a);
    m.def(
        "count_slots",
        [](const Documents &documents, const OwnedTokenRules &own, Codes codes, int64_t classes, int64_t slots) {
            require(static_cast<int64_t>(codes.shape(0)) == documents.size(), "codes and documents differ in length");
            require(slots > 0 && slots <= MOST_WORDS, "slots must be positive and fit in 32 bits");
            require(classes >= 0 && classes <= MOST_CLASSES, "too many classes");
            const TokenRules rules = rules_for(own, documents);
            SlotCounts found = run_pass([&] { return count_slots(documents, rules, codes.data(), classes, slots); });
            const auto k = static_cast<size_t>(classes), n = static_cast<size_t>(slots);
            return nb::make_tuple(array_of(found.count.release(), {k, n}), array_of(found.documents.release(), {k, n}));
        },
        "documents"_a, "rules"_a, "codes"_a.noconvert(), "classes"_a, "slots"_a);
    m.def(
        "encode_words",
        [](const Documents &documents, const OwnedTokenRules &own, Lookup *lookup) {
            const TokenRules rules = rules_for(own, documents);
            const text::Vocabulary *vocabulary = lookup ? &lookup->of(rules, documents) : nullptr;
            text::Encoded found = run_pass([&] { return encode_words(documents, rules, vocabulary); });
            const nb::object words = vocabulary ? nb::none() : words_of(std::move(found.words));
            return nb::make_tuple(words, vector_array<int64_t>(std::move(found.starts)),
                                  array_of(std::move(found.columns)), array_of(std::move(found.counts)));
        },
        "documents"_a, "rules"_a, "lookup"_a.none());
    m.def(
        "score_words",
        [](const Documents &documents, const OwnedTokenRules &own, Lookup &lookup, Table slope, bool distinct,
           Output scores, Weights lengths) {
            const TokenRules rules = rules_for(own, documents);
            require(static_cast<int64_t>(slope.shape(0)) == lookup.size(), "slope must have a row for each word");
            require_shape(scores, static_cast<size_t>(documents.size()), slope.shape(1));
            require(static_cast<int64_t>(lengths.shape(0)) == documents.size(),
                    "lengths must have an entry for each document");
            const text::Vocabulary &vocabulary = lookup.of(rules, documents);
            run_pass([&] {
                score_words(documents, rules, vocabulary, slope.data(), static_cast<int64_t>(slope.shape(1)), distinct,
                            scores.data(), lengths.data());
                return 0;
            });
        },
        "documents"_a, "rules"_a, "lookup"_a, "slope"_a.noconvert(), "distinct"_a, "scores"_a.noconvert(),
        "lengths"_a.noconvert());
    m.def(
        "document_words",
        [](const Documents &documents, const OwnedTokenRules &own, int64_t row) {
            require(row >= 0 && row < documents.size(), "the row is out of range");
            const TokenRules rules = rules_for(own, documents, row, row + 1);
            const Text &text = documents.texts[static_cast<size_t>(row)];
            const bool by_words = rules.by_words(text);
            const auto found = run_pass([&] {
                std::vector<std::vector<std::string>> ngrams(by_words ? static_cast<size_t>(rules.most) : 1);
                Reader reader(rules);
                std::string joined;
                std::vector<std::string> fragments;
                try {
                    reader.read(text, [&](size_t fresh) {
                        for (size_t level = 0; level < ngrams.size(); ++level)
                            for (size_t i = fresh > level ? fresh - level : 0; i + level < reader.words().size(); ++i) {
                                Reader::join(&reader.words()[i], static_cast<int>(level) + 1, joined);
                                ngrams[level].push_back(joined);
                            }
                    });
                    reader.read_fragments(text, [&] {
                        for (const Word &word : reader.words())
                            fragments.emplace_back(word.text, static_cast<size_t>(word.length));
                    });
                } catch (const BadBytes &bad) {
                    throw BadText{row, bad.at};
                }
                ngrams.push_back(std::move(fragments));
                return ngrams;
            });
            nb::list out;
            for (size_t level = by_words ? static_cast<size_t>(rules.least) - 1 : 0; level < found.size(); ++level)
                for (const std::string &each : found[level])
                    out.append(nb::steal(
                        PyUnicode_DecodeUTF8(each.data(), static_cast<Py_ssize_t>(each.size()), "surrogatepass")));
            return out;
        },
        "documents"_a, "rules"_a, "row"_a);
    m.def(
        "join_words",
        [](Bytes text, Codes ends, Bytes other_text, Codes other_ends) {
            const WordsView a = view_of(text, ends), b = view_of(other_text, other_ends);
            Packed out;
            std::vector<int64_t> at_a(static_cast<size_t>(a.size)), at_b(static_cast<size_t>(b.size));
            {
                nb::gil_scoped_release release;
                out.text.reserve(text.shape(0) + other_text.shape(0));
                out.ends.reserve(at_a.size() + at_b.size());
                for (int64_t i = 0, j = 0; i < a.size || j < b.size;) {
                    const int order = i == a.size ? 1 : j == b.size ? -1 : compare(a[i], b[j]);
                    const std::string_view word = order <= 0 ? a[i] : b[j];
                    const auto position = static_cast<int64_t>(out.ends.size());
                    if (order <= 0) at_a[static_cast<size_t>(i++)] = position;
                    if (order >= 0) at_b[static_cast<size_t>(j++)] = position;
                    out.text.insert(out.text.end(), word.begin(), word.end());
                    out.ends.push_back(static_cast<int64_t>(out.text.size()));
                }
            }
            return nb::make_tuple(words_of(std::move(out)), vector_array<int64_t>(std::move(at_a)),
                                  vector_array<int64_t>(std::move(at_b)));
        },
        "text"_a.noconvert(), "ends"_a.noconvert(), "other_text"_a.noconvert(), "other_ends"_a.noconvert());
    m.def(
        "word_positions",
        [](Bytes text, Codes ends, Bytes other_text, Codes other_ends) {
            const WordsView among = view_of(text, ends), words = view_of(other_text, other_ends);
            std::vector<int64_t> at(static_cast<size_t>(words.size), -1);
            for (int64_t i = 0, j = 0; i < among.size && j < words.size;) {
                const int order = compare(among[i], words[j]);
                if (order == 0) at[static_cast<size_t>(j)] = i;
                i += order <= 0;
                j += order >= 0;
            }
            return vector_array<int64_t>(std::move(at));
        },
        "text"_a.noconvert(), "ends"_a.noconvert(), "other_text"_a.noconvert(), "other_ends"_a.noconvert());
    m.def(
        "take_words",
        [](Bytes text, Codes ends, Codes at) {
            const WordsView words = view_of(text, ends);
            Packed out;
            out.ends.reserve(at.shape(0));
            for (size_t i = 0; i < at.shape(0); ++i) {
                require(at.data()[i] >= 0 && at.data()[i] < words.size, "the position of a word is out of range");
                const std::string_view word = words[at.data()[i]];
                out.text.insert(out.text.end(), word.begin(), word.end());
                out.ends.push_back(static_cast<int64_t>(out.text.size()));
            }
            return words_of(std::move(out));
        },
        "text"_a.noconvert(), "ends"_a.noconvert(), "at"_a.noconvert());
    // The first word that does not sort after the one before it; -1 if all do.
    m.def(
        "first_unsorted",
        [](Bytes text, Codes ends) {
            const WordsView words = view_of(text, ends);
            for (int64_t i = 1; i < words.size; ++i)
                if (compare(words[i - 1], words[i]) >= 0) return i;
            return int64_t{-1};
        },
        "text"_a.noconvert(), "ends"_a.noconvert());
    m.def(
        "word_hash", [](nb::bytes word) { return hash_of(word.c_str(), static_cast<int64_t>(word.size()), SLOT_SEED); },
        "word"_a);
}

}  // namespace suffice

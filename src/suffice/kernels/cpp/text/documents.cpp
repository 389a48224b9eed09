#include "documents.hpp"

#include <cstring>
#include <string>

#include "../arrow_interface.hpp"

namespace nb = nanobind;

namespace suffice::text {

int64_t Documents::bytes() const {
    int64_t total = 0;
    for (const Text &text : texts) {
        if (text.form == Form::TOKENS) {
            const auto *ends = static_cast<const int64_t *>(text.data);
            total += text.length ? ends[text.length - 1] - ends[-1] : 0;
        } else {
            total += text.length * (text.form == Form::TWO ? 2 : text.form == Form::FOUR ? 4 : 1);
        }
    }
    return total;
}

// ---------------------------------------------------------------------- Python

namespace {

Text of_unicode(PyObject *object) {
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(object) != 0) throw nb::python_error();
#endif
    Form form = Form::FOUR;
    if (PyUnicode_IS_ASCII(object)) form = Form::ASCII;
    else if (PyUnicode_KIND(object) == PyUnicode_1BYTE_KIND) form = Form::LATIN;
    else if (PyUnicode_KIND(object) == PyUnicode_2BYTE_KIND) form = Form::TWO;
    return {PyUnicode_DATA(object), static_cast<int64_t>(PyUnicode_GET_LENGTH(object)), form};
}

}  // namespace

std::unique_ptr<Documents> of_strings(nb::handle given) {
    auto found = std::make_unique<Documents>();
    // A tuple, so that later changes to the caller's list do not free the strings.
    const auto held = nb::steal<nb::object>(PySequence_Tuple(given.ptr()));
    if (!held.is_valid()) throw nb::python_error();
    const Py_ssize_t n = PyTuple_GET_SIZE(held.ptr());
    found->texts.resize(static_cast<size_t>(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject *each = PyTuple_GET_ITEM(held.ptr(), i);
        if (each == Py_None) continue;
        if (!PyUnicode_Check(each)) throw NotText{i};
        found->texts[i] = of_unicode(each);
    }
    found->owners.push_back(held);
    return found;
}

std::unique_ptr<Documents> of_tokens(nb::handle given) {
    auto found = std::make_unique<Documents>();
    auto held = std::make_shared<Tokens>();
    const auto lists = nb::steal<nb::object>(PySequence_Tuple(given.ptr()));
    if (!lists.is_valid()) throw nb::python_error();
    const Py_ssize_t n = PyTuple_GET_SIZE(lists.ptr());
    std::vector<int64_t> first(static_cast<size_t>(n), -1);
    found->texts.resize(static_cast<size_t>(n));
    std::vector<char> &text = held->text;
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject *list = PyTuple_GET_ITEM(lists.ptr(), i);
        if (list == Py_None) continue;
        const auto words = nb::steal<nb::object>(PySequence_Tuple(list));
        if (!words.is_valid()) throw nb::python_error();
        first[i] = static_cast<int64_t>(held->ends.size());
        for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(words.ptr()); ++j) {
            PyObject *word = PyTuple_GET_ITEM(words.ptr(), j);
            if (!PyUnicode_Check(word)) throw NotText{i};
            const auto packed = nb::steal<nb::object>(PyUnicode_AsEncodedString(word, "utf-8", "surrogatepass"));
            if (!packed.is_valid()) throw nb::python_error();
            const char *data = PyBytes_AS_STRING(packed.ptr());
            text.insert(text.end(), data, data + PyBytes_GET_SIZE(packed.ptr()));
            held->ends.push_back(static_cast<int64_t>(text.size()));
        }
        found->texts[i].length = static_cast<int64_t>(held->ends.size()) - first[i];
        found->texts[i].form = Form::TOKENS;
    }
    for (Py_ssize_t i = 0; i < n; ++i) {
        if (first[i] < 0) continue;
        found->texts[i].data = held->ends.data() + first[i];
        found->texts[i].words = text.data();
    }
    found->tokens.push_back(std::move(held));
    return found;
}

// ---------------------------------------------------------------------- Arrow

namespace {

using Array = Owned<ArrowArray>;

// Whether a text is present. The slot of a missing text may hold anything.
bool is_valid(const ArrowArray &array, int64_t i) {
    if (array.null_count == 0 || !array.buffers[0]) return true;
    const int64_t at = array.offset + i;
    return static_cast<const uint8_t *>(array.buffers[0])[at / 8] >> (at % 8) & 1;
}

template <typename Offset> Text utf8_at(const ArrowArray &array, int64_t i) {
    const auto *offsets = static_cast<const Offset *>(array.buffers[1]) + array.offset + i;
    const auto *data = static_cast<const char *>(array.buffers[2]);
    return {data + offsets[0], static_cast<int64_t>(offsets[1] - offsets[0]), Form::UTF8};
}

// A view: a length and up to twelve bytes; or a length, four bytes, the index of a buffer and the offset in it.
Text view_at(const ArrowArray &array, int64_t i) {
    const auto *view = static_cast<const char *>(array.buffers[1]) + (array.offset + i) * 16;
    int32_t part[4];
    std::memcpy(part, view, sizeof part);
    const char *data = part[0] <= 12 ? view + 4 : static_cast<const char *>(array.buffers[2 + part[2]]) + part[3];
    return {data, part[0], Form::UTF8};
}

}  // namespace

std::unique_ptr<Documents> of_arrow(nb::handle capsule) {
    auto *stream = static_cast<ArrowArrayStream *>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (!stream) throw nb::python_error();
    if (!stream->release) return nullptr;
    Owned<ArrowSchema> schema;
    if (stream->get_schema(stream, schema.get()) != 0 || schema.get()->dictionary) return nullptr;
    const std::string format = schema.get()->format ? schema.get()->format : "";
    if (format != "u" && format != "U" && format != "vu") return nullptr;
    auto found = std::make_unique<Documents>();
    while (true) {
        auto piece = std::make_unique<Array>();
        if (stream->get_next(stream, piece->get()) != 0) return nullptr;
        if (!piece->is_set()) return found;
        const ArrowArray &array = *piece->get();
        found->texts.reserve(found->texts.size() + static_cast<size_t>(array.length));
        if (array.length > 0) {
            if (array.n_buffers < (format == "vu" ? 2 : 3) || !array.buffers[1]) return nullptr;
            const auto text_at = format == "u" ? utf8_at<int32_t> : format == "U" ? utf8_at<int64_t> : view_at;
            for (int64_t i = 0; i < array.length; ++i)
                found->texts.push_back(is_valid(array, i) ? text_at(array, i) : Text{});
        }
        found->owners.push_back(
            nb::capsule(piece.release(), [](void *held) noexcept { delete static_cast<Array *>(held); }));
    }
}

}  // namespace suffice::text

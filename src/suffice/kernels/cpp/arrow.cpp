// Columns read through the Arrow C stream interface: their numbers and validity bits.
#include <cstring>
#include <memory>

#include "arrow_interface.hpp"
#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

// Type and element size of a column of numbers; false for any other column.
bool number_type(const char *format, nb::dlpack::dtype &type, int64_t &bytes) {
    if (!format || std::strlen(format) != 1) return false;
    switch (format[0]) {
    case 'g': type = nb::dtype<double>(); break;
    case 'f': type = nb::dtype<float>(); break;
    case 'l': type = nb::dtype<int64_t>(); break;
    case 'i': type = nb::dtype<int32_t>(); break;
    case 's': type = nb::dtype<int16_t>(); break;
    case 'c': type = nb::dtype<int8_t>(); break;
    case 'L': type = nb::dtype<uint64_t>(); break;
    case 'I': type = nb::dtype<uint32_t>(); break;
    case 'S': type = nb::dtype<uint16_t>(); break;
    case 'C': type = nb::dtype<uint8_t>(); break;
    default: return false;
    }
    bytes = type.bits / 8;
    return true;
}

using View = nb::ndarray<nb::numpy, nb::ro, nb::ndim<1>>;

// The only array of a stream, and its schema; null if the stream has several arrays or none.
std::unique_ptr<Owned<ArrowArray>> one_array(nb::handle capsule, Owned<ArrowSchema> &schema) {
    auto *stream = static_cast<ArrowArrayStream *>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (!stream) throw nb::python_error();
    if (!stream->release || stream->get_schema(stream, schema.get()) != 0) return nullptr;
    auto whole = std::make_unique<Owned<ArrowArray>>();
    Owned<ArrowArray> more;
    if (stream->get_next(stream, whole->get()) != 0 || !whole->is_set()) return nullptr;
    if (stream->get_next(stream, more.get()) != 0 || more.is_set()) return nullptr;
    return whole;
}

// Booleans, one byte each; None if the column is not boolean or has a missing value.
nb::object arrow_truths(nb::handle capsule) {
    Owned<ArrowSchema> schema;
    const auto whole = one_array(capsule, schema);
    if (!whole || !schema.get()->format || std::strcmp(schema.get()->format, "b") != 0) return nb::none();
    const ArrowArray &array = *whole->get();
    if (array.n_buffers != 2 || !array.buffers[1] || (array.buffers[0] && array.null_count != 0)) return nb::none();
    std::vector<uint8_t> out(static_cast<size_t>(array.length));
    const auto *bits = static_cast<const uint8_t *>(array.buffers[1]);
    const auto one = [&](uint64_t i) {
        const uint64_t at = static_cast<uint64_t>(array.offset) + i;
        out[i] = bits[at / 8] >> (at % 8) & 1;
    };
    {
        nb::gil_scoped_release release;
        for_blocks(
            array.length, 1 << 16, [] { return 0; },
            [&](int64_t first, int64_t last, int) {
                int64_t i = first;
                for (; i < last && (array.offset + i) % 8; ++i) one(i);
                for (; i + 8 <= last; i += 8) {
                    // Byte l keeps bit l of the eight; a byte that is not zero then carries into its highest bit.
                    const uint64_t kept = bits[(array.offset + i) / 8] * 0x0101010101010101u & 0x8040201008040201u;
                    const uint64_t truths = (kept + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
                    for (int64_t l = 0; l < 8; ++l) out[i + l] = static_cast<uint8_t>(truths >> 8 * l);
                }
                for (; i < last; ++i) one(i);
            });
    }
    return vector_array<uint8_t>(std::move(out));
}

// (numbers, bits, position of the first bit) of a stream of one array; None if the stream has several arrays or none,
// or does not hold numbers with validity bits. The returned arrays are views of the stream's memory.
nb::object arrow_column(nb::handle capsule) {
    Owned<ArrowSchema> schema;
    auto whole = one_array(capsule, schema);
    nb::dlpack::dtype type;
    int64_t bytes = 0;
    if (!whole || !number_type(schema.get()->format, type, bytes) || schema.get()->dictionary) return nb::none();
    const ArrowArray &array = *whole->get();
    if (array.n_buffers != 2 || !array.buffers[0] || !array.buffers[1]) return nb::none();
    const auto rows = static_cast<size_t>(array.length),
               bits = static_cast<size_t>((array.offset + array.length + 7) / 8);
    const auto *values = static_cast<const char *>(array.buffers[1]) + array.offset * bytes;
    const void *valid = array.buffers[0];
    const int64_t first = array.offset;
    const nb::capsule owner(whole.release(),
                            [](void *held) noexcept { delete static_cast<Owned<ArrowArray> *>(held); });
    return nb::make_tuple(View(values, {rows}, owner, {}, type), View(valid, {bits}, owner, {}, nb::dtype<uint8_t>()),
                          first);
}

}  // namespace

void bind_arrow(nb::module_ &m) {
    using Bits = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    m.def("arrow_column", &arrow_column, "capsule"_a);
    m.def("arrow_truths", &arrow_truths, "capsule"_a);
    m.def(
        "known_numbers",
        [](nb::object values, Bits bits, int64_t first, Weights out) {
            const Rows rows(values);
            const Matrix &view = rows.view();
            require(view.each && view.columns == 1 && view.each[0].stride == 1, "values must be one contiguous column");
            require(out.shape(0) == static_cast<size_t>(view.rows), "out and values differ in length");
            require_bits(bits.shape(0), first, view.rows);
            nb::gil_scoped_release release;
            for_blocks(
                view.rows, 1 << 15, [] { return 0; },
                [&](int64_t from, int64_t to, int &) {
                    kernels().arrow.known_numbers(view.each[0], bits.data(), first, from, to, out.data());
                });
        },
        "values"_a, "bits"_a.noconvert(), "first"_a, "out"_a.noconvert());
}

}  // namespace suffice

// The module, and how it sees Python's arrays.
#include "binding.hpp"
#include "threads.hpp"

namespace suffice {

Type type_of(const nb::dlpack::dtype &type) {
    if (type.lanes == 1) {
        if (type == nb::dtype<double>()) return Type::f64;
        if (type == nb::dtype<float>()) return Type::f32;
        if (type == nb::dtype<int64_t>()) return Type::i64;
        if (type == nb::dtype<int32_t>()) return Type::i32;
        if (type == nb::dtype<int16_t>()) return Type::i16;
        if (type == nb::dtype<int8_t>()) return Type::i8;
        if (type == nb::dtype<uint64_t>()) return Type::u64;
        if (type == nb::dtype<uint32_t>()) return Type::u32;
        if (type == nb::dtype<uint16_t>()) return Type::u16;
        if (type == nb::dtype<uint8_t>() || type == nb::dtype<bool>()) return Type::u8;
    }
    throw nb::type_error("x must hold float64, float32, integers or booleans");
}

Rows::Rows(nb::handle x, bool bits) : view_{} {
    const auto seen = [this](nb::handle array, size_t dimensions) -> const Array & {
        Array found;
        // Not every object with a buffer: nanobind reads the strides of a NumPy time, which has none.
        if (!nb::hasattr(array, "__dlpack__") || !nb::try_cast(array, found, false))
            throw nb::type_error("x must be a NumPy array or a list of NumPy arrays");
        require(found.ndim() == dimensions, "x must be a matrix or a list of columns");
        require_aligned(found);
        held_.push_back(std::move(found));
        return held_.back();
    };
    if (!nb::isinstance<nb::list>(x)) {
        const Array &whole = seen(x, 2);
        view_ = {whole.data(),
                 static_cast<int64_t>(whole.shape(0)),
                 static_cast<int64_t>(whole.shape(1)),
                 whole.stride(0),
                 whole.stride(1),
                 type_of(whole.dtype()),
                 nullptr};
        return;
    }
    const nb::list list = nb::borrow<nb::list>(x);
    require(list.size() > 0, "x must have at least one column");
    held_.reserve(2 * list.size());
    for (nb::handle each : list) {
        const bool holed = bits && nb::isinstance<nb::tuple>(each);
        int64_t first = 0;
        if (holed)
            require(nb::len(each) == 3 && nb::try_cast(nb::handle(each[2]), first, false),
                    "a column with bits must be a tuple of numbers, bits and the position of the first bit");
        const Array &column = seen(holed ? nb::handle(each[0]) : each, 1);
        columns_.push_back({column.data(), column.stride(0), type_of(column.dtype()), nullptr, 0});
        require(column.shape(0) == held_[0].shape(0), "the columns of x differ in length");
        if (!holed) continue;
        const auto rows = static_cast<int64_t>(column.shape(0));
        const Array &flags = seen(each[1], 1);
        require(flags.dtype() == nb::dtype<uint8_t>() && (rows == 0 || flags.stride(0) == 1),
                "bits must be contiguous bytes");
        require_bits(flags.shape(0), first, rows);
        columns_.back().bits = static_cast<const uint8_t *>(flags.data());
        columns_.back().bit = first;
    }
    view_ = {
        nullptr,        static_cast<int64_t>(held_[0].shape(0)), static_cast<int64_t>(columns_.size()), 0, 0, Type::f64,
        columns_.data()};
}

Membership membership(const Matrix &x, const Codes &codes, const Table &soft, const Vector &weights, int64_t classes) {
    const auto n = static_cast<size_t>(x.rows);
    require(codes.is_valid() != soft.is_valid(), "exactly one of codes and soft is required");
    require(!codes.is_valid() || codes.shape(0) == n, "codes and x differ in length");
    require(!soft.is_valid() || (soft.shape(0) == n && soft.shape(1) == static_cast<size_t>(classes)),
            "soft must have a row for each row of x and a column for each class");
    require(!weights.is_valid() || weights.shape(0) == n, "weights and x differ in length");
    return {codes.is_valid() ? codes.data() : nullptr, or_null(soft), or_null(weights), classes};
}

}  // namespace suffice

NB_MODULE(_core, m) {
#ifndef SUFFICE_SANITIZE
    nanobind::set_leak_warnings(false);  // models that live until Python ends are not leaks
#endif
    m.def("instruction_set", [] { return suffice::kernels().name; });
    m.def("thread_count", &suffice::thread_count);
    m.def("limit_threads", &suffice::limit_threads);
    suffice::bind_arrow(m);
    suffice::bind_bin_counts(m);
    suffice::bind_counts(m);
    suffice::bind_fourth_moments(m);
    suffice::bind_gaussian(m);
    suffice::bind_joining(m);
    suffice::bind_held_out(m);
    suffice::bind_labels(m);
    suffice::bind_linear(m);
    suffice::bind_moments(m);
    suffice::bind_knots(m);
    suffice::bind_cells(m);
    suffice::bind_pair_counts(m);
    suffice::bind_pair_scores(m);
    suffice::bind_posterior(m);
    suffice::bind_quantiles(m);
    suffice::bind_records(m);
    suffice::bind_rising(m);
    suffice::bind_scatter(m);
    suffice::bind_sparse(m);
    suffice::bind_sums(m);
    suffice::bind_tempering(m);
    suffice::bind_text(m);
}

// How the bindings see Python's arrays. Every shape is checked; no array is converted.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace suffice {

namespace nb = nanobind;
using namespace nb::literals;

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline void require(bool fits, const char *message) {
    if (!fits) throw nb::value_error(message);
}

// Requires the numbers of an array to be at multiples of their size.
template <typename Array> void require_aligned(const Array &array) {
    const uintptr_t bytes = std::max<uintptr_t>(array.dtype().bits / 8, 1);
    require(reinterpret_cast<uintptr_t>(array.data()) % bytes == 0, "an array must be aligned");
}

// Requires `bytes` validity bytes to hold the bits of `rows` rows from bit `first` on.
inline void require_bits(size_t bytes, int64_t first, int64_t rows) {
    const int64_t bits = 8 * static_cast<int64_t>(bytes);
    require(first >= 0 && rows <= bits && first <= bits - rows, "bits has too few entries");
}

Type type_of(const nb::dlpack::dtype &type);

// Rows of numbers: a matrix or a list of columns, of any real type and with any strides. Keeps the arrays alive that it
// views. For kernels that read validity bits, a column may be a tuple of numbers, bits and the position of the first
// bit.
class Rows {
  public:
    explicit Rows(nb::handle x, bool bits = false);
    Rows(const Rows &) = delete;
    const Matrix &view() const { return view_; }

  private:
    using Array = nb::ndarray<nb::ro, nb::device::cpu>;
    std::vector<Array> held_;
    std::vector<Column> columns_;
    Matrix view_;
};

Membership membership(const Matrix &x, const Codes &codes, const Table &soft, const Vector &weights, int64_t classes);

// The rule with this number in Python.
CellRule cell_rule(int cell, double threshold);

template <typename Array> const double *or_null(const Array &array) {
    return array.is_valid() ? array.data() : nullptr;
}

template <typename Array> void require_shape(const Array &array, size_t rows, size_t columns) {
    require(array.shape(0) == rows && array.shape(1) == columns, "an array must have the shape classes x columns");
}

// A Python array that owns the elements of a vector.
template <typename T, typename From> nb::object vector_array(std::vector<From> &&values) {
    static_assert(sizeof(T) == sizeof(From));
    auto held = std::make_unique<std::vector<From>>(std::move(values));
    auto *data = reinterpret_cast<T *>(held->data());
    const size_t size = held->size();
    nb::capsule owner(held.release(), [](void *each) noexcept { delete static_cast<std::vector<From> *>(each); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, {size}, owner));
}

void bind_arrow(nb::module_ &m);
void bind_bin_counts(nb::module_ &m);
void bind_counts(nb::module_ &m);
void bind_fourth_moments(nb::module_ &m);
void bind_gaussian(nb::module_ &m);
void bind_joining(nb::module_ &m);
void bind_held_out(nb::module_ &m);
void bind_knots(nb::module_ &m);
void bind_labels(nb::module_ &m);
void bind_linear(nb::module_ &m);
void bind_moments(nb::module_ &m);
void bind_cells(nb::module_ &m);
void bind_pair_counts(nb::module_ &m);
void bind_pair_scores(nb::module_ &m);
void bind_posterior(nb::module_ &m);
void bind_quantiles(nb::module_ &m);
void bind_records(nb::module_ &m);
void bind_rising(nb::module_ &m);
void bind_scatter(nb::module_ &m);
void bind_sparse(nb::module_ &m);
void bind_sums(nb::module_ &m);
void bind_tempering(nb::module_ &m);
void bind_text(nb::module_ &m);

}  // namespace suffice

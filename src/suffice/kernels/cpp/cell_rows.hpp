// Cells of rows, and the parents of pairs of cells.
#pragma once

#include "binding.hpp"

namespace suffice {

using Cells = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Columns whose cells have a row in the table of pairs: cell c of parent p is in row c + shift[p].
struct Parents {
    const int64_t *column, *shift;
    int64_t count;
};

// Cells of rows (n x d): cell numbers of all columns are distinct; a negative cell is not read.
struct CellRows {
    const int32_t *data;
    int64_t rows, columns;
    const int32_t *row(int64_t i) const { return data + i * columns; }
};

inline CellRows rows_of(const Cells &cells) {
    return {cells.data(), static_cast<int64_t>(cells.shape(0)), static_cast<int64_t>(cells.shape(1))};
}

inline Parents parents_of(const Codes &column, const Codes &shift, int64_t columns) {
    require(column.shape(0) == shift.shape(0), "parents and shift differ in length");
    for (size_t p = 0; p < column.shape(0); ++p) {
        const int64_t at = column.data()[p];
        require(at >= 0 && at < columns && (p == 0 || at > column.data()[p - 1]), "parents must be sorted columns");
    }
    return {column.data(), shift.data(), static_cast<int64_t>(column.shape(0))};
}

}  // namespace suffice

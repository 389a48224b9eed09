"""Passes over memory, in C++.

Each function takes rows as a matrix, or a list of columns, of any real type and any strides, and releases the
interpreter lock. Those that
summarise or evaluate return new float64 arrays; `outer` and `accumulate` add to arrays they are given, and
`CentredBlocks` uses one buffer again for each block. The result does not depend on the number of threads
(``OMP_NUM_THREADS`` and threadpoolctl are obeyed), nor on the instruction set that was picked for the processor.
Those called exact keep two doubles of everything, and are for rows that are few.

Membership is given in one of two ways: ``codes`` (n,) with the class of each row, where a code outside
``0..n_classes-1`` leaves the row out; or ``soft`` (n, n_classes) with a weight for each row and class.
``weights`` (n,) multiplies either; a row of weight zero is not read.
"""

from __future__ import annotations

from suffice.kernels import _core
from suffice.kernels.arrow import ArrowColumn, arrow_column, arrow_truths
from suffice.kernels.counts import (
    Ranges,
    class_counts,
    code_counts,
    code_range,
    padded_table,
    table_sums,
    value_ranges,
)
from suffice.kernels.gaussian import (
    diagonal_answers,
    diagonal_log_likelihood,
    full_answers,
    full_log_likelihood,
    left_out,
    packed_triangle,
)
from suffice.kernels.joining import (
    complete,
    grand_mean,
    join_moments,
    join_scatter,
    pool_moments,
    settle_moments,
)
from suffice.kernels.linear import linear_answers, linear_scores
from suffice.kernels.moments import Moments, class_moments, class_sums, exact_moments, looked_sums
from suffice.kernels.posterior import Answer, Finish, add_to_rows, answer
from suffice.kernels.scatter import CentredBlocks, ScatterSums, accumulate, exact_scatter, outer, scatter_pass
from suffice.kernels.sparse import Cells, rises, sparse_scores, sparse_sums
from suffice.kernels.value_flags import ValueFlags

__all__ = [
    "Answer",
    "ArrowColumn",
    "Cells",
    "CentredBlocks",
    "Finish",
    "Moments",
    "Ranges",
    "ScatterSums",
    "ValueFlags",
    "accumulate",
    "add_to_rows",
    "answer",
    "arrow_column",
    "arrow_truths",
    "class_counts",
    "class_moments",
    "class_sums",
    "code_counts",
    "code_range",
    "complete",
    "diagonal_answers",
    "diagonal_log_likelihood",
    "exact_moments",
    "exact_scatter",
    "full_answers",
    "full_log_likelihood",
    "grand_mean",
    "instruction_set",
    "join_moments",
    "join_scatter",
    "left_out",
    "linear_answers",
    "linear_scores",
    "looked_sums",
    "outer",
    "packed_triangle",
    "padded_table",
    "pool_moments",
    "rises",
    "scatter_pass",
    "settle_moments",
    "sparse_scores",
    "sparse_sums",
    "table_sums",
    "value_ranges",
]


def instruction_set() -> str:
    """Name of the instruction set in use: ``baseline``, ``avx2`` or ``avx512``."""
    return _core.instruction_set()

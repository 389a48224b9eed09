"""Passes over memory, written in C++.

Each function takes rows as a matrix or a list of columns, of any real type and with any strides, and releases the
interpreter lock. Functions that summarise or evaluate rows return new float64 arrays; `outer`, `accumulate`,
`add_moved`, `add_pair_counts` and `widen_cell_ends` change the arrays that they are given, and `CentredBlocks` reuses
one buffer for all blocks. Results depend neither on the number of threads (``OMP_NUM_THREADS`` and threadpoolctl are
respected) nor on the instruction set that was chosen for the processor. Functions called *exact* keep every number as
two doubles and are meant for few rows.

Class membership is either ``codes`` (n,), the class of each row, or ``soft`` (n, n_classes), a weight for each row and
class. A row whose code is outside ``0..n_classes-1`` is ignored. ``weights`` (n,) multiplies either; a row of weight
zero is not read.
"""

from __future__ import annotations

from suffice.kernels import _core
from suffice.kernels.arrow import ArrowColumn, arrow_column, arrow_truths
from suffice.kernels.bin_counts import bin_counts
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
    diagonal_log_likelihood,
    diagonal_posterior,
    full_log_likelihood,
    full_posterior,
    held_out_log_likelihood,
    packed_triangle,
)
from suffice.kernels.joining import (
    complete_symmetric,
    grand_mean,
    join_moments,
    join_row,
    join_row_scatter,
    join_scatter,
    pool_moments,
    refine_moments,
)
from suffice.kernels.knots import add_line_scores, add_step_scores
from suffice.kernels.labels import text_codes
from suffice.kernels.linear import linear_posterior, linear_scores
from suffice.kernels.moments import MomentSums, class_moments, class_sums, class_sums_with_flags, exact_moments
from suffice.kernels.pairs import (
    add_pair_counts,
    held_out_pair_scores,
    interval_cells,
    pair_scores,
    widen_cell_ends,
)
from suffice.kernels.posterior import PosteriorOutput, PosteriorRequest, add_to_rows, write_posterior
from suffice.kernels.quantiles import quantiles
from suffice.kernels.scatter import (
    CentredBlocks,
    ScatterSums,
    accumulate,
    add_moved,
    exact_scatter,
    outer,
    scatter_pass,
)
from suffice.kernels.sparse import Cells, has_sorted_indices, rising_scores, sparse_scores, sparse_sums
from suffice.kernels.tempering import TemperedLoss, tempered_loss
from suffice.kernels.value_flags import ValueFlags

__all__ = [
    "ArrowColumn",
    "Cells",
    "CentredBlocks",
    "MomentSums",
    "PosteriorOutput",
    "PosteriorRequest",
    "Ranges",
    "ScatterSums",
    "TemperedLoss",
    "ValueFlags",
    "accumulate",
    "add_line_scores",
    "add_moved",
    "add_pair_counts",
    "add_step_scores",
    "add_to_rows",
    "arrow_column",
    "arrow_truths",
    "bin_counts",
    "class_counts",
    "class_moments",
    "class_sums",
    "class_sums_with_flags",
    "code_counts",
    "code_range",
    "complete_symmetric",
    "diagonal_log_likelihood",
    "diagonal_posterior",
    "exact_moments",
    "exact_scatter",
    "full_log_likelihood",
    "full_posterior",
    "grand_mean",
    "has_sorted_indices",
    "held_out_log_likelihood",
    "held_out_pair_scores",
    "instruction_set",
    "interval_cells",
    "join_moments",
    "join_row",
    "join_row_scatter",
    "join_scatter",
    "limit_threads",
    "linear_posterior",
    "linear_scores",
    "outer",
    "packed_triangle",
    "padded_table",
    "pair_scores",
    "pool_moments",
    "quantiles",
    "refine_moments",
    "rising_scores",
    "scatter_pass",
    "sparse_scores",
    "sparse_sums",
    "table_sums",
    "tempered_loss",
    "text_codes",
    "thread_count",
    "value_ranges",
    "widen_cell_ends",
    "write_posterior",
]


def instruction_set() -> str:
    """Name of the instruction set in use: ``baseline``, ``avx2`` or ``avx512``."""
    return _core.instruction_set()


def thread_count(tasks: int) -> int:
    """Number of threads that kernels called from this thread use for so many tasks."""
    return _core.thread_count(tasks)


def limit_threads(count: int) -> None:
    """Set the largest number of threads for kernels called from this thread."""
    _core.limit_threads(count)

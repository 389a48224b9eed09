"""Dataframes and arrays of Dask, with or without a cluster: functions go to the partitions as tasks."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Self

from suffice.exceptions import InputError, SufficeError, listed
from suffice.sources.dask_partitions import (
    answer_block,
    answer_frame,
    answer_frame_of,
    arrow_rows,
    evaluated,
    first_rows,
    first_rows_of,
    merged,
    number_of_rows,
    random_rows,
    summarized,
    together,
    with_columns,
)
from suffice.sources.engine_tables import AnswerPart, Answers, PartitionedTable, SummarizePart
from suffice.sources.engine_types import ArrowTable, NativeFrame, NativeSeries

__all__ = ["table_of"]

GROUP = 16  # results of partitions that are merged at once
RETRIES = 3  # of a task that raises an error, with a cluster; one whose worker died starts again in any case


def table_of(data: NativeFrame) -> DaskTable | None:
    """The table that a dataframe, a series or an array of Dask is; None for other objects."""
    from dask.base import is_dask_collection

    if not is_dask_collection(data):
        return None

"""Models of partitions, made where the rows are and merged on the way back."""

from __future__ import annotations

from functools import partial

from suffice.engines.summary import Summary
from suffice.engines.worker import SentModel, merge_summaries, summarize_partition
from suffice.learning.fitted import Fitted
from suffice.model.merge_tree import MergeTree
from suffice.sources.engine_tables import PartitionedTable

__all__ = ["merged_partitions"]


def merged_partitions(
    prototype: Fitted, table: PartitionedTable, target: str, weights: str | None, *, removes: bool
) -> Summary:
    """The summary of all rows of a table; only summaries of few groups of partitions come into this process."""
    sent = SentModel.of(prototype)
    summarize = partial(
        summarize_partition,
        prototype=sent,
        target=target,
        weights=weights,
        positional=table.positional,
        removes=removes,
    )
    tree: MergeTree[Summary] = MergeTree(Summary.merge)
    for each in table.summaries(summarize, partial(merge_summaries, prototype=sent)):
        tree.add(Summary.from_bytes(each))
    found = tree.total()
    return Summary.of_no_rows(prototype) if found is None else found

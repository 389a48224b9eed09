"""Functions that run where a partition is. Only bytes and plain values are sent to them, and only bytes come back."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from suffice.engines.answer_columns import answer_columns, answer_schema, opened
from suffice.engines.summary import Failure, Summary, as_matrix, labelled, merged, packed, unpacked
from suffice.exceptions import without_warnings
from suffice.learning.fitted import Fitted
from suffice.learning.training_rows import Expected
from suffice.model_file import model_bytes, model_of_bytes
from suffice.sources.engine_types import ArrowTable, NativeFrame

__all__ = ["SentModel", "answer_partition", "merge_summaries", "summarize_partition"]


class SentModel(NamedTuple):
    """A fitted model as it is sent to a worker: plain values.

    Attributes
    ----------
    content : bytes
        The model, in the format of model files, compressed.
    module : str
        The module of its specification, which the worker imports to know it.
    """

    content: bytes
    module: str

    @classmethod
    def of(cls, fitted: Fitted) -> SentModel:
        """A model to send."""
        return cls(packed(model_bytes(fitted)), type(fitted.specification).__module__)

    def fitted(self) -> Fitted:
        """The model, where it was sent."""
        return _received(self)


@lru_cache(maxsize=4)
def _received(sent: SentModel) -> Fitted:
    importlib.import_module(sent.module)
    return model_of_bytes(unpacked(sent.content))


def summarize_partition(
    part: int | None,
    rows: ArrowTable | NativeFrame | Callable[[], ArrowTable],
    *,
    prototype: SentModel,
    target: str,
    weights: str | None,
    positional: bool,
    removes: bool,
) -> bytes:
    """Summarise the rows of a partition by the model of no rows ``prototype``; an error about the rows is returned."""
    fitted = prototype.fitted()
    expected = Expected(fitted.specification, fitted, fitted.classes, removes=removes)
    try:
        rows = rows() if callable(rows) else rows
        return Summary.of_rows(labelled(rows, target, weights, positional=positional), expected).to_bytes(fitted)
    except ValueError as error:
        return Failure.to_bytes(error, part)


def merge_summaries(summaries: Sequence[bytes], *, prototype: SentModel) -> bytes:
    """Merge the summaries of partitions; the first error among them is returned instead."""
    return merged(summaries, prototype.fitted())


def answer_partition(
    rows: ArrowTable | NativeFrame, *, model: SentModel, method: str, options: dict[str, Any], positional: bool
) -> ArrowTable:
    """The columns of an answer for some rows."""
    fitted = model.fitted()
    reader, layout = fitted.reader, fitted.layout
    with without_warnings():  # on impossible rows, for example; nobody reads them on a worker
        if positional:
            tables = [reader.rows(as_matrix(rows), layout)] if len(rows) else []
        else:
            read = opened(fitted, rows.combine_chunks())
            tables = [reader.rows(reader.from_arrow(each), layout) for each in read.batches()]
        answers = [answer_columns(fitted, each, method, **options) for each in tables]
    if not answers:
        return answer_schema(fitted, method).empty_table()
    import pyarrow as pa

    return pa.concat_tables(answers)

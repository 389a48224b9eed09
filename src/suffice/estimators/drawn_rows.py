"""Rows drawn from a model as a table with their labels, as the command and the server write them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.exceptions import Argument, InputError, Sentence
from suffice.families import Text
from suffice.sources.engine_types import ArrowTable

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier

__all__ = ["drawn_tables"]

BATCH_ROWS = 1 << 16
EVENTS = ("multinomial", "bernoulli")  # whose scores are log-densities
SINGLE_WORDS = {
    "weighting": "count",
    "idf": False,
    "length": 0,
    "ngram_range": (1, 1),
    "characters": None,
    "slots": 0,
}
"""Settings of a model whose texts can be drawn."""


def drawn_tables(
    model: GenerativeClassifier,
    n_rows: int,
    label: Hashable = None,
    length: int | None = None,
    seed: int | None = None,
    name: str = "The model",
) -> Iterator[ArrowTable]:
    """Draw rows as Arrow tables, with the class in the column `label`; there is at least one table.

    ``name`` begins the message of an error. Raises `InputError` if the model has no distribution p(x | y) to draw rows
    from.
    """
    fitted = model.fitted_
    if not hasattr(model, "sample"):
        raise InputError(f"A {fitted.specification.estimator} has no distribution p(x | y) to draw rows from.")
    advice = _advice(model)
    if not fitted.has_density:
        raise InputError(
            f"{name} has no distribution p(x | y) to draw rows from: its scores separate classes, but are not "
            "log-densities.",
            *advice,
        )
    if advice:
        raise InputError(f"{name} counts more than single words, so it cannot write texts.", *advice)
    rng = np.random.default_rng(seed)
    # One table is drawn even for no rows, because it has the column names.
    return (
        _draw(model, min(BATCH_ROWS, n_rows - start), label, length, rng)
        for start in range(0, max(n_rows, 1), BATCH_ROWS)
    )


def _advice(model: GenerativeClassifier) -> Sentence:
    """The options of a fit whose texts can be drawn; empty if the model's can be, or for a model without texts.

    Options that the data chose are among them, because the data may choose others in the next fit.
    """
    specification = model.fitted_.specification
    for block in model.fitted_.estimate.blocks:
        family = block.family
        if isinstance(family, Text):
            event = family.event if family.event in EVENTS else EVENTS[0]
            needed = {"event": event, **SINGLE_WORDS}
            wrong = [name for name, value in needed.items() if getattr(family, name) != value]
            open_ = [name for name in needed if getattr(specification, name, None) == "auto"]
            changed = [Argument(name, needed[name]) for name in needed if name in wrong or name in open_]
            spaced = [piece for each in changed for piece in (" ", each)]
            return (" Fit it again with", *spaced, ".") if wrong else ()
    return ()


def _draw(
    model: GenerativeClassifier, n: int, label: Hashable, length: int | None, rng: np.random.Generator
) -> ArrowTable:
    """Draw n rows with their labels."""
    import narwhals as nw
    import pyarrow as pa
    from scipy.sparse import issparse

    rows, labels = model.sample(max(n, 1), label=label, length=length, random_state=rng)
    frame = nw.from_native(rows, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        table = frame.to_arrow()
    else:
        cells: Any = rows.toarray() if issparse(rows) else rows
        cells = cells[:, None] if cells.ndim == 1 else cells
        columns = [pa.array(cells[:, j].tolist()) for j in range(cells.shape[1])]
        table = pa.table(columns, names=_names(model, cells.shape[1]))
    table = _without_nan(table)
    name = "label" if "label" not in table.column_names else "drawn label"
    return table.append_column(name, pa.array(labels)).slice(0, n)


def _without_nan(table: ArrowTable) -> ArrowTable:
    """The table with null, an empty cell in text files, in place of NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            column = table.column(i)
            table = table.set_column(i, field.name, pc.if_else(pc.is_nan(column), pa.scalar(None, field.type), column))
    return table


def _names(model: GenerativeClassifier, n_columns: int) -> list[str]:
    texts = any(isinstance(block.family, Text) for block in model.fitted_.estimate.blocks)
    if texts and n_columns == 1:
        return ["text"]
    return list(model.fitted_.layout.feature_names or ()) or [f"column_{j + 1}" for j in range(n_columns)]

"""``suffice sample``: draw new rows from a model."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import click

from suffice.cli.command import command as _command
from suffice.cli.reading import class_named, model_argument
from suffice.cli.writing import check_writable, format_of, output_option, to_option, write_rows

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from suffice.estimators.base import GenerativeClassifier

__all__ = ["command"]

EXAMPLES = """
suffice sample flowers.suffice -n 5 --seed 1
suffice sample flowers.suffice -n 1000 --label setosa -o setosas.parquet
"""
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


@_command("sample", "Draw new rows from a model.", EXAMPLES)
@model_argument
@click.option(
    "-n", "--rows", "n_rows", type=click.IntRange(min=0), required=True, metavar="N", help="Number of rows to draw."
)
@click.option("--label", metavar="CLASS", help="Draw rows of this class only; default: draw classes from p(y).")
@click.option(
    "--length",
    type=click.IntRange(min=0),
    metavar="N",
    help="Number of words of each text; default: about as many as in the texts of its class.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Random seed, for reproducible rows.")
@output_option
@to_option
def command(
    model: str, n_rows: int, label: str | None, length: int | None, seed: int | None, output: str, to: str | None
) -> None:
    """Draw rows from MODEL: a class from p(y), then a row from p(x | y).

    Writes the columns that the model was fitted on, and the class in the column `label`.
    """
    import numpy as np

    import suffice
    from suffice.exceptions import InputError

    kind = format_of(output, to)
    check_writable(output)
    loaded = suffice.load(model)
    if not hasattr(loaded, "sample"):
        raise InputError(f"A {loaded.fitted_.specification.estimator} has no distribution p(x | y) to draw rows from.")
    advice = _advice(loaded)
    if not loaded.fitted_.has_density:
        raise InputError(
            f"{model} has no distribution p(x | y) to draw rows from: its scores separate classes, but are not "
            f"log-densities.{advice}"
        )
    if advice:
        raise InputError(f"{model} counts more than single words, so it cannot write texts.{advice}")
    drawn_label, rng = class_named(loaded, label), np.random.default_rng(seed)
    with write_rows(output, kind) as writer:
        # One batch is drawn even for no rows, because it has the column names.
        for start in range(0, max(n_rows, 1), BATCH_ROWS):
            writer.write(_draw(loaded, min(BATCH_ROWS, n_rows - start), drawn_label, length, rng))


def _advice(model: GenerativeClassifier) -> str:
    """The options of a fit whose texts can be drawn; empty if the model's can be, or for a model without texts.

    Options that the data chose are among them, because the data may choose others in the next fit.
    """
    from suffice.cli.spelling import shell_spelling
    from suffice.exceptions import Argument
    from suffice.families import Text

    specification = model.fitted_.specification
    for block in model.fitted_.estimate.blocks:
        family = block.family
        if isinstance(family, Text):
            event = family.event if family.event in EVENTS else EVENTS[0]
            needed = {"event": event, **SINGLE_WORDS}
            wrong = [name for name, value in needed.items() if getattr(family, name) != value]
            open_ = [name for name in needed if getattr(specification, name, None) == "auto"]
            changed = [Argument(name, needed[name]) for name in needed if name in wrong or name in open_]
            return f" Fit it again with {' '.join(map(shell_spelling, changed))}." if wrong else ""
    return ""


def _draw(
    model: GenerativeClassifier, n: int, label: Hashable, length: int | None, rng: np.random.Generator
) -> pa.Table:
    """Draw n rows with their labels."""
    import narwhals as nw
    import pyarrow as pa
    from scipy.sparse import issparse

    rows, labels = model.sample(max(n, 1), label=label, length=length, random_state=rng)
    frame = nw.from_native(rows, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        table = frame.to_arrow()
    else:
        cells = rows.toarray() if issparse(rows) else rows
        cells = cells[:, None] if cells.ndim == 1 else cells
        table = pa.table(
            [pa.array(cells[:, j].tolist()) for j in range(cells.shape[1])], names=_names(model, cells.shape[1])
        )
    table = _without_nan(table)
    name = "label" if "label" not in table.column_names else "drawn label"
    return table.append_column(name, pa.array(labels)).slice(0, n)


def _without_nan(table: pa.Table) -> pa.Table:
    """The table with null, an empty cell in text files, in place of NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            column = table.column(i)
            table = table.set_column(i, field.name, pc.if_else(pc.is_nan(column), pa.scalar(None, field.type), column))
    return table


def _names(model: GenerativeClassifier, n_columns: int) -> list[str]:
    from suffice import TextNaiveBayes

    if isinstance(model, TextNaiveBayes):
        return ["text"]
    return list(model.fitted_.layout.feature_names or ()) or [f"column_{j + 1}" for j in range(n_columns)]

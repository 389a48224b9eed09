"""``suffice sample``: new rows, drawn from a model."""

from __future__ import annotations

from typing import Any

import click

from suffice.cli.command import command as _command
from suffice.cli.reading import label_of, model_argument
from suffice.cli.writing import check_place, format_of, output_option, to_option, writing

__all__ = ["command"]

EXAMPLES = """
suffice sample flowers.suffice -n 5 --seed 1
suffice sample flowers.suffice -n 1000 --label setosa -o setosas.parquet
"""
AT_ONCE = 1 << 16  # rows


@_command("sample", "Draw new rows from a model.", EXAMPLES)
@model_argument
@click.option("-n", "--rows", "n_rows", type=click.IntRange(min=0), required=True, metavar="N", help="How many rows.")
@click.option("--label", metavar="CLASS", help="Of this class only; else classes are drawn, too.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="For the same rows every time.")
@output_option
@to_option
def command(model: str, n_rows: int, label: str | None, seed: int | None, output: str, to: str | None) -> None:
    """Draw rows from MODEL: a class from p(y), then a row from p(x | y).

    Writes the columns that the model was fitted with, and their class as `label`.
    """
    import numpy as np

    import suffice
    from suffice.exceptions import InputError

    kind = format_of(output, to)
    check_place(output)
    loaded = suffice.load(model)
    if not hasattr(loaded, "sample"):
        raise InputError(f"A {type(loaded).__name__} has no distribution p(x | y), and so there is none to draw from.")
    chosen, rng = label_of(loaded, label), np.random.default_rng(seed)
    with writing(output, kind) as out:
        # The first draw, of none if no more are wanted, gives the names.
        for start in range(0, max(n_rows, 1), AT_ONCE):
            out.write(_drawn(loaded, min(AT_ONCE, n_rows - start), chosen, rng))


def _drawn(model: Any, n: int, label: Any, rng: Any) -> Any:
    """Rows and labels as an Arrow table."""
    import narwhals as nw
    import pyarrow as pa

    rows, labels = model.sample(max(n, 1), label=label, random_state=rng)
    frame = nw.from_native(rows, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        table = frame.to_arrow()
    else:
        cells = rows.toarray() if hasattr(rows, "toarray") else rows
        cells = cells[:, None] if cells.ndim == 1 else cells
        table = pa.table(
            [pa.array(cells[:, j].tolist()) for j in range(cells.shape[1])], names=_names(model, cells.shape[1])
        )
    name = "label" if "label" not in table.column_names else "drawn label"
    return table.append_column(name, pa.array(labels)).slice(0, n)


def _names(model: Any, n_columns: int) -> list[str]:
    from suffice import TextNaiveBayes

    if isinstance(model, TextNaiveBayes):
        return ["text"]
    known = getattr(model, "feature_names_in_", None)
    return [f"column_{j + 1}" for j in range(n_columns)] if known is None else [str(name) for name in known]

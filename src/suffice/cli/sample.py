"""``suffice sample``: draw new rows from a model."""

from __future__ import annotations

import click

from suffice.cli.command import command as _command
from suffice.cli.reading import class_named, model_argument
from suffice.cli.writing import check_writable, format_of, output_option, to_option, write_rows

__all__ = ["command"]

EXAMPLES = """
suffice sample flowers.suffice -n 5 --seed 1
suffice sample flowers.suffice -n 1000 --label setosa -o setosas.parquet
"""


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
    import suffice
    from suffice.cli.spelling import shell_spelling
    from suffice.estimators.drawn_rows import drawn_tables
    from suffice.exceptions import InputError

    kind = format_of(output, to)
    check_writable(output)
    loaded = suffice.load(model)
    try:
        tables = drawn_tables(loaded, n_rows, class_named(loaded, label), length, seed, name=model)
    except InputError as error:  # whose advice is about options of another command, fit
        raise InputError(error.worded(shell_spelling)) from None
    with write_rows(output, kind) as writer:
        for table in tables:
            writer.write(table)

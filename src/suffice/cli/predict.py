"""``suffice predict``: what a model says of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from suffice.cli.command import command as _command
from suffice.cli.command import note, tell_faults
from suffice.cli.progress import following
from suffice.cli.reading import (
    columns_options,
    data_argument,
    model_argument,
    model_columns,
    of_rows,
    open_data,
    reading_options,
)
from suffice.cli.writing import check_place, format_of, output_option, to_option, writing

__all__ = ["command"]

EXAMPLES = """
suffice predict flowers.suffice test.csv
suffice predict flowers.suffice test.csv --keep all -o answers.parquet
suffice predict flowers.suffice 'parts/*.parquet' --keep species,visits -o answers.csv.gz
cat test.csv | suffice predict flowers.suffice - --to jsonl | head -3
"""


@_command("predict", "Predict the class of each row.", EXAMPLES)
@model_argument
@data_argument
@output_option
@to_option
@click.option(
    "--keep", metavar="all|none|COLS", default="none", show_default=True, help="Columns of DATA to write as well."
)
@click.option("--no-density", is_flag=True, help="Leave out log p(x).")
@columns_options
@reading_options
def command(
    model: str,
    data: tuple[str, ...],
    output: str,
    to: str | None,
    keep: str,
    no_density: bool,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: dict[str, Any],
) -> None:
    """Predict the class of each row of DATA by MODEL.

    Writes, in the order of the rows: the columns that are kept, `label`, `p(CLASS)` for each class, and `log p(x)`, how
    likely the row is at all. Columns that the model does not know are ignored.
    """
    import suffice

    kind = format_of(output, to)
    check_place(output)
    loaded = suffice.load(model)
    kept = [] if keep in ("all", "none") else [name for name in keep.split(",") if name]
    source = open_data(data, reading, columns, ignore, also=kept, notes=False)
    read = model_columns(loaded, source, kept=[name for name in kept if name not in (columns or ())])
    kept = list(source.names) if keep == "all" else kept
    answers = Answers(loaded, kept, density=not no_density)
    wanted = list(dict.fromkeys([*kept, *read]))
    with writing(output, kind) as out, following(source, "Predicting", output):
        for batch in source.batches(wanted):
            table = of_rows(loaded, source, batch, read, lambda rows, asked: answers.of(rows.select(kept), asked))
            if table is not None:
                out.write(table)
        if not out.n_rows:
            out.write(answers.none(source.no_rows(kept)))
    tell_faults(source)


NEAR = 1e-9  # classes whose probabilities differ by less than this share are told apart by the model itself


class Answers:
    """What a model says of rows, beside columns that are kept, as Arrow tables."""

    def __init__(self, model: Any, kept: Sequence[str], *, density: bool) -> None:
        from suffice.exceptions import InputError

        self.model = model
        self.density = density and _has_density(model)
        if density and not self.density:
            note("The model has no density p(x): log p(x) is left out.")
        made = ["label", *(f"p({label})" for label in model.classes_.tolist()), *(["log p(x)"] if self.density else [])]
        clash = [name for name in made if name in kept]
        self.names = [f"predicted {name}" if name in kept else name for name in made]
        if clash:
            note(f"{clash[0]!r} is a column of the data: what the model says is in {'predicted ' + clash[0]!r}.")
        if len({*self.names, *kept}) < len(self.names) + len(kept):
            raise InputError("Two columns of the result would have one name. Keep fewer columns, by --keep.")

    def of(self, kept: Any, rows: Any) -> Any:
        """Kept columns, and what the model says of their rows."""
        density = self.model.score_samples(rows) if self.density else None
        probabilities = self.model.predict_proba(rows)
        return self._table(kept, self._labels(rows, probabilities), probabilities, density)

    def _labels(self, rows: Any, probabilities: Any) -> Any:
        """The label of each row: its likeliest class; of rows with two that are as likely, what the model says."""
        import numpy as np
        import pyarrow as pa

        codes = probabilities.argmax(axis=1)
        floor = (1 - NEAR) * np.take_along_axis(probabilities, codes[:, None], axis=1)[:, 0]
        near = sum((probabilities[:, k] > floor for k in range(probabilities.shape[1])), np.zeros(len(codes), np.int32))
        close = np.flatnonzero(near > 1)
        if len(close):
            codes[close] = np.searchsorted(self.model.classes_, self.model.predict(rows)[close])
        classes = pa.array(self.model.classes_)
        return classes.take(pa.array(codes))

    def none(self, kept: Any) -> Any:
        """A table of no rows, with the columns that are kept."""
        import numpy as np
        import pyarrow as pa

        k = len(self.model.classes_)
        return self._table(
            kept, pa.array(self.model.classes_[:0]), np.empty((0, k)), np.empty(0) if self.density else None
        )

    def _table(self, kept: Any, labels: Any, probabilities: Any, density: Any) -> Any:
        import pyarrow as pa

        said = [labels, *(pa.array(probabilities[:, k]) for k in range(probabilities.shape[1]))]
        if density is not None:
            said.append(pa.array(density))
        columns = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in kept.columns]
        return pa.Table.from_arrays([*columns, *said], names=[*kept.column_names, *self.names])


def _has_density(model: Any) -> bool:
    """Whether the model knows p(x), and does not only tell classes apart."""
    if not hasattr(model, "score_samples"):
        return False
    return all(getattr(block.family, "is_density", True) for block in model._estimated().blocks)

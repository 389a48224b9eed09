"""``suffice remove``: rows that are unlearned."""

from __future__ import annotations

from typing import Any

from suffice.cli.column_types import expect
from suffice.cli.command import command as _command
from suffice.cli.command import tell_faults
from suffice.cli.description import description, save, saved, show_classes
from suffice.cli.output import Page, json_option, show_json, shown
from suffice.cli.progress import following
from suffice.cli.reading import (
    columns_options,
    data_argument,
    model_argument,
    open_data,
    reading_options,
    target_option,
    weights_option,
)
from suffice.cli.writing import check_place, model_option

__all__ = ["command"]

EXAMPLES = """
suffice remove flowers.suffice monday.csv --target species -o without.suffice
"""


@_command("remove", "Take rows out of a model again.", EXAMPLES)
@model_argument
@data_argument
@target_option
@model_option("Where the model is saved; may be MODEL.")
@weights_option
@columns_options
@reading_options
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    target: str,
    output: str,
    weights: str | None,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: dict[str, Any],
    as_json: bool,
) -> None:
    """Take the rows of DATA out of MODEL: what is left is the model that never saw them.

    The rows must have been learned, with these labels and weights.
    """
    check_place(output)
    import suffice
    from suffice.exceptions import InputError

    loaded = suffice.load(model)
    before = float(loaded._learned().weights.weight.sum())
    source = open_data(data, reading, columns, ignore, also=[target, weights], notes=False)
    expect(loaded, source, [name for name in source.names if name not in (target, weights)], target)
    with following(source, "Removing"):
        loaded.remove(source, target, sample_weight=weights)
    tell_faults(source)
    if not loaded._learned().weights.weight.sum():
        raise InputError("These are all the rows of the model: nothing would be left of it, and nothing was saved.")
    about, place = description(loaded), save(loaded, output)
    found = {
        "data": {"source": source.name, "rows": source.n_rows, "skipped": source.skipped},
        "rows_before": before,
        **about,
        **place,
    }
    if as_json:
        show_json(found)
        return
    page = Page()
    removed = f"{source.n_rows:,} rows of {shown(source.name)}; {found['rows']:,.6g} of {before:,.6g} are left"
    page.facts({"removed": removed, "saved": saved(place)})
    page.heading("Classes")
    show_classes(page, found["classes"])

"""``suffice remove``: remove rows that a model has learned."""

from __future__ import annotations

from suffice.cli.column_types import read_types_of_model
from suffice.cli.command import command as _command
from suffice.cli.command import note, note_skipped_rows, section
from suffice.cli.description import check_has_rows, description, save, saved_line, show_classes
from suffice.cli.output import Page, cell_text, json_option, print_json, row_count
from suffice.cli.progress import reading_progress
from suffice.cli.reading import (
    ReadingOptions,
    columns_options,
    data_argument,
    known_target,
    known_target_option,
    model_argument,
    open_data,
    reading_options,
    weights_option,
)
from suffice.cli.writing import check_writable, model_option, update_lock

__all__ = ["command"]

EXAMPLES = """
suffice remove flowers.suffice monday.csv -t species -o without.suffice
"""


@_command("remove", "Remove rows from a model.", EXAMPLES)
@model_argument
@data_argument
@section("Data", known_target_option, columns_options, weights_option)
@reading_options
@section("Output", model_option("File to save the model to; may be MODEL."), json_option)
def command(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    output: str,
    weights: str | None,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: ReadingOptions,
    as_json: bool,
) -> None:
    """Remove the rows of DATA from MODEL, as if it had never seen them.

    The model must have learned these rows, with the same labels and weights. The calibration and the choices of the fit
    stay: settings that are auto, families, cuts, weights and the bins of histograms.
    """
    check_writable(output)
    import suffice
    from suffice.exceptions import InputError, listed

    with update_lock(model, output=output):
        loaded = suffice.load(model)
        check_has_rows(loaded, model, "changed")
        rows_before, classes_before = float(loaded.fitted_.model.weights.weight.sum()), loaded.classes_.tolist()
        target = known_target(loaded, target)
        source = open_data(data, reading, columns, ignore, target=target, weights=weights, notes=False)
        read_types_of_model(loaded, source, [name for name in source.names if name not in (target, weights)], target)
        with reading_progress(source, "Removing"):
            loaded.remove(source, target, sample_weight=weights)
        note_skipped_rows(source)
        if not loaded.fitted_.model.weights.weight.sum():
            raise InputError("These are all the rows of the model. Nothing would remain, so nothing was saved.")
        facts, saved = description(loaded), save(loaded, output)
    lost = [label for label in classes_before if label not in loaded.classes_.tolist()]
    if lost:
        note(
            f"No row of class {listed(lost)} remains, so the model no longer has "
            f"{'this class' if len(lost) == 1 else 'these classes'}."
        )
    if as_json:
        print_json(
            {
                "data": {"source": source.name, "rows": source.n_rows, "skipped": source.skipped},
                "rows_before": rows_before,
                **facts,
                **saved,
            }
        )
        return
    page = Page()
    remain = "row remains" if rows_before == 1 else "rows remain"
    remaining = f"{facts['rows']:,.6g} of {rows_before:,.6g} {remain}"
    page.facts(
        {
            "removed": f"{row_count(source.n_rows)} of {cell_text(source.name)}; {remaining}",
            "saved": saved_line(saved),
        }
    )
    page.heading("Classes")
    show_classes(page, facts["classes"])

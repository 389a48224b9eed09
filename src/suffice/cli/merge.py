"""``suffice merge``: combine models that were fitted on different rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from suffice.cli.command import command as _command
from suffice.cli.command import note
from suffice.cli.description import check_has_rows, description, save, saved_line, show_classes
from suffice.cli.output import Page, json_option, print_json, row_count
from suffice.cli.reading import model_path
from suffice.cli.writing import check_writable, model_option, update_lock

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.exceptions import MergeError

__all__ = ["command"]

EXAMPLES = """
suffice merge monday.suffice tuesday.suffice -o week.suffice
suffice merge monday.suffice tuesday.suffice -o week.suffice --json
"""


@_command("merge", "Combine models fitted on different rows.", EXAMPLES)
@click.argument("models", nargs=-1, required=True, type=model_path)
@model_option("File to save the merged model to; may be one of MODELS.")
@json_option
def command(models: tuple[str, ...], output: str, as_json: bool) -> None:
    """Merge MODELS into the model that a fit on all their rows would give.

    The models must be of the same kind and have the same columns; classes and categories may differ. The settings are
    those of the first model.
    """
    check_writable(output)
    import suffice
    from suffice.exceptions import MergeError, counted

    with update_lock(*models, output=output):
        try:
            merged = suffice.merge(_loaded(path) for path in models)
        except MergeError as error:
            raise _named(error, models) from None
        facts, saved = description(merged), save(merged, output)
    if len(models) == 1:
        note(f"{models[0]} is the only model, so {output} equals it. Give the models of other rows, too.")
    if as_json:
        print_json({"models": list(models), **facts, **saved})
        return
    page = Page()
    page.facts(
        {
            "merged": f"{counted(len(models), 'model')}, {row_count(facts['rows'] or 0)} in all",
            "saved": saved_line(saved),
        }
    )
    page.heading("Classes")
    show_classes(page, facts["classes"])


def _loaded(path: str) -> GenerativeClassifier:
    """The model of a file, which must have learned rows."""
    import suffice

    model = suffice.load(path)
    check_has_rows(model, path, "merged")
    return model


def _named(error: MergeError, models: Sequence[str]) -> MergeError:
    """The error with the names of the two files that cannot be merged."""
    import suffice
    from suffice.exceptions import Argument, Choices, MergeError

    first = suffice.load(models[0])
    for path in models[1:]:
        other = suffice.load(path)
        if type(other) is not type(first):
            kinds = f"{models[0]} is a {type(first).__name__}, {path} is a {type(other).__name__}"
            return MergeError(f"Only models of one kind can be merged: {kinds}.", file=path)
        try:
            suffice.merge([first, other])
        except MergeError as problem:
            pieces = [Argument("like", models[0]) if isinstance(each, Choices) else each for each in problem.sentence]
            return MergeError(f"{models[0]} and {path}: ", *pieces, column=problem.column, file=path)
    return error

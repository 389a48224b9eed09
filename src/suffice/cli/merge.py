"""``suffice merge``: models that were fitted apart, as one."""

from __future__ import annotations

import click

from suffice.cli.command import command as _command
from suffice.cli.description import description, save, saved, show_classes
from suffice.cli.output import Page, json_option, show_json
from suffice.cli.writing import check_place, model_option

__all__ = ["command"]

EXAMPLES = """
suffice merge monday.suffice tuesday.suffice -o week.suffice
suffice merge monday.suffice tuesday.suffice -o week.suffice --json
"""


@_command("merge", "Join models that were fitted apart.", EXAMPLES)
@click.argument("models", nargs=-1, required=True, type=click.Path())
@model_option("Where the model is saved.")
@json_option
def command(models: tuple[str, ...], output: str, as_json: bool) -> None:
    """Join MODELS into the model of all their rows, exactly as if it had been fitted on them.

    They must be of one kind, fitted on the same columns; classes and categories may differ. Settings are those of the
    first.
    """
    check_place(output)
    import suffice

    merged = suffice.merge(suffice.load(path) for path in models)
    about, place = description(merged), save(merged, output)
    found = {"models": list(models), **about, **place}
    if as_json:
        show_json(found)
        return
    page = Page()
    page.facts({"merged": f"{len(models):,} models of {found['rows']:,.6g} rows together", "saved": saved(place)})
    page.heading("Classes")
    show_classes(page, found["classes"])

"""``suffice merge``: combine models that were fitted on different rows."""

from __future__ import annotations

import click

from suffice.cli.command import command as _command
from suffice.cli.description import description, save, saved_line, show_classes
from suffice.cli.output import Page, json_option, print_json
from suffice.cli.writing import check_writable, model_option, update_lock

__all__ = ["command"]

EXAMPLES = """
suffice merge monday.suffice tuesday.suffice -o week.suffice
suffice merge monday.suffice tuesday.suffice -o week.suffice --json
"""


@_command("merge", "Combine models fitted on different rows.", EXAMPLES)
@click.argument("models", nargs=-1, required=True, type=click.Path())
@model_option("File to save the merged model to; may be one of MODELS.")
@json_option
def command(models: tuple[str, ...], output: str, as_json: bool) -> None:
    """Merge MODELS into the model that a fit on all their rows would give.

    The models must be of the same kind and have the same columns; classes and categories may differ. The settings are
    those of the first model.
    """
    check_writable(output)
    import suffice

    with update_lock(*models, output=output):
        merged = suffice.merge(suffice.load(path) for path in models)
        facts, saved = description(merged), save(merged, output)
    if as_json:
        print_json({"models": list(models), **facts, **saved})
        return
    page = Page()
    page.facts(
        {
            "merged": f"{len(models):,} {'model' if len(models) == 1 else 'models'}, {facts['rows']:,.6g} rows in all",
            "saved": saved_line(saved),
        }
    )
    page.heading("Classes")
    show_classes(page, facts["classes"])

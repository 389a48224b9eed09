"""``suffice inspect MODEL DATA --assumptions``: test what a model assumes about labelled rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from suffice.cli.command import note_skipped_rows
from suffice.cli.output import Page, cell_text, more_line, print_json
from suffice.cli.reading import ReadingOptions, known_target, open_data
from suffice.cli.spelling import shell_spelling

if TYPE_CHECKING:
    from suffice.diagnostics import Diagnosis, Finding
    from suffice.estimators.base import GenerativeClassifier
    from suffice.exceptions import Argument

__all__ = ["check_usage", "show_assumptions"]

MOST_FINDINGS, MOST_ROWS = 8, 10  # that are printed


SHOWING = ("top", "wanted", "labels")  # options that choose what is shown of a model
ALWAYS = ("model", "data", "assumptions", "as_json", "quiet", "debug")


def check_usage(ctx: click.Context, data: Sequence[str], *, assumptions: bool) -> None:
    """Raise if DATA comes without --assumptions or the other way round, or if an option would have no effect."""
    if assumptions and not data:
        raise click.UsageError("--assumptions needs labelled rows: suffice inspect MODEL DATA --assumptions.")
    if data and not assumptions:
        raise click.UsageError("DATA is read only with --assumptions. Add --assumptions, or remove DATA.")
    for each in ctx.command.params:
        source = ctx.get_parameter_source(each.name or "")
        if source is not click.core.ParameterSource.COMMANDLINE or each.name in ALWAYS:
            continue
        option = next((name for name in each.opts if name.startswith("--")), each.name)
        if assumptions and each.name in SHOWING:
            raise click.UsageError(f"{option} has no effect with --assumptions. Remove it.")
        if not assumptions and each.name not in SHOWING:
            raise click.UsageError(f"{option} has an effect only with --assumptions. Add --assumptions and DATA.")


def show_assumptions(
    model: GenerativeClassifier,
    file: str,
    data: Sequence[str],
    reading: ReadingOptions,
    columns: list[str] | None,
    ignore: list[str] | None,
    *,
    target: str | None,
    weights: str | None,
    level: float,
    as_json: bool,
) -> None:
    """Print what `suffice.diagnose` finds in the labelled rows of some files."""
    from suffice.diagnostics import diagnose

    target = known_target(model, target)
    source = open_data(data, reading, columns, ignore, target=target, weights=weights, notes=False)
    found = diagnose(model, source, target, sample_weight=weights, level=level)
    note_skipped_rows(source)
    if as_json:
        print_json({"file": file, "data": source.name, **found.to_dict(), "findings": _spelled(found)})
        return
    _show(Page(), found, cell_text(source.name))


def _spelled(found: Diagnosis) -> list[dict[str, object]]:
    """The findings, with advice as options of the command."""
    findings: list[dict[str, object]] = found.to_dict()["findings"]
    return [{**known, "options": _options(each)} for known, each in zip(findings, found.findings, strict=True)]


def _options(finding: Finding) -> str:
    """The advice on a finding with options that can be typed; in Python's words if none can be."""
    from suffice.diagnostics.advice import OwnCovariance
    from suffice.exceptions import Argument

    search = Argument("blocks", "auto")
    pieces: list[str | Argument] = []
    for piece in finding.pieces:
        piece = search if isinstance(piece, OwnCovariance) else piece
        if isinstance(piece, Argument) and (not _can_be_typed(piece) or (piece == search and search in pieces)):
            if pieces and pieces[-1] == " or ":
                pieces.pop()
        elif not (piece == " or " and pieces and isinstance(pieces[-1], str)):  # the first of several was left out
            pieces.append(piece)
    had, has = (any(isinstance(each, Argument) for each in some) for some in (finding.pieces, pieces))
    if had == has:
        return "".join(shell_spelling(each) if isinstance(each, Argument) else each for each in pieces)
    return f"The columns cannot be named in an option, because of their commas. In Python: {finding.advice}"


def _can_be_typed(argument: Argument) -> bool:
    """Whether an argument has a spelling in the shell: the names of a block are separated by commas."""
    keys = argument.value if isinstance(argument.value, Mapping) else {}
    return not any("," in str(name) for key in keys if isinstance(key, tuple) for name in key)


def _show(page: Page, found: Diagnosis, data: str) -> None:
    from suffice.diagnostics.result import p_text

    page.line(f"{data}: {found.title()}")
    for number, each in enumerate(found.significant[:MOST_FINDINGS], start=1):
        text = " ".join(filter(None, (each.message, _options(each), f"({p_text(each.p_value)})")))
        page.item(f"{number:3}. ", cell_text(text, 10_000))
    more = found.n_significant - MOST_FINDINGS
    if more > 0:
        page.line(more_line(more, "finding"))
    others = [each.message for each in found.findings if not each.significant]
    for text in (*others, found.cost_line(), *found.notes):
        if text:
            page.item("  · ", cell_text(text, 10_000))
    for name, table in found.tables.items():
        values = list(table.values())
        if values and len(values[0]):
            page.heading(HEADINGS[name])
            page.table(list(table), list(zip(*(each[:MOST_ROWS] for each in values), strict=True)), left=LEFT[name])
            if len(values[0]) > MOST_ROWS:
                page.line(more_line(len(values[0]) - MOST_ROWS, "row"))


HEADINGS = {
    "dependence": "Dependence within the classes",
    "duplicates": "Columns that repeat others",
    "covariances": "Covariances of the classes",
    "shapes": "Shapes within the classes",
    "missingness": "Missing cells",
}
LEFT = {"dependence": 2, "duplicates": 3, "covariances": 2, "shapes": 2, "missingness": 1}

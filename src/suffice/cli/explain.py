"""``suffice explain``: why a model answers as it does, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from suffice.cli.command import command as _command
from suffice.cli.output import Page, json_option, show_json, shown
from suffice.cli.progress import following
from suffice.cli.reading import (
    columns_options,
    data_argument,
    label_of,
    model_argument,
    model_columns,
    of_rows,
    open_data,
    reading_options,
)

__all__ = ["command"]

EXAMPLES = """
suffice explain flowers.suffice test.csv --row 0
suffice explain flowers.suffice test.csv --row 3 --row 7 --label virginica --against setosa
suffice explain spam.suffice messages.jsonl --columns body --row 1 --json
"""
SHOWN_CLASSES = 10  # whose probabilities are listed; --json has all


@_command("explain", "Show why a row is judged as it is.", EXAMPLES)
@model_argument
@data_argument
@click.option(
    "--row",
    "rows",
    type=click.IntRange(min=0),
    multiple=True,
    required=True,
    metavar="N",
    help="The row, counted from 0, without a header; repeatable.",
)
@click.option("--label", metavar="CLASS", help="The class to explain; the likeliest if not given.")
@click.option("--against", metavar="CLASS", help="The class to compare it with; the next likeliest if not given.")
@click.option(
    "-n", "--most", type=click.IntRange(min=1), default=20, show_default=True, help="Parts to list; --json has all."
)
@columns_options
@reading_options
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    rows: tuple[int, ...],
    label: str | None,
    against: str | None,
    most: int,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: dict[str, Any],
    as_json: bool,
) -> None:
    """Explain what MODEL says of single rows of DATA.

    The log-odds of a class against another are a sum: of the prior, and of a part for each column or word. Parts above
    0 speak for the class, parts below 0 against it. Rows are counted from 0, as in Python and in messages; the line of
    the file is shown beside.
    """
    import suffice
    from suffice.exceptions import InputError
    from suffice.sources.files import Batch

    loaded = suffice.load(model)
    first, second = label_of(loaded, label), label_of(loaded, against)
    if first is not None and first == second:
        raise click.UsageError("--label and --against are the same class.")
    source = open_data(data, reading, columns, ignore, notes=False)
    read = model_columns(loaded, source)
    waiting, found = set(rows), {}
    with following(source, "Looking for the rows"):
        seen = 0
        for batch in source.batches(read):
            here = sorted(row for row in waiting if seen <= row < seen + len(batch))
            for row in here:
                place = batch.places.of(row - seen)
                only = Batch(batch.rows.slice(row - seen, 1), OnePlace(place))
                said = of_rows(loaded, source, only, read, lambda _, asked: _explained(loaded, asked, first, second))
                if said is None:
                    raise InputError(source.faults[-1])
                found[row] = {"row": row, "place": place} | said
            waiting.difference_update(here)
            seen += len(batch)
            if not waiting:
                break
    if waiting:
        raise InputError(f"There is no row {min(waiting):,}: {source.name} has {seen:,} rows, counted from 0.")
    result = [found[row] for row in dict.fromkeys(rows)]
    if as_json:
        show_json({"model": model, "source": source.name, "rows": result})
    else:
        page = Page()
        for each in result:
            _show(page, each, most)


@dataclass(frozen=True)
class OnePlace:
    """Where the only row of a batch is."""

    place: str

    def of(self, row: int) -> str:
        """That place."""
        return self.place


def _explained(model: Any, row: Any, label: Any, against: Any) -> dict[str, Any]:
    """What the model says of one row, and the parts of it, strongest first."""
    probabilities = model.predict_proba(row)[0].tolist()
    classes = model.classes_.tolist()
    if len(classes) < 2:
        from suffice.exceptions import InputError

        raise InputError("The model has one class only, and there are no odds to explain.")
    if label is None:
        chosen = model.predict(row).tolist()[0]
        label = chosen if chosen != against else None
    parts = _parts(model, row, label, against)
    listing = parts.strongest(0)
    name = "word" if "word" in listing else "column"
    counts = listing["count"] if "count" in listing else [None] * len(listing["part"])
    return {
        "predicted": model.predict(row).tolist()[0],
        "probabilities": [{"label": c, "p": p} for c, p in zip(classes, probabilities, strict=True)],
        "label": parts.labels.tolist()[0],
        "against": parts.against.tolist()[0],
        "log_odds": float(parts.log_odds[0]),
        "calibrated": hasattr(model, "calibration_"),
        "parts": [
            {name: what, "part": part} | ({} if count is None else {"count": count})
            for what, part, count in zip(listing[name], listing["part"], counts, strict=True)
        ],
    }


def _parts(model: Any, row: Any, label: Any, against: Any) -> Any:
    if hasattr(model, "explain"):
        return model.explain(row, label, against)
    from suffice.exceptions import InputError
    from suffice.model.explanation import explain

    if not hasattr(model, "score_samples"):
        raise InputError(
            f"A {type(model).__name__} has no p(x | y) whose parts would explain its answers. Use naive-bayes, or text "
            "with --event complement."
        )
    # The classes of scikit-learn's names have no such method, and the same insides.
    estimate, table = model._estimated(), model._read_rows(row)
    first, second = (None if each is None else estimate.classes.position(each) for each in (label, against))
    joint = model._joint_of(model._learned(), model._solved(), table, relative=True)
    return explain(estimate, table, first, second, joint)


def _likeliest(probabilities: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All classes, or the likeliest of very many, in their order."""
    least = sorted((each["p"] for each in probabilities), reverse=True)[:SHOWN_CLASSES][-1]
    return [each for each in probabilities if each["p"] >= least][:SHOWN_CLASSES]


def _show(page: Page, found: dict[str, Any], most: int) -> None:
    page.heading(f"Row {found['row']:,} ({shown(found['place'])}): {shown(found['predicted'])}")
    page.line(", ".join(f"p({shown(each['label'])}) = {each['p']:.4g}" for each in _likeliest(found["probabilities"])))
    before = " before they are calibrated" if found["calibrated"] else ""
    page.line(
        f"log-odds of {shown(found['label'])} against {shown(found['against'])}{before}: {found['log_odds']:.6g}, "
        "the sum of"
    )
    kind = "word" if "word" in found["parts"][0] else "column"
    rows = [
        [each[kind], *([each["count"]] if "count" in each else []), f"{each['part']:+.4f}"] for each in found["parts"]
    ]
    page.table([kind, *(["count"] if "count" in found["parts"][0] else []), "part"], rows[:most])
    if len(rows) > most:
        rest = sum(each["part"] for each in found["parts"][most:])
        page.line(f"… and {len(rows) - most:,} more, {rest:+.4f} together")

"""Parameters of a saved model: all of them for JSON, and the most important ones as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from suffice.cli.output import Cell, Page, cell_text, more_line

if TYPE_CHECKING:
    from suffice.learning.fitted import Fitted
    from suffice.model.parameter_tables import ColumnTable

__all__ = ["chosen_classes", "column_parameters", "data_names", "linear_json", "show_all", "show_column"]

MOST_CLASSES = 8  # beside each other
MOST_PAIRED = 50  # columns of a block whose pairs are named one by one
MOST_CORRELATED = 500  # columns whose correlations are listed beside their covariances
MOST_LEVELS = 5  # of a column among others
SHOWN = ("probability", "share", "share outside", "weight")  # parameters of levels and words


def chosen_classes(fitted: Fitted, wanted: Sequence[str]) -> list[Any]:
    """The labels that a user names as text; all if none are named."""
    from suffice.exceptions import ClassError, did_you_mean, listed

    labels = fitted.classes.labels.tolist()
    by_text = {str(label).lower(): label for label in labels if isinstance(label, bool)}  # as predictions are written
    by_text |= {str(label): label for label in labels}
    for name in wanted:
        if name not in by_text:
            raise ClassError(
                f"{name!r:.80} is not a class of this model.{did_you_mean(name, by_text)} Its classes are "
                f"{listed(labels)}."
            )
    return [by_text[name] for name in dict.fromkeys(wanted)] if wanted else labels


def column_parameters(fitted: Fitted, wanted: Sequence[str], classes: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """The parameters of columns, or of all columns and blocks if none are named: the tables of p(x | y).

    A table has the columns that ``parameters(column)`` has, and mappings for parameters beyond them, such as cuts and
    covariances.
    """
    from suffice.exceptions import InputError, did_you_mean, listed
    from suffice.model.parameter_tables import column_names

    names, shown = column_names(fitted.estimate), data_names(fitted)
    apart = {tuple(block.names) for block in fitted.estimate.blocks if block.family.reads == "cells"}
    names = [name for each in names for name in (each if isinstance(each, tuple) and each in apart else [each])]
    members = (name for each in names if isinstance(each, tuple) for name in each)
    by_name = {shown.get(each, _block_name(each)): each for each in (*members, *names)}
    for name in wanted:
        if name not in by_name:
            hint = did_you_mean(name, by_name)
            raise InputError(
                f"The model has no column {name!r}.{hint} Its columns are {listed([*by_name])}.", column=name
            )
    every = {shown.get(each, _block_name(each)): each for each in names}
    asked = {name: by_name[name] for name in wanted} if wanted else every
    return {name: _table(fitted, column, classes) for name, column in asked.items()}


def data_names(fitted: Fitted) -> dict[object, str]:
    """Names of columns in the data, where the model has another name for them: that of texts alone is "text"."""
    known, estimate = fitted.layout.feature_names, fitted.estimate
    if known is None or len(known) != estimate.n_columns:
        return {}
    pairs = (pair for block in estimate.blocks for pair in zip(block.positions(len(known)), block.names, strict=True))
    return {name: known[at] for at, name in pairs if str(name) != known[at]}


def _table(fitted: Fitted, column: object, classes: Sequence[Any]) -> dict[str, Any]:
    from suffice.families.given import LevelValues
    from suffice.model.parameter_tables import parameter_table

    if isinstance(column, tuple) and len(column) > MOST_PAIRED:
        block = next(each for each in fitted.estimate.blocks if tuple(each.names) == column)
        if block.family.name == "multivariate_gaussian":
            return _matrices(fitted, column, classes)
    listing = parameter_table(fitted.estimate, column, fitted.layout.schema, classes)
    table: dict[str, Any] = {str(name): list(values) for name, values in listing.items()}
    sources = listing.source
    levels_shown = "level" in table
    for source in sources:
        name = "" if len(sources) == 1 else f" of {source.column}"
        for parameter, values in source.table.items():
            if not isinstance(values, LevelValues):
                continue
            if levels_shown and parameter in SHOWN and len(sources) == 1:
                continue
            own = source.classes  # of a listing of some classes, these
            by_class = {f"given {label}": values.values[:, own.position(label)] for label in classes}
            table[f"{parameter}{name}"] = {"level": list(values.levels), **by_class}
    return table


def _matrices(fitted: Fitted, column: tuple[object, ...], classes: Sequence[Any]) -> dict[str, Any]:
    """The parameters of many dependent Gaussian columns: covariances as matrices, one if the classes share it.

    Correlations of very many columns follow from the covariances.
    """
    import numpy as np

    from suffice.families.given import LevelValues
    from suffice.model.parameter_tables import column_tables

    at = [fitted.classes.position(label) for label in classes]
    sources = [each for each in column_tables(fitted.estimate, fitted.layout.schema) if each.block == column]
    table: dict[str, Any] = {"class": list(classes)}
    squares: dict[str, list[Any]] = {}
    for each in sources:
        for name, values in each.table.items():
            if isinstance(values, LevelValues):
                squares.setdefault(name, []).append(values.values)
            else:
                table[f"{name} of {each.column}"] = [values[k] for k in at]
    for name, rows in squares.items():
        if name == "correlation" and len(column) > MOST_CORRELATED:
            continue
        whole = np.array(rows)[:, :, at]
        shared = bool((whole == whole[:, :, :1]).all())
        given = {"shared": whole[:, :, 0]} if shared else {f"given {c}": whole[:, :, i] for i, c in enumerate(classes)}
        table[name] = {"columns": [str(each) for each in column], **given}
    return table


def linear_json(fitted: Fitted, classes: Sequence[Any]) -> dict[str, Any] | None:
    """θ and θ0 of the log-odds, by class; of two classes those of the second. None if log-odds are not linear."""
    from suffice.learning.prediction import linear_form_of_columns

    form = linear_form_of_columns(fitted)
    if form is None:
        return None
    labels, names = fitted.classes.labels.tolist(), data_names(fitted)
    single = len(labels) == 2
    thetas = {labels[1]: form.theta} if single else dict(zip(labels, form.theta, strict=True))
    offsets = {labels[1]: form.theta0} if single else dict(zip(labels, form.theta0, strict=True))
    return {
        "columns": [_block_name(_renamed(name, names)) for name in form.columns],
        "theta": {label: values for label, values in thetas.items() if label in classes},
        "theta0": {label: value for label, value in offsets.items() if label in classes},
    }


def _renamed(name: object, names: Mapping[object, str]) -> object:
    """The name of a part of the linear form, a column or a column and its level, with the column's name in the data."""
    if isinstance(name, tuple):
        return names.get(name[0], name[0]), *name[1:]
    return names.get(name, name)


def _block_name(name: object) -> str:
    return ",".join(map(str, name)) if isinstance(name, tuple) else str(name)


# ---------------------------------------------------------------------- tables for people


def show_column(page: Page, name: str, table: Mapping[str, Any], top: int) -> None:
    """Print the table of one column or block: at most ``top`` rows, those of the most probable levels."""
    shown = {kind: values for kind, values in table.items() if not isinstance(values, Mapping)}
    page.heading(f"p(x | y) of {cell_text(name)}")
    _print_rows(page, list(shown), [list(row) for row in zip(*shown.values(), strict=True)], top)


def _print_rows(page: Page, names: Sequence[str], rows: Sequence[list[Any]], top: int, left: int = 1) -> None:
    at = list(range(len(rows)))
    levels = bool(names) and names[0] != "class"
    if len(rows) > top:
        if levels:
            at = sorted(sorted(at, key=lambda i: -max(_number(cell) for cell in rows[i][left:]))[:top])
        at = at[:top]
    page.table(names, [[_plain(cell) for cell in rows[i]] for i in at], left=left)
    if len(rows) > len(at):
        what = ("level", None) if levels else ("class", "classes")
        page.line(more_line(len(rows) - len(at), *what))


def show_all(page: Page, fitted: Fitted, classes: Sequence[Any], ranked: Sequence[str], top: int) -> None:
    """Print the parameters of the model: dependent Gaussian columns as matrices, others as rows of one table.

    ``ranked`` names columns from the most informative one.
    """
    from suffice.model.parameter_tables import column_tables

    shown = list(classes)[:MOST_CLASSES]
    order = {name: i for i, name in enumerate(ranked)}
    tables = [each for each in column_tables(fitted.estimate, fitted.layout.schema) if not each.member]
    tables.sort(key=lambda each: order.get(_block_name(each.column), len(order)))
    at = [fitted.classes.position(label) for label in shown]
    matrices: dict[tuple[object, ...], list[ColumnTable]] = {}
    rows: list[list[Any]] = []
    words: list[ColumnTable] = []
    n_columns = 0
    for each in tables:
        if "covariance" in each.table:
            matrices.setdefault(each.block, []).append(each)
        elif each.family.reads == "documents":
            words.append(each)
        else:
            n_columns += 1
            rows += _rows(each, at) if n_columns <= top else []
    if rows:
        page.heading("Parameters of p(x | y)")
        page.table(["column", "parameter", *map(str, shown)], rows, left=2)
        _more(page, n_columns, top)
    for block in matrices.values():
        _show_gaussian(page, block, shown, at, top)
    for each in words:
        _show_words(page, each, shown, at, top)
    _show_linear(page, fitted, shown, order, top)
    if len(classes) > len(shown):
        page.line(f"Parameters of {len(shown)} of {len(classes)} classes are shown; name others with --class.")


def _more(page: Page, n: int, top: int) -> None:
    if n > top:
        page.line(more_line(n - top, "column"))


def _rows(each: ColumnTable, at: Sequence[int]) -> list[list[Any]]:
    """The rows of a column: its named parameters, or its most probable levels."""
    from suffice.families.given import LevelValues
    from suffice.tables.times import time_text

    name, out = _block_name(each.column), []
    for parameter, values in each.table.items():
        if not isinstance(values, LevelValues):
            is_time = each.is_time and parameter == "mean"
            out.append([name, parameter, *(time_text(values[k]) if is_time else float(values[k]) for k in at)])
        elif parameter == "probability":
            found = values.values[:, list(at)]
            most = found.max(axis=1, initial=0.0)
            best = sorted(sorted(range(len(most)), key=lambda i: -most[i])[:MOST_LEVELS])
            out += [[name, f"p({cell_text(_level(values.levels[i]), 24)})", *found[i].tolist()] for i in best]
            if len(most) > len(best):
                out.append([name, more_line(len(most) - len(best), "level"), *[""] * len(at)])
    return out


def _level(level: object) -> str:
    return ", ".join(map(str, level)) if isinstance(level, tuple) else str(level)


def _show_gaussian(
    page: Page, block: Sequence[ColumnTable], labels: Sequence[Any], at: Sequence[int], top: int
) -> None:
    """Print μ, Σ and its correlations, of the classes together if they share them."""
    import numpy as np

    chosen = block[:top]
    names = [str(each.column) for each in chosen]
    page.heading("Means (μ)")
    means = [[name, *_numbers(each, "mean", at)] for name, each in zip(names, chosen, strict=True)]
    page.table(["column", *map(str, labels)], means)
    _more(page, len(block), top)
    for parameter, title in (("covariance", "Covariance (Σ)"), ("correlation", "Correlations")):
        square = np.array([_ordered(each.table[parameter], chosen) for each in chosen])
        shared = bool((square == square[:, :, :1]).all())
        for k, label in zip(at, labels, strict=True):
            page.heading(title if shared else f"{title} of {cell_text(label)}")
            rows = zip(names, (square[:, :, k] + 0.0).tolist(), strict=True)  # no negative zeros
            page.table(["column", *names], [[name, *row] for name, row in rows])
            if shared:
                break
    for parameter in ("freedom", "spread"):
        if parameter in block[0].table:
            page.line(f"{parameter}: {', '.join(f'{value:.6g}' for value in _numbers(block[0], parameter, at))}")


def _numbers(each: ColumnTable, name: str, at: Sequence[int]) -> list[float]:
    values: Any = each.table[name]
    return [float(values[k]) for k in at]


def _ordered(values: Any, chosen: Sequence[ColumnTable]) -> Any:
    place = {str(level): i for i, level in enumerate(values.levels)}
    return values.values[[place[str(each.column)] for each in chosen]]


def _show_words(page: Page, each: ColumnTable, labels: Sequence[Any], at: Sequence[int], top: int) -> None:
    """Print the most informative words with their probabilities in each class."""
    import numpy as np

    from suffice.families.given import LevelValues
    from suffice.model.mutual_information import word_information

    name, found = next((name, each.table[name]) for name in SHOWN if name in each.table)
    assert isinstance(found, LevelValues)
    values = found.values[:, list(at)]
    rank = values[:, 0] if len(at) == 1 else word_information(values)
    best = np.argsort(-rank, kind="stable")[:top].tolist()
    title = {"share": "Shares of words", "probability": "Probabilities of words"}.get(name, f"Words by {name}")
    page.heading(f"{title} (φ)" if name in ("share", "probability") else title)
    page.table(["word", *map(str, labels)], [[found.levels[i], *values[i].tolist()] for i in best])
    if len(values) > len(best):
        page.line(more_line(len(values) - len(best), "word"))


def _show_linear(page: Page, fitted: Fitted, labels: Sequence[Any], order: Mapping[str, int], top: int) -> None:
    """Print θ and θ0."""
    form = linear_json(fitted, labels)
    if form is None or not form["theta"]:
        return
    known = fitted.classes.labels.tolist()
    of = f" of {cell_text(known[1])} against {cell_text(known[0])}" if len(known) == 2 else ""
    page.heading(f"Log-odds{of}: θ · x + θ0")
    thetas = [list(map(float, values)) for values in form["theta"].values()]
    rows: list[list[Cell]] = [[name, *(t[j] for t in thetas)] for j, name in enumerate(form["columns"])]
    rows.sort(key=lambda row: order.get(str(row[0]), len(order)))
    offset: list[Cell] = ["(θ0)", *map(float, form["theta0"].values())]
    names = ["θ"] if len(known) == 2 else [str(label) for label in form["theta"]]
    page.table(["column", *names], [*rows[:top], offset])
    _more(page, len(rows), top)


def _number(cell: object) -> float:
    return float(cell) if isinstance(cell, int | float) or hasattr(cell, "dtype") else 0.0  # type: ignore[arg-type]


def _plain(value: Cell) -> Cell:
    """Return a NumPy scalar as a Python number."""
    import numpy as np

    return value.item() if isinstance(value, np.generic) else value

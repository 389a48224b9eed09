"""Facts about a model in plain values: classes, columns with their families, settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from suffice.cli.command import mark_written
from suffice.cli.output import Page, cell_text, more_line, number, percent, size

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.learning.specification import Specification

__all__ = [
    "ClassFacts",
    "ColumnFacts",
    "Description",
    "MemberFacts",
    "SavedFile",
    "accuracy_line",
    "check_has_rows",
    "classes_of",
    "columns_of",
    "description",
    "log_loss_line",
    "members_of",
    "model_lines",
    "save",
    "saved_line",
    "settings_of",
    "show_classes",
    "show_columns",
    "show_members",
]

MAX_COLUMNS = MAX_CLASSES = 40  # in a table; --json has all
LONGEST_SETTING = 80  # characters of a setting of columns; --json has all


class ClassFacts(TypedDict):
    """A class: its label, the weight of its rows (None in a model that was built from parameters), and its prior."""

    label: object
    rows: float | None
    prior: float


class ColumnFacts(TypedDict):
    """A column: its name, its family, and the number of its block if the block has several dependent columns.

    The weight is that of a calibration by columns; dependent columns share it. It is None without such a calibration.
    """

    name: str
    family: str
    block: int | None
    weight: float | None


class MemberFacts(TypedDict):
    """A member of an ensemble beside naive Bayes: its name, the names of its columns, and its weight."""

    name: str
    columns: list[str]
    weight: float | None


class Description(TypedDict):
    """The keys that describe a model in JSON output."""

    model: str
    settings: dict[str, object]
    rows: float | None
    classes: list[ClassFacts]
    columns: list[ColumnFacts]
    members: list[MemberFacts]


class SavedFile(TypedDict):
    """The file of a saved model and its size; None if the model was not saved."""

    output: str | None
    bytes: int | None


def description(model: GenerativeClassifier) -> Description:
    """Describe a fitted model."""
    classes = classes_of(model)
    return {
        "model": model.fitted_.specification.estimator,
        "settings": settings_of(model),
        "rows": None if model.fitted_.without_rows else float(model.fitted_.model.weights.weight.sum()),
        "classes": classes,
        "columns": columns_of(model),
        "members": members_of(model),
    }


def classes_of(model: GenerativeClassifier) -> list[ClassFacts]:
    """Label, weight of the rows, and prior of each class."""
    weights, estimate = model.fitted_.model.weights.weight.tolist(), model.fitted_.estimate
    priors = (estimate.prior / estimate.prior.sum()).tolist()
    return [
        {"label": label, "rows": None if model.fitted_.without_rows else weight, "prior": prior}
        for label, weight, prior in zip(model.classes_.tolist(), weights, priors, strict=True)
    ]


def columns_of(model: GenerativeClassifier) -> list[ColumnFacts]:
    """Name, family and block of each column that the model reads, in the order of the data."""
    estimate, known = model.fitted_.estimate, model.fitted_.layout.feature_names
    in_data = None if known is None or len(known) != estimate.n_columns else known
    columns: dict[int, ColumnFacts] = {}
    weighted = model.fitted_.weighted
    for position_of_block, block in enumerate(estimate.blocks):
        joint = not block.independent and len(block.names) > 1
        weights = None if weighted is None else weighted.of_blocks[position_of_block].tolist()
        for i, (position, name) in enumerate(zip(block.positions(estimate.n_columns), block.names, strict=True)):
            columns[position] = {
                "name": str(name) if in_data is None else in_data[position],
                "family": block.family.name,
                "block": position_of_block if joint else None,
                "weight": None if weights is None else weights[min(i, len(weights) - 1)],
            }
    return [columns[position] for position in sorted(columns)]


def check_has_rows(model: GenerativeClassifier, path: str, done: str) -> None:
    """Raise `InputError` if a saved model was built from parameters, so that it cannot be ``done``."""
    from suffice.exceptions import InputError

    if model.fitted_.without_rows:
        raise InputError(
            f"{path} was built from parameters, which do not include the number of rows, so it cannot be {done}. Fit a "
            "model to rows: suffice fit DATA -o MODEL.",
            file=path,
        )


def members_of(model: GenerativeClassifier) -> list[MemberFacts]:
    """The members of an ensemble beside naive Bayes; empty for other models."""
    fitted = model.fitted_
    weighted = fitted.weighted
    return [
        {
            "name": block.member,
            "columns": [str(name) for name in block.names],
            "weight": None if weighted is None else float(weighted.of_blocks[i][0]),
        }
        for i, block in enumerate(fitted.combined.blocks)
        if block.member
    ]


def settings_of(model: GenerativeClassifier) -> dict[str, object]:
    """Settings that differ from the defaults, and the values chosen for those that are "auto"."""
    settings = _other_settings(model, type(model.fitted_.specification)().parameters())
    tuning = model.fitted_.tuning
    return settings if tuning is None else settings | {"chosen": dict(tuning.chosen)}


def _other_settings(model: GenerativeClassifier, defaults: Mapping[str, Any]) -> dict[str, object]:
    """Settings that differ from ``defaults``."""
    parameters = model.fitted_.specification.parameters()
    settings = {name: value for name, value in parameters.items() if _differs(value, defaults[name])}
    families = settings.get("families")
    if isinstance(families, Mapping):
        settings["families"] = {
            ", ".join(map(str, key)) if isinstance(key, tuple) else str(key): _family_text(family)
            for key, family in families.items()
        }
    elif "families" in settings:
        settings["families"] = _family_text(families)
    return settings


def _family_text(family: object) -> str | None:
    return family if family is None or isinstance(family, str) else repr(family)


def _differs(value: object, default: object) -> bool:
    try:
        return bool(value != default)
    except ValueError:  # an array
        return True


# ---------------------------------------------------------------------- printing


def model_lines(model: GenerativeClassifier) -> dict[str, str]:
    """The model's class with the settings that were given, and a line with those that were chosen on held-out rows."""
    specification, tuning = model.fitted_.specification, model.fitted_.tuning
    chosen = {} if tuning is None else tuning.chosen
    given = {
        name: {each: value for each, value in _other_settings(model, defaults).items() if each not in chosen}
        for name, defaults in _starting_points(specification).items()
    }
    name = min(given, key=lambda each: len(given[each]))
    lines = {"model": ", ".join([name, *(f"{each} {_words(each, value)}" for each, value in given[name].items())])}
    if chosen:
        ordered = [each for each in specification.parameters() if each in chosen]
        lines["tuned"] = ", ".join(f"{each} {_words(each, chosen[each])}" for each in ordered)
    return lines


def _starting_points(specification: Specification) -> dict[str, dict[str, Any]]:
    """The ways to make an estimator, and the parameters that it then has."""
    from suffice.naive_bayes.text_settings import tuned_settings
    from suffice.naive_bayes.text_specification import TextSpecification

    name, defaults = specification.estimator, type(specification)().parameters()
    if not isinstance(specification, TextSpecification):
        return {name: defaults}
    return {name: defaults, f"{name}.tuned()": defaults | tuned_settings({})}


def _words(name: str, value: object) -> str:
    """Values of columns as ``key=value, ...``, or their number if there are many; other values as table cells."""
    from suffice.exceptions import counted

    if value is None:
        return "all" if name == "max_words" else "none"
    if isinstance(value, Mapping):
        text = ", ".join(f"{key}={'none' if each is None else cell_text(each)}" for key, each in value.items())
    elif isinstance(value, list):
        text = ", ".join(map(str, value))
    else:
        return cell_text(value)
    return cell_text(text) if len(text) <= LONGEST_SETTING else f"of {counted(len(value), 'column')}"


def accuracy_line(accuracy: float, error: float, majority: float) -> str:
    """An accuracy beside that of a model that always predicts the most frequent class."""
    return f"{percent(accuracy)} ± {percent(error)} (most frequent class {percent(majority)})"


def log_loss_line(log_loss: float, error: float, baseline: float) -> str:
    """A log-loss beside that of a model that knows only the class shares."""
    return f"{number(log_loss)} ± {error:.2g} (class shares alone {baseline:.4g})"


def show_classes(page: Page, classes: Sequence[ClassFacts]) -> None:
    """Print the classes."""
    rows = [[str(each["label"]), each["rows"], percent(each["prior"])] for each in classes[:MAX_CLASSES]]
    page.table(["class", "rows", "prior"], rows)
    if len(classes) > MAX_CLASSES:
        page.line(more_line(len(classes) - MAX_CLASSES, "class", "classes"))


def show_columns(
    page: Page, columns: Sequence[ColumnFacts], types: Mapping[str, str] | None = None, most: int = MAX_COLUMNS
) -> None:
    """Print at most ``most`` columns, with the types that they were read as."""
    block_sizes: dict[int, int] = {}
    for each in columns:
        if each["block"] is not None:
            block_sizes[each["block"]] = 1 + block_sizes.get(each["block"], 0)
    rows = []
    for each in columns[:most]:
        joint = "" if each["block"] is None else f" (block of {block_sizes[each['block']]} columns)"
        kind = [] if types is None else [types.get(each["name"], "-")]
        weight = [] if each["weight"] is None else [f"{each['weight']:.3f}"]
        rows.append([each["name"], *kind, f"{each['family']}{joint}", *weight])
    kinds = [] if types is None else ["read as"]
    weights = ["weight"] if any(each["weight"] is not None for each in columns) else []
    page.table(["column", *kinds, "family", *weights], rows, left=2 + len(kinds))
    if len(columns) > most:
        page.line(more_line(len(columns) - most, "column"))


def show_members(page: Page, members: Sequence[MemberFacts]) -> None:
    """Print the members of an ensemble beside naive Bayes, if there are any."""
    if members:
        page.heading("Other members")
        rows = [
            [each["name"], len(each["columns"]), None if each["weight"] is None else f"{each['weight']:.3f}"]
            for each in members
        ]
        page.table(["member", "columns", "weight"], rows)


# ---------------------------------------------------------------------- saving


def save(model: GenerativeClassifier, output: str | None) -> SavedFile:
    """Save a model, if there is a path for it."""
    if output is None:
        return {"output": None, "bytes": None}
    model.save(output)
    mark_written(f"{output} was written")
    return {"output": output, "bytes": os.path.getsize(output)}


def saved_line(saved: SavedFile) -> str:
    """The file of the saved model, for output."""
    if saved["output"] is None or saved["bytes"] is None:
        return "no; give a file name with -o"
    return f"{cell_text(saved['output'])}, {size(saved['bytes'])}"

"""What a model is, in plain values: its classes, its columns with their families, its settings."""

from __future__ import annotations

import os
from typing import Any

from suffice.cli.output import Page, percent, shown, size

__all__ = ["classes_of", "columns_of", "description", "save", "saved", "settings_of", "show_classes", "show_columns"]


def description(model: Any) -> dict[str, Any]:
    """The parts of a report that are about a model."""
    return {
        "model": type(model).__name__,
        "settings": settings_of(model),
        "rows": sum(each["rows"] for each in classes_of(model)),
        "classes": classes_of(model),
        "columns": columns_of(model),
    }


def classes_of(model: Any) -> list[dict[str, Any]]:
    """Label, weight of the rows, and prior of each class."""
    weights, estimate = model._learned().weights.weight.tolist(), model._estimated()
    prior = (estimate.prior / estimate.prior.sum()).tolist()
    return [
        {"label": label, "rows": rows, "prior": share}
        for label, rows, share in zip(model.classes_.tolist(), weights, prior, strict=True)
    ]


def columns_of(model: Any) -> list[dict[str, Any]]:
    """Name and family of each column that the model reads; those that hang together have one block."""
    estimate, found = model._estimated(), []
    for number, block in enumerate(estimate.blocks):
        family = block.family
        alone = getattr(family, "independent", False) or len(block.names) == 1
        for at, name in zip(block.positions(estimate.n_columns), block.names, strict=True):
            found.append((at, {"name": str(name), "family": family.name, "block": None if alone else number}))
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


def settings_of(model: Any) -> dict[str, Any]:
    """The settings of a model that are not its defaults, and what was chosen for those that are "auto"."""
    defaults = type(model)().get_params(deep=False)
    found = {name: value for name, value in model.get_params(deep=False).items() if _differs(value, defaults[name])}
    if isinstance(found.get("families"), dict):
        found["families"] = {
            ", ".join(map(str, k)) if isinstance(k, tuple) else str(k): _word(v) for k, v in found["families"].items()
        }
    elif "families" in found:
        found["families"] = _word(found["families"])
    tuning = getattr(model, "_tuning", None)
    return found if tuning is None else found | {"chosen": dict(tuning.chosen)}


def _word(family: Any) -> Any:
    return family if family is None or isinstance(family, str) else repr(family)


def _differs(value: Any, default: Any) -> bool:
    try:
        return bool(value != default)
    except ValueError:  # an array
        return True


def show_classes(page: Page, classes: list[dict[str, Any]]) -> None:
    """Print the classes."""
    rows = [[each["label"], each["rows"], percent(each["prior"])] for each in classes]
    page.table(["class", "rows", "prior"], [[str(label), *rest] for label, *rest in rows])


def show_columns(
    page: Page, columns: list[dict[str, Any]], types: dict[str, str] | None = None, most: int = 40
) -> None:
    """Print the columns; the first of many."""
    sizes: dict[int, int] = {}
    for each in columns:
        if each["block"] is not None:
            sizes[each["block"]] = 1 + sizes.get(each["block"], 0)
    rows = []
    for each in columns[:most]:
        together = "" if each["block"] is None else f", {sizes[each['block']]} columns together"
        kind = [] if types is None else [types.get(each["name"], "-")]
        rows.append([each["name"], *kind, f"{each['family']}{together}"])
    page.table(["column", "family"] if types is None else ["column", "read as", "family"], rows, left=3)
    if len(columns) > most:
        page.line(f"… and {len(columns) - most:,} more columns")


def save(model: Any, output: str | None) -> dict[str, Any]:
    """Save a model, if there is a place for it: that place and how many bytes it took, for a report."""
    if output is None:
        return {"output": None, "bytes": None}
    model.save(output)
    return {"output": output, "bytes": os.path.getsize(output)}


def saved(place: dict[str, Any]) -> str:
    """The same as a sentence."""
    if place["output"] is None:
        return "nothing was saved; give a file with -o"
    return f"{shown(place['output'])}, {size(place['bytes'])}"

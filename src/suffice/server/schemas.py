"""JSON schemas of the rows, labels and answers of a served model, and rows that are valid examples."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from suffice.server.description import ColumnDescription, Description
from suffice.tables.times import time_text

__all__ = ["COMMON", "EXAMPLE_TEXT", "Json", "csv_of", "example_row", "object_of", "reference", "schemas_of"]

Json = dict[str, Any]
MOST_ENUMERATED = 200  # levels or classes that a schema lists
EXAMPLE_TEXT = "An example text"
NUMBER: Json = {"type": "number"}
TEXT: Json = {"type": "string"}
COLUMNS: Mapping[str, Json] = {
    "number": NUMBER,
    "count": {"type": "number", "minimum": 0},
    "time": {"type": "string", "description": "A date, or a date and time, in ISO 8601."},
    "duration": {"type": "number", "description": "Seconds."},
    "text": TEXT,
}


def object_of(properties: Json, description: str = "") -> Json:
    """The schema of an object that has all of these members."""
    out: Json = {"type": "object", "required": list(properties), "properties": properties}
    return {"description": description, **out} if description else out


def list_of(items: Json) -> Json:
    """The schema of a list."""
    return {"type": "array", "items": items}


def reference(name: str) -> Json:
    """A schema that is defined elsewhere in the document.

    >>> reference("Problem")
    {'$ref': '#/components/schemas/Problem'}
    """
    return {"$ref": f"#/components/schemas/{name}"}


# ---------------------------------------------------------------------- of all models

COMMON: Json = {
    "Problem": {
        "type": "object",
        "description": "A problem document of RFC 9457.",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": TEXT,
            "title": TEXT,
            "status": {"type": "integer"},
            "detail": {"type": "string", "description": "What was wrong, where, and what to do."},
            "column": {"description": "The column at fault."},
            "row": {"type": "integer", "description": "The first row at fault, counted from 0."},
            "rows": {"type": "array", "items": {"type": "integer"}, "description": "At most 100 rows at fault."},
            "line": {"type": "integer", "description": "The line at fault of CSV or NDJSON, counted from 1."},
            "argument": {"type": "string", "description": "The part of the request at fault."},
        },
    },
    "Receipt": object_of(
        {
            "sequence": {"type": "integer", "description": "Number of the change."},
            "rows": {"type": "integer", "description": "Rows that were learned or unlearned."},
            "version": {"type": "integer", "description": "The first version of the model that has the change."},
            "repeated": {"type": "boolean", "description": "Whether an earlier request with this key had made it."},
            "weight": {"type": "number", "description": "Weight of all rows of the model."},
        },
        "Says that a change is on disk and part of the model.",
    ),
    "Column": object_of(
        {
            "name": TEXT,
            "kind": {"enum": ["number", "count", "levels", "yes_no", "time", "duration", "text"]},
            "family": TEXT,
            "missing": {"type": "boolean", "description": "Whether a cell may be missing."},
            "levels": {"type": ["array", "null"], "description": "The levels, or the most frequent ones."},
            "n_levels": {"type": "integer", "description": "Number of all levels."},
            "low": {"type": ["number", "null"], "description": "Start of the usual range; seconds of a time."},
            "high": {"type": ["number", "null"]},
            "start": {"description": "A typical value."},
            "unit": TEXT,
        }
    ),
    "Model": object_of(
        {
            "name": TEXT,
            "estimator": TEXT,
            "target": {"type": ["string", "null"], "description": "Column of the labels."},
            "classes": list_of({}),
            "prior": list_of(NUMBER),
            "rows": {"type": ["number", "null"], "description": "Weight of the rows that were learned."},
            "learns": {"type": "boolean", "description": "Whether clients may change the model."},
            "version": {"type": "integer", "description": "Increases with each change."},
            "columns": list_of(reference("Column")),
            "density": {"type": "boolean", "description": "Whether the model has p(x | y), for score and sample."},
            "explains": {"type": "boolean"},
            "report": {"type": "boolean"},
        }
    ),
}

# ---------------------------------------------------------------------- of one model


def schemas_of(model: Description) -> Json:
    """Schemas of the rows and the answers of a model, by names that begin with the name of the model."""
    name = model["name"]

    def own(kind: str) -> Json:
        return reference(f"{name}.{kind}")

    cells = {column["name"]: list_of(_cell(column)) for column in model["columns"]}
    rows = {
        "rows": list_of(own("Row")),
        "columns": {"type": "object", "properties": cells},
        "row": own("Row"),
    }
    labels: Json = {"labels": list_of(own("Label")), "weights": list_of({"type": "number", "minimum": 0})}
    return {
        f"{name}.Row": _row(model),
        f"{name}.Label": choice(model["classes"], len(model["classes"]), nullable=False),
        f"{name}.Rows": {
            "oneOf": [*(object_of({form: schema}) for form, schema in rows.items()), list_of(own("Row"))],
        },
        f"{name}.LabelledRows": {
            "description": "Rows with `labels`, or with a column of labels that has the name of the target.",
            "oneOf": [
                {"type": "object", "required": [form], "properties": {form: schema, **labels}}
                for form, schema in rows.items()
            ],
        },
        **_answers(name, own),
    }


def _row(model: Description) -> Json:
    return {
        "type": "object",
        "description": "Cells by column. Other columns are ignored; null is a missing cell.",
        "required": [column["name"] for column in model["columns"] if not column["missing"]],
        "properties": {column["name"]: _cell(column) for column in model["columns"]},
    }


def _answers(name: str, own: Callable[[str], Json]) -> Json:
    """The answers about rows, as JSON documents."""
    probability: Json = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
    label: Json = {"oneOf": [own("Label"), {"type": "null"}]}
    part: Json = {
        "type": "object",
        "required": ["part"],
        "properties": {
            "part": {"type": "number", "description": "What the cell adds to the log-odds."},
            "column": TEXT,
            "value": {"description": "The cell."},
            "word": TEXT,
            "count": NUMBER,
        },
    }
    explanation = object_of(
        {
            "predicted": own("Label"),
            "probabilities": list_of(object_of({"label": own("Label"), "p": probability})),
            "label": own("Label"),
            "against": own("Label"),
            "log_odds": {"type": ["number", "null"], "description": "Of label against the other class."},
            "calibrated": {"type": "boolean"},
            "weighted": {"type": "boolean"},
            "parts": list_of(part),
        }
    )
    prediction = object_of({"label": label, "probabilities": list_of(probability)})
    return {
        f"{name}.Predictions": object_of({"classes": list_of(own("Label")), "predictions": list_of(prediction)}),
        f"{name}.Explanations": object_of({"explanations": list_of(explanation)}),
        f"{name}.Scores": object_of({"scores": list_of({"type": ["number", "null"], "description": "log p(x)."})}),
        f"{name}.Drawn": object_of({"rows": list_of(own("Row"))}),
    }


def _cell(column: ColumnDescription) -> Json:
    """What the cells of a column may be."""
    if column["kind"] in ("levels", "yes_no"):
        return choice(column["levels"] or [], column["n_levels"], nullable=column["missing"], others=True)
    schema = dict(COLUMNS[column["kind"]])
    if column["missing"]:
        schema["type"] = [schema["type"], "null"]
    if column["kind"] in ("number", "count", "duration") and column["low"] is not None:
        usual = f"Usually from {column['low']:.6g} to {column['high']:.6g}."
        schema["description"] = " ".join([schema.get("description", ""), usual]).strip()
    return schema


def choice(values: Iterable[Any], n_values: int, *, nullable: bool, others: bool = False) -> Json:
    """One of some values, and perhaps others; a long list is not a part of the schema.

    >>> choice(["a", "b"], 2, nullable=True)
    {'enum': ['a', 'b', None]}
    """
    values = list(values)
    types = sorted({_type_of(value) for value in values} | ({"null"} if nullable else set()))
    any_value: Json = {"type": types[0] if len(types) == 1 else types} if types else {}
    if not values or n_values > MOST_ENUMERATED:
        return {**any_value, "description": f"One of {n_values:,} values.", "examples": values[:10]}
    enumerated = {"enum": [*values, None] if nullable else values}
    return {"anyOf": [enumerated, {**any_value, "description": "A new value."}]} if others else enumerated


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


# ---------------------------------------------------------------------- examples


def example_row(model: Description) -> Json:
    """A typical row of a model, as a client sends it."""
    return {column["name"]: _example_cell(column) for column in model["columns"]}


def _example_cell(column: ColumnDescription) -> Any:
    kind, start = column["kind"], column["start"]
    if kind == "text":
        return EXAMPLE_TEXT
    if start is None:
        return None if column["missing"] else 0.0
    return time_text(start).replace(" ", "T") if kind == "time" else start


def csv_of(rows: Iterable[Mapping[str, Any]]) -> str:
    r"""Rows as CSV with a header.

    >>> csv_of([{"size": 1.5, "red": True, "kind": None}])
    'size,red,kind\n1.5,true,\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for i, row in enumerate(rows):
        if not i:
            writer.writerow(row)
        writer.writerow(
            "" if cell is None else json.dumps(cell) if isinstance(cell, bool) else cell for cell in row.values()
        )
    return out.getvalue()

"""The OpenAPI document of a server: the addresses of each model, with examples that are valid.

Every model has addresses and schemas of its own, because its columns, levels and classes are known only when it is
loaded. Examples are typical rows of the model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from suffice import __version__
from suffice.server.description import Description, describe
from suffice.server.hosting import Hosts
from suffice.server.problems import MEDIA_TYPE
from suffice.server.rows.bodies import MEDIA_TYPES, TABLES
from suffice.server.schemas import COMMON, EXAMPLE_TEXT, Json, csv_of, example_row, object_of, reference, schemas_of
from suffice.server.settings import Access, Settings

__all__ = ["document"]

DESCRIPTION = (
    "Models that predict, explain and learn over HTTP. If the server has one model, its addresses also work without "
    "`/models/{name}`. Rows may be JSON, CSV, NDJSON, an Arrow stream or Parquet. An answer has the form of the body, "
    "unless Accept asks for another one."
)
PROBLEM: Json = {
    "description": "The request has a mistake, or the server cannot answer it now; `detail` says what to do.",
    "content": {MEDIA_TYPE: {"schema": reference("Problem")}},
}
BINARY: Json = {"contentMediaType": "application/octet-stream"}
KEY: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Makes a retry safe: a request with the key of an earlier one gets its receipt and changes nothing.",
    "schema": {"type": "string", "maxLength": 255},
}


def document(hosts: Hosts, settings: Settings, *, tokens: bool) -> Json:
    """The OpenAPI document.

    Parameters
    ----------
    hosts : Hosts
    settings : Settings
    tokens : bool
        Whether clients need tokens.
    """
    models = [describe(each) for each in hosts.values()]
    operations = [*_of_server(), *(each for model in models for each in _of_model(model, settings))]
    paths: Json = {}
    for path, method, access, operation in operations:
        if tokens:
            operation["security"] = [] if access == "open" else [{"token": [access]}]
        paths.setdefault(path, {})[method] = operation
    components: Json = {
        "schemas": {**COMMON, **{name: schema for each in models for name, schema in schemas_of(each).items()}},
        "responses": {"Problem": PROBLEM},
    }
    if tokens:
        scheme = "A token of the scope read or learn; learn includes read."
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "description": scheme}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Suffice", "version": __version__, "description": DESCRIPTION},
        "servers": [{"url": "/"}],
        "tags": [
            {"name": "server", "description": "The server as a whole."},
            *({"name": each["name"], "description": _facts(each)} for each in models),
        ],
        "paths": paths,
        "components": components,
    }


Operation = tuple[str, str, Access, Json]
"""Path, method, the scope that a client needs, and the operation object."""


def _facts(model: Description) -> str:
    target = "" if model["target"] is None else f" of {model['target']}"
    return f"{model['estimator']}{target}; {len(model['classes'])} classes, {len(model['columns'])} columns."


def _operation(tag: str, name: str, summary: str, content: Json, *, body: Json | None = None, **parts: Any) -> Json:
    """An operation object; ``content`` describes the answer by media type."""
    out: Json = {"tags": [tag], "operationId": f"{tag}.{name}", "summary": summary, **parts}
    if body is not None:
        out["requestBody"] = {"required": True, "content": body}
    answer = {"description": summary, "content": content}
    out["responses"] = {"200": answer, "default": {"$ref": "#/components/responses/Problem"}}
    return out


def _json(schema: Json, example: Any = None) -> Json:
    """A JSON document of a schema."""
    return {"application/json": {"schema": schema} if example is None else {"schema": schema, "example": example}}


# ---------------------------------------------------------------------- addresses


def _of_server() -> Iterator[Operation]:
    """The addresses of the server as a whole."""
    status = _json(object_of({"status": {"type": "string"}}))
    models = _json(object_of({"models": {"type": "array", "items": reference("Model")}}))
    figures = {"text/plain": {"schema": {"type": "string"}}}
    yield "/models", "get", "read", _operation("server", "models", "Describe all models.", models)
    yield "/metrics", "get", "read", _operation("server", "metrics", "Figures for Prometheus.", figures)
    yield "/health", "get", "open", _operation("server", "health", "Whether the process is alive.", status)
    yield "/ready", "get", "open", _operation("server", "ready", "Whether requests are answered.", status)
    yield "/openapi.json", "get", "read", _operation("server", "openapi", "This document.", _json({"type": "object"}))


def _of_model(model: Description, settings: Settings) -> Iterator[Operation]:
    """The addresses of a model."""
    name, prefix = model["name"], f"/models/{model['name']}"
    html = {"text/html": {"schema": {"type": "string"}}}
    binary = {"application/octet-stream": {"schema": BINARY}}
    drift = {**_json({"type": "object"}), **html}
    yield prefix, "get", "read", _operation(name, "model", "Describe the model.", _json(reference("Model")))
    yield f"{prefix}/model", "get", "read", _operation(name, "file", "Download the model file as it is now.", binary)
    yield f"{prefix}/report", "get", "read", _operation(name, "report", "A report of the model.", html)
    yield (
        f"{prefix}/drift",
        "get",
        "read",
        _operation(name, "drift", "How predicted rows differ from the training rows.", drift),
    )
    yield (
        f"{prefix}/window",
        "get",
        "read",
        _operation(name, "window", "Statistics of the rows of the open window, for suffice monitor.", binary),
    )
    for path, access, operation in _posts(model, settings):
        yield f"{prefix}/{path}", "post", access, operation


def _posts(model: Description, settings: Settings) -> Iterator[tuple[str, Access, Json]]:
    """The addresses that take rows."""
    name, row, classes = model["name"], example_row(model), model["classes"]
    rows = _bodies(model, f"{name}.Rows", {"rows": [row]}, [row])

    def asked(verb: str, summary: str, answer: str, **parts: Any) -> tuple[str, Access, Json]:
        return verb, "read", _operation(name, verb, summary, _answers(f"{name}.{answer}"), body=rows, **parts)

    choices = [
        _option("keep", "all: a table is answered by a table that begins with its own columns.", "none", "all"),
        _option("watch", "no: the rows are not compared with the training rows; see drift.", "yes", "no"),
    ]
    yield asked("predict", "Label and posterior of each row.", "Predictions", parameters=choices)
    if model["explains"]:
        odds = [
            _query("class", "The class that is explained; by default the predicted one.", classes[0]),
            _query(
                "against", "The class that it is compared with; by default the next most probable one.", classes[-1]
            ),
        ]
        summary = f"The parts of the log-odds of at most {settings.limits.explained:,} rows."
        yield asked("explain", summary, "Explanations", parameters=odds)
    if model["density"]:
        yield asked("score", "log p(x) of each row.", "Scores")
        wanted: Json = {
            "type": "object",
            "required": ["rows"],
            "properties": {
                "rows": {"type": "integer", "minimum": 1, "maximum": settings.limits.sampled},
                "class": reference(f"{name}.Label"),
                "seed": {"type": "integer", "minimum": 0},
            },
        }
        body = _json(wanted, {"rows": 2, "class": classes[0], "seed": 0})
        yield "sample", "read", _operation(name, "sample", "Draw rows.", _answers(f"{name}.Drawn"), body=body)
    if model["learns"]:
        yield from _changes(model, row)


def _changes(model: Description, row: Json) -> Iterator[tuple[str, Access, Json]]:
    """The addresses that change the model."""
    name, classes = model["name"], model["classes"]
    target = model["target"] or ("label" if "label" not in row else "class")  # the server knows the first two
    example = {"rows": [row], "labels": [classes[0]]}
    body = _bodies(model, f"{name}.LabelledRows", example, [{**row, target: classes[0]}])
    if MEDIA_TYPES["text"] in body:
        for form in ("text", "mail"):
            body[MEDIA_TYPES[form]]["schema"] = {
                "type": "string",
                "description": "Its class is ?label= in the address.",
            }
    receipt = _json(reference("Receipt"))
    places = [
        KEY,
        _query("target", "The column of labels; by default the target of the model, or label.", target),
        _query("label", "The class of all rows; a text or a mail needs it.", classes[0]),
        _query("weights", "The column of weights in a table.", None),
    ]
    for verb, summary in (
        ("learn", "Learn rows. The answer comes when they are on disk."),
        ("unlearn", "Take rows back exactly."),
    ):
        yield verb, "learn", _operation(name, verb, summary, receipt, body=body, parameters=places)
    if not model["explains"]:  # such a model has no prior
        return
    given = {"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}}
    prior = object_of({"prior": {"oneOf": [{"enum": ["data", "uniform"]}, given]}})
    summary = "Change the probabilities of the classes before a row is seen."
    changed = _json(prior, {"prior": "uniform"})
    yield "prior", "learn", _operation(name, "prior", summary, receipt, body=changed, parameters=[KEY])


def _query(name: str, description: str, example: Any) -> Json:
    """A parameter of the query of an address."""
    text = example if isinstance(example, str) else json.dumps(example)
    schema = {"type": "string"} if example is None else {"type": "string", "examples": [text]}
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _option(name: str, description: str, *values: str) -> Json:
    """A parameter of the query that has few values; the first one is the default."""
    schema = {"enum": list(values), "default": values[0]}
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _bodies(model: Description, schema: str, example: Json, rows: list[Json]) -> Json:
    """The forms of a body with rows, by media type."""
    out = _json(reference(schema), example)
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    if all(column["kind"] != "duration" for column in model["columns"]):  # which text files do not have
        out[MEDIA_TYPES["csv"]] = {"schema": {"type": "string"}, "example": csv_of(rows)}
        out[MEDIA_TYPES["jsonl"]] = {"schema": {"type": "string"}, "example": lines}
    for form in ("arrow", "parquet"):
        out[MEDIA_TYPES[form]] = {"schema": BINARY}
    if [column["kind"] for column in model["columns"]] == ["text"]:
        out[MEDIA_TYPES["text"]] = {"schema": {"type": "string"}, "example": EXAMPLE_TEXT}
        out[MEDIA_TYPES["mail"]] = {"schema": {"type": "string"}}
    return out


def _answers(schema: str) -> Json:
    """The forms of an answer, by media type."""
    out = _json(reference(schema))
    for form in TABLES:
        out[MEDIA_TYPES[form]] = {"schema": {"type": "string"} if form in ("csv", "jsonl") else BINARY}
    return out

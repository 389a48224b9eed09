"""What a file holds of a model: statistics rather than parameters, so that a loaded model can learn more rows.

The document has, in this order: ``format``, ``library`` (the version that wrote it), ``written`` (when, in UTC),
``rows`` (their total weight), ``estimator``, ``parameters``, ``schema``, ``classes``, ``weights``, ``statistics`` and
``attributes``; see ``docs/model_files.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from inspect import signature
from typing import Any

import numpy as np

from suffice.exceptions import ModelFileError, columns_at
from suffice.learning.calibration import Calibration
from suffice.learning.tuning import Tuning
from suffice.model_file.arrays import Json
from suffice.model_file.container import FORMAT, read_container, write_container
from suffice.model_file.disk import Path, as_path
from suffice.model_file.encoding import NotStorableError, Value, ValueReader, ValueWriter, storable
from suffice.model_file.validation import KINDS, check_classes, check_schema, check_statistic
from suffice.sources.forms import ArrayForm, SparseForm, StoredFrameForm
from suffice.statistics import ClassAxis, Moments, Statistic, Sums
from suffice.tables import Levels, Vocabulary
from suffice.tables.table import Schema

__all__ = ["ESTIMATORS", "SavedModel", "StoredModel", "read_model", "write_model"]

ESTIMATORS: dict[str, type[Any]] = {}
"""The estimators that a file may hold, by name; `suffice.loading` fills it."""

for _kind in (ClassAxis, Levels, Moments, Vocabulary, ArrayForm, SparseForm, StoredFrameForm, Calibration, Tuning):
    storable(_kind)


@dataclass(frozen=True)
class SavedModel:
    """A model to write to a file.

    Parameters
    ----------
    estimator : object
    parameters : mapping
        The arguments of its constructor.
    schema : Schema
    weights : Sums
        Class weights.
    statistics : sequence of Statistic
        One for each block.
    zeros : sequence of Statistic
        The statistics of no rows, one for each block, from the families.
    names : sequence of sequences
        Names of the columns of each block.
    attributes : mapping
        Other attributes to store, by name; the file omits leading and trailing underscores.
    """

    estimator: object
    parameters: Mapping[str, object]
    schema: Schema
    weights: Sums
    statistics: Sequence[Statistic]
    zeros: Sequence[Statistic]
    names: Sequence[Sequence[object]]
    attributes: Mapping[str, object]


def write_model(path: Path, model: SavedModel) -> None:
    """Write a model to a file; see `suffice.estimators.base.GenerativeClassifier.save`."""
    name = type(model.estimator).__name__
    if ESTIMATORS.get(name) is not type(model.estimator):
        raise ModelFileError(
            f"A {name} cannot be saved: loading a file runs no code, so only classes of Suffice can be saved "
            f"({', '.join(ESTIMATORS)}). Use pickle or joblib for your own class.",
            file=as_path(path),
        )
    try:
        check_statistic(model.weights, Sums.zero(model.weights.classes, 0), ["(class weights)"])
        for statistic, zero, names in zip(model.statistics, model.zeros, model.names, strict=True):
            check_statistic(statistic, zero, names)
    except ModelFileError as error:
        raise ModelFileError(
            f"This {name} cannot be saved: {error}. Rescale the columns and fit it again.",
            column=error.column,
            file=as_path(path),
        ) from None
    writer = ValueWriter(model.weights.classes)
    try:
        document = {
            "format": FORMAT,
            "library": version("suffice"),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "rows": writer.value(float(model.weights.weight.sum()), "rows"),
            "estimator": name,
            "parameters": {key: writer.value(each, "parameters", key) for key, each in model.parameters.items()},
            "schema": _stored_schema(model.schema, writer),
            "classes": writer.value(model.weights.classes.labels, "classes"),
            "weights": writer.value(model.weights, "weights"),
            "statistics": [writer.value(each, "statistics", i) for i, each in enumerate(model.statistics)],
            "attributes": {
                key.strip("_"): writer.value(each, "attributes", key.strip("_"))
                for key, each in model.attributes.items()
            },
        }
    except NotStorableError as error:
        raise _not_storable(error, name, model, as_path(path)) from None
    write_container(as_path(path), document, writer.arrays)


def _stored_schema(schema: Schema, writer: ValueWriter) -> dict[str, Json]:
    kinds = np.array([KINDS.index(kind) for kind in schema.kinds], dtype=np.uint8)
    numbered = isinstance(schema.names, range)
    return {
        "names": None if numbered else writer.value(list(schema.names), "schema", "names"),
        "kinds": writer.value(kinds, "schema", "kinds"),
        "named": schema.named,
    }


def _not_storable(error: NotStorableError, name: str, model: SavedModel, path: str) -> ModelFileError:
    """Return the error for a value that cannot be stored: where it is, and what to do."""
    part, key, *rest = (*error.path, "", "")
    value = f"a {type(error.value).__name__}" if not error.reason else f"{error.value!r}, which {error.reason}"
    tail = "" if error.reason else ", which a model file cannot hold"
    if part == "parameters":
        return ModelFileError(
            f"This {name} cannot be saved: its parameter {key!r} holds {value}{tail}. Use numbers, strings, lists, "
            "mappings or arrays (set_params), or use pickle or joblib.",
            argument=str(key),
            file=path,
        )
    if part == "statistics" and "levels" in rest:
        column = model.names[int(key)][int(rest[rest.index("levels") + 1])]
        return ModelFileError(
            f"This {name} cannot be saved: {columns_at([column], [0])} has the level {error.value!r}, {value}{tail}. "
            "Convert the column to strings, numbers or dates and fit again, or use pickle or joblib.",
            column=column,
            file=path,
        )
    if part == "schema":
        return ModelFileError(
            f"This {name} cannot be saved: the name of column {error.value!r} is {value}{tail}. Use a string.",
            column=error.value,
            file=path,
        )
    return ModelFileError(
        f"This {name} cannot be saved: its {key or part} holds {value}{tail}. Use pickle or joblib.", file=path
    )


class StoredModel:
    """A file that was read; its parts are decoded on request.

    Attributes
    ----------
    path : str
    estimator : type
    """

    def __init__(self, path: str, document: dict[str, Json], reader: ValueReader) -> None:
        self.path = path
        self._document, self._reader = document, reader
        name = document.get("estimator")
        if not isinstance(name, str) or name not in ESTIMATORS:
            raise ModelFileError(f"it holds an unknown estimator {name!r}; expected one of {', '.join(ESTIMATORS)}")
        self.estimator = ESTIMATORS[name]

    def parameters(self) -> dict[str, Value]:
        """Return the arguments of the constructor."""
        return self._named("parameters", list(signature(self.estimator).parameters))

    def attributes(self, allowed: Sequence[str]) -> dict[str, Value]:
        """Return the other attributes of the estimator, by name."""
        names = {name.strip("_"): name for name in allowed}
        return {names[key]: each for key, each in self._named("attributes", list(names)).items()}

    def _named(self, part: str, allowed: Sequence[str]) -> dict[str, Value]:
        stored = self._document[part]
        unknown = sorted(set(stored) - set(allowed))
        if unknown:
            raise ModelFileError(f"a {self.estimator.__name__} has no {unknown[0]!r} among its {part}")
        return {key: self._reader.value(each) for key, each in stored.items()}

    def schema(self) -> Schema:
        """Return the schema of the columns."""
        stored = self._document["schema"]
        kinds = self._reader.value(stored["kinds"])
        if kinds.ndim != 1 or kinds.dtype != np.uint8 or not isinstance(stored["named"], bool):
            raise ModelFileError("the description of its columns is not valid")
        names = self._reader.value(stored["names"])
        columns = range(len(kinds)) if names is None else names
        return check_schema(Schema(columns, [KINDS[kind] for kind in kinds.tolist()], stored["named"]), len(kinds))

    def weights(self) -> Sums:
        """Return the class weights."""
        axis = self._reader.axis = check_classes(ClassAxis(self._reader.value(self._document["classes"])))
        weights: Sums = self._reader.value(self._document["weights"], Sums)
        check_statistic(weights, Sums.zero(axis, 0), ["(class weights)"])
        return weights

    def statistics(self, zeros: Sequence[Statistic], names: Sequence[Sequence[object]]) -> tuple[Statistic, ...]:
        """Return the statistics of the blocks with these zeros and column names."""
        stored = self._document["statistics"]
        if len(stored) != len(zeros):
            raise ModelFileError(f"it has {len(stored)} statistics; its settings make {len(zeros)} blocks")
        statistics: list[Statistic] = []
        for each, zero, columns in zip(stored, zeros, names, strict=True):
            statistic = self._reader.value(each, type(zero))
            check_statistic(statistic, zero, columns)
            statistics.append(statistic)
        return tuple(statistics)

    def finish(self) -> None:
        """Raise if nothing refers to one of the arrays."""
        if self._reader.arrays:
            raise ModelFileError(f"nothing refers to its array {next(iter(self._reader.arrays))!r}")


def read_model(path: Path) -> StoredModel:
    """Read a file, and check everything that can be checked before the estimator is created."""
    text = as_path(path)
    document, arrays = read_container(text)
    return StoredModel(text, document, ValueReader(arrays))

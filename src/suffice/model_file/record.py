"""What a file holds of a model: statistics, not parameters, so that it can go on learning, and where it comes from.

The document has, in this order: ``format``, ``library`` (the version that wrote it), ``written`` (when, in UTC),
``rows`` (their weight), ``estimator``, ``parameters``, ``schema``, ``classes``, ``weights``, ``statistics`` and
``attributes``; see ``docs/model_files.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from suffice.exceptions import ModelFileError, columns_at
from suffice.learning.calibration import Calibration
from suffice.learning.tuning import Tuning
from suffice.model_file.checks import KINDS, check_classes, check_schema, check_statistic
from suffice.model_file.container import FORMAT, read_container, write_container
from suffice.model_file.disk import Path, as_path
from suffice.model_file.values import NotStorableError, Reader, Writer, storable
from suffice.sources.forms import ArrayForm, SparseForm, StoredFrameForm
from suffice.statistics import ClassAxis, Moments, Statistic, Sums
from suffice.tables import Levels, Vocabulary
from suffice.tables.table import Schema

__all__ = ["ESTIMATORS", "SavedModel", "StoredModel", "read_model", "write_model"]

ESTIMATORS: dict[str, type[Any]] = {}
"""The estimators that a file may be of, by name; `suffice.loading` fills it."""

for _kind in (ClassAxis, Levels, Moments, Vocabulary, ArrayForm, SparseForm, StoredFrameForm, Calibration, Tuning):
    storable(_kind)


@dataclass(frozen=True)
class SavedModel:
    """What an estimator gives to a file.

    Parameters
    ----------
    estimator : object
    parameters : mapping
        What its constructor takes.
    schema : Schema
    weights : Sums
        Class weights.
    statistics : sequence of Statistic
        One for each block.
    zeros : sequence of Statistic
        Those of no rows, by the families of the blocks.
    names : sequence of sequences
        Names of the columns of each block.
    attributes : mapping
        What else it keeps, by the names of its attributes; a file has them without the underscores about them.
    """

    estimator: Any
    parameters: Mapping[str, Any]
    schema: Schema
    weights: Sums
    statistics: Sequence[Statistic]
    zeros: Sequence[Statistic]
    names: Sequence[Sequence[object]]
    attributes: Mapping[str, Any]


def write_model(path: Path, model: SavedModel) -> None:
    """Write a model to a file; see `suffice.estimators.base.GenerativeClassifier.save`."""
    name = type(model.estimator).__name__
    if ESTIMATORS.get(name) is not type(model.estimator):
        raise ModelFileError(
            f"A {name} cannot be saved: a file is read without running code, so that it can only be of a class of "
            f"Suffice ({', '.join(ESTIMATORS)}). Use pickle or joblib for your own."
        )
    try:
        check_statistic(model.weights, Sums.zero(model.weights.classes, 0), ["(class weights)"])
        for statistic, zero, names in zip(model.statistics, model.zeros, model.names, strict=True):
            check_statistic(statistic, zero, names)
    except ModelFileError as error:
        raise ModelFileError(f"This {name} cannot be saved: {error}. Fit it again, on rescaled columns.") from None
    writer = Writer(model.weights.classes)
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
        raise ModelFileError(_sentence(error, name, model)) from None
    write_container(as_path(path), document, writer.arrays)


def _stored_schema(schema: Schema, writer: Writer) -> dict[str, Any]:
    kinds = np.array([KINDS.index(kind) for kind in schema.kinds], dtype=np.uint8)
    numbered = isinstance(schema.names, range)
    return {
        "names": None if numbered else writer.value(list(schema.names), "schema", "names"),
        "kinds": writer.value(kinds, "schema", "kinds"),
        "named": schema.named,
    }


def _sentence(error: NotStorableError, name: str, model: SavedModel) -> str:
    """What cannot be stored, where it is, and what to do."""
    part, key, *rest = (*error.trail, "", "")
    value = f"a {type(error.value).__name__}" if not error.why else f"{error.value!r}, which {error.why}"
    tail = "" if error.why else ", which a model file cannot hold"
    if part == "parameters":
        return (
            f"This {name} cannot be saved: its parameter {key!r} holds {value}{tail}. Give it as numbers, texts, "
            "lists, mappings or arrays (set_params), or use pickle or joblib."
        )
    if part == "statistics" and "levels" in rest:
        column = model.names[int(key)][int(rest[rest.index("levels") + 1])]
        return (
            f"This {name} cannot be saved: {columns_at([column], [0])} has the level {error.value!r}, {value}{tail}. "
            "Convert the column to texts, numbers or dates and fit again, or use pickle or joblib."
        )
    if part == "schema":
        return f"This {name} cannot be saved: the column {error.value!r} is named by {value}{tail}. Name it by a text."
    return f"This {name} cannot be saved: its {key or part} holds {value}{tail}. Use pickle or joblib."


class StoredModel:
    """A file that was read, whose parts become values when they are asked for.

    Attributes
    ----------
    path : str
    estimator : type
    """

    def __init__(self, path: str, document: dict[str, Any], reader: Reader) -> None:
        self.path = path
        self._document, self._reader = document, reader
        name = document.get("estimator")
        if not isinstance(name, str) or name not in ESTIMATORS:
            raise ModelFileError(f"there is no estimator {name!r}; there are {', '.join(ESTIMATORS)}")
        self.estimator = ESTIMATORS[name]

    def parameters(self) -> dict[str, Any]:
        """What the constructor takes."""
        return self._named("parameters", self.estimator._get_param_names())

    def attributes(self, allowed: Sequence[str]) -> dict[str, Any]:
        """What else the estimator keeps, by the names of its attributes."""
        names = {name.strip("_"): name for name in allowed}
        return {names[key]: each for key, each in self._named("attributes", list(names)).items()}

    def _named(self, part: str, allowed: Sequence[str]) -> dict[str, Any]:
        stored = self._document[part]
        strange = sorted(set(stored) - set(allowed))
        if strange:
            raise ModelFileError(f"a {self.estimator.__name__} has no {strange[0]!r} among its {part}")
        return {key: self._reader.value(each) for key, each in stored.items()}

    def schema(self) -> Schema:
        """The columns."""
        stored = self._document["schema"]
        kinds = self._reader.value(stored["kinds"])
        if kinds.ndim != 1 or kinds.dtype != np.uint8 or not isinstance(stored["named"], bool):
            raise ModelFileError("its columns are not described")
        names = self._reader.value(stored["names"])
        columns = range(len(kinds)) if names is None else names
        return check_schema(Schema(columns, [KINDS[kind] for kind in kinds.tolist()], stored["named"]), len(kinds))

    def weights(self) -> Sums:
        """Class weights."""
        axis = self._reader.axis = check_classes(ClassAxis(self._reader.value(self._document["classes"])))
        zero = Sums.zero(axis, 0)
        found = self._reader.value(self._document["weights"], Sums)
        check_statistic(found, zero, ["(class weights)"])
        sums: Sums = found
        return sums

    def statistics(self, zeros: Sequence[Statistic], names: Sequence[Sequence[object]]) -> tuple[Statistic, ...]:
        """The statistics of blocks of these columns, of the kinds of these zeros."""
        stored = self._document["statistics"]
        if len(stored) != len(zeros):
            raise ModelFileError(f"it has {len(stored)} statistics, and its settings make {len(zeros)} blocks")
        found = []
        for each, zero, columns in zip(stored, zeros, names, strict=True):
            statistic = self._reader.value(each, type(zero))
            check_statistic(statistic, zero, columns)
            found.append(statistic)
        return tuple(found)

    def finish(self) -> None:
        """Raise if an array is left that nothing refers to."""
        if self._reader.arrays:
            raise ModelFileError(f"nothing refers to its array {next(iter(self._reader.arrays))!r}")


def read_model(path: Path) -> StoredModel:
    """Read a file, and check all that can be checked before an estimator is made of it."""
    text = as_path(path)
    document, arrays = read_container(text)
    return StoredModel(text, document, Reader(arrays))

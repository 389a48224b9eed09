"""The content of a model file: statistics rather than parameters, so that a loaded model can learn more rows.

The document has, in this order: ``format``, ``library`` (the version that wrote it), ``rows`` (their total weight),
``estimator``, ``parameters``, ``schema``, ``classes``, ``weights``, ``statistics`` and ``attributes``; see
``docs/model_files.md``. The same model gives the same bytes: nothing depends on the time, the process or its order of
sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache

import numpy as np

from suffice.exceptions import ModelFileError, columns_at
from suffice.families import Family
from suffice.families.priors import (
    Beta,
    Dirichlet,
    GammaRate,
    NormalInverseGamma,
    NormalInverseWishart,
    PriorsOfClasses,
)
from suffice.learning.calibration import Calibration
from suffice.learning.family_choice import chosen_blocks
from suffice.learning.fitted import Fitted
from suffice.learning.profile import Profile
from suffice.learning.specification import SPECIFICATIONS, Specification
from suffice.learning.tuning_result import Tuning
from suffice.model import Block, Model
from suffice.model_file.added_members import with_added_members, without_added_members
from suffice.model_file.arrays import Json
from suffice.model_file.container import FORMAT, Arrays, container_bytes, read_bytes, read_container, read_hashed
from suffice.model_file.disk import Path, as_path, write_whole
from suffice.model_file.encoding import NotStorableError, Value, ValueReader, ValueWriter, storable
from suffice.model_file.validation import KINDS, check_classes, check_schema, check_statistic
from suffice.sources.files import CellFormat
from suffice.sources.forms import ArrayForm, SparseForm, StoredFrameForm
from suffice.sources.row_reader import RowLayout
from suffice.statistics import ClassAxis, Moments, Statistic, Sums
from suffice.statistics.bins import Bins
from suffice.tables import Levels, Vocabulary
from suffice.tables.column_blocks import ColumnBlocks
from suffice.tables.family_scores import FamilyScores
from suffice.tables.table import Schema

__all__ = ["model_bytes", "model_of_bytes", "read_model", "read_model_and_digest", "write_model"]

Find = Callable[[str], type[Specification] | None]

# Attributes of every estimator.
COMMON = (
    "n_features_in",
    "feature_names_in",
    "dtype",
    "declared",
    "formats",
    "nulls",
    "target",
    "given_families",
    "profile",
)

for _kind in (
    Bins,
    CellFormat,
    ClassAxis,
    Levels,
    Moments,
    Vocabulary,
    ArrayForm,
    SparseForm,
    StoredFrameForm,
    Calibration,
    ColumnBlocks,
    FamilyScores,
    Profile,
    Tuning,
    Beta,
    Dirichlet,
    GammaRate,
    NormalInverseGamma,
    NormalInverseWishart,
    PriorsOfClasses,
):
    storable(_kind)


def write_model(path: Path, fitted: Fitted) -> None:
    """Write a fitted model to a file. Estimators do this in ``save``.

    Parameters
    ----------
    path : str or path-like
        The file. An existing file is replaced.
    fitted : Fitted
        ``fitted_`` of an estimator.

    Raises
    ------
    ModelFileError
        If the file cannot be written, or cannot hold a value of the model.

    See Also
    --------
    suffice.model_file.read_model : Reads the file.
    suffice.model_file.storable : Registers a class whose objects a file can hold.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import suffice
    >>> from suffice.model_file import write_model
    >>> model = suffice.NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.suffice"
    ...     write_model(path, model.fitted_)
    ...     suffice.load(path).predict([[11.0]])
    array(['b'], dtype='<U1')
    """
    file = as_path(path)
    write_whole(file, _content(fitted, file))


def model_bytes(fitted: Fitted) -> bytes:
    """Return the bytes that `write_model` writes. Estimators do this in ``to_bytes``.

    Parameters
    ----------
    fitted : Fitted
        ``fitted_`` of an estimator.

    Returns
    -------
    bytes
        The content of a model file.

    Raises
    ------
    ModelFileError
        If a file cannot hold a value of the model.

    See Also
    --------
    suffice.model_file.model_of_bytes : Reads the bytes.
    suffice.model_file.write_model : Writes them to a file.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> from suffice.model_file import model_bytes, model_of_bytes
    >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    >>> model_of_bytes(model_bytes(model.fitted_)).model.weights.weight
    array([2., 2.])
    """
    return bytes(_content(fitted))


def _content(fitted: Fitted, file: str | None = None) -> bytearray:
    """The content of a model file; the path is for messages."""
    model, name = fitted.model, fitted.specification.estimator
    try:
        blocks = fitted.current_model.blocks
    except ValueError as error:
        raise ModelFileError(
            f"This {name} cannot be saved: its parameters were changed and no longer match what it has learned. "
            f"{error}",
            file=file,
        ) from error
    zeros = Model.zero(blocks, model.classes).statistics
    try:
        check_statistic(model.weights, Sums.zero(model.classes, 0), ["(class weights)"])
        for statistic, zero, block in zip(model.statistics, zeros, blocks, strict=True):
            check_statistic(statistic, zero, block.names)
    except ModelFileError as error:
        raise ModelFileError(
            f"This {name} cannot be saved: {error}. Rescale the columns and fit it again.",
            column=error.column,
            file=file,
        ) from None
    writer = ValueWriter(model.classes)
    parameters, attributes = fitted.specification.stored_parameters(), _attributes(fitted)
    try:
        document = {
            "format": FORMAT,
            "library": library_version(),
            "rows": writer.value(float(model.weights.weight.sum()), "rows"),
            "estimator": name,
            "parameters": {key: writer.value(each, "parameters", key) for key, each in parameters.items()},
            "schema": _stored_schema(fitted.layout.schema, writer),
            "classes": writer.value(model.classes.labels, "classes"),
            "weights": writer.value(model.weights, "weights"),
            "statistics": [writer.value(each, "statistics", i) for i, each in enumerate(model.statistics)],
            "attributes": {key: writer.value(each, "attributes", key) for key, each in attributes.items()},
        }
    except NotStorableError as error:
        raise _not_storable(error, name, blocks, file) from None
    return container_bytes(document, writer.arrays, file or "")


@cache
def library_version() -> str:
    from importlib.metadata import version  # imports email, which reading a model does not need

    return version("suffice")


def _attributes(fitted: Fitted) -> dict[str, object]:
    """The other content of a file besides settings, schema and statistics, by the names that the format defines."""
    layout = fitted.layout
    names = layout.feature_names
    attributes = {
        "n_features_in": layout.n_columns,
        "feature_names_in": None if names is None else np.array(names, dtype=object),
        "dtype": layout.dtype,
        "declared": fitted.declared,
        "formats": dict(layout.formats) or None,
        "nulls": None if layout.nulls is None else list(layout.nulls),
        "form": layout.form,
        "tuning": fitted.tuning,
        "calibration": fitted.calibration,
        "given": fitted.given,
        "shares": fitted.prior,
        "target": fitted.target,
        "given_families": None if fitted.given_families is None else dict(fitted.given_families),
        "profile": fitted.profile,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def _stored_schema(schema: Schema, writer: ValueWriter) -> dict[str, Json]:
    kinds = np.array([KINDS.index(kind) for kind in schema.kinds], dtype=np.uint8)
    numbered = isinstance(schema.names, range)
    stored: dict[str, Json] = {
        "names": None if numbered else writer.value(list(schema.names), "schema", "names"),
        "kinds": writer.value(kinds, "schema", "kinds"),
        "named": schema.named,
    }
    if schema.scores is not None:
        stored["scores"] = writer.value(schema.scores, "schema", "scores")
    if schema.found is not None:
        stored["found"] = writer.value(schema.found, "schema", "found")
    return stored


def _not_storable(error: NotStorableError, name: str, blocks: Sequence[Block], path: str | None) -> ModelFileError:
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
        column = blocks[int(key)].names[int(rest[rest.index("levels") + 1])]
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


def read_model(path: Path, find: Find = SPECIFICATIONS.get) -> Fitted:
    """Read a fitted model from a file; `suffice.load` returns it as an estimator.

    Reading runs no code from the file, and checks every value.

    Parameters
    ----------
    path : str or path-like
        The file.
    find : callable
        Returns the specification of an estimator by its name, or None.

    Returns
    -------
    Fitted
        The fitted model.

    Raises
    ------
    ModelFileError
        If the file is not a model that Suffice has saved, is damaged, or was written by a newer Suffice.
    ModelFileMissingError
        If the file does not exist.

    See Also
    --------
    suffice.load : Returns the model as an estimator.
    suffice.model_file.write_model : Writes the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from suffice import NaiveBayes
    >>> from suffice.model_file import read_model, write_model
    >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "model.suffice"
    >>> write_model(path, model.fitted_)
    >>> fitted = read_model(path)
    >>> fitted.specification.estimator, fitted.model.weights.weight
    ('NaiveBayes', array([2., 2.]))

    A file in which one byte has changed is refused:

    >>> content = bytearray(path.read_bytes())
    >>> content[-1] ^= 1
    >>> _ = path.write_bytes(content)
    >>> read_model(path)
    Traceback (most recent call last):
    suffice.exceptions.ModelFileError: The file ... is damaged: its content does not match its checksum. ...
    >>> folder.cleanup()
    """
    file = as_path(path)
    return _checked(read_container(file), find, file)


def read_model_and_digest(path: Path, find: Find = SPECIFICATIONS.get) -> tuple[Fitted, str]:
    """Read a fitted model from a file as `read_model` does, and the SHA-256 of the file that was read."""
    file = as_path(path)
    content, digest = read_hashed(file)
    return _checked(content, find, file), digest


def model_of_bytes(content: bytes | bytearray | memoryview, find: Find = SPECIFICATIONS.get) -> Fitted:
    """Read a fitted model from bytes, with the checks of `read_model`; `suffice.loads` returns it as an estimator.

    Parameters
    ----------
    content : bytes, bytearray or memoryview
        The content of a model file.
    find : callable
        Returns the specification of an estimator by its name, or None.

    Returns
    -------
    Fitted
        The fitted model.

    Raises
    ------
    ModelFileError
        If the bytes are not a model that Suffice has saved, are damaged, or were written by a newer Suffice.

    See Also
    --------
    suffice.loads : Returns the model as an estimator.
    suffice.model_file.model_bytes : Returns the bytes of a model.

    Examples
    --------
    >>> from suffice.model_file import model_of_bytes
    >>> model_of_bytes(b"no model")
    Traceback (most recent call last):
    suffice.exceptions.ModelFileError: The content is not a model, or it is damaged: ...
    """
    return _checked(read_bytes(content), find, "")


def _checked(content: tuple[dict[str, Json], Arrays], find: Find, file: str) -> Fitted:
    try:
        return _fitted(*content, find)
    except ModelFileError as error:
        if error.file is not None:
            raise
        raise _refused(file, error) from error
    except Exception as error:
        # Anyone can write a file with a valid checksum: whatever its values break is the fault of the file.
        raise _refused(file, error) from error


def _refused(file: str, error: Exception) -> ModelFileError:
    reason = str(error).rstrip(".") or type(error).__name__
    where = f"in {file!r}" if file else "in the bytes"
    return ModelFileError(f"The model {where} cannot be loaded: {reason}. Save the model again.", file=file or None)


def _fitted(document: dict[str, Json], arrays: Arrays, find: Find) -> Fitted:
    reader = ValueReader(arrays)
    name = document.get("estimator")
    kind = find(name) if isinstance(name, str) else None
    if kind is None:
        raise ModelFileError(f"it holds an unknown estimator {name!r}; expected one of {', '.join(SPECIFICATIONS)}")
    weights = _weights(document, reader)  # with the class axis, which other values share
    name = kind.estimator
    specification = kind(**_named(document, reader, name, "parameters", [field.name for field in fields(kind)]))
    attributes = _named(document, reader, name, "attributes", (*COMMON, *kind.stored))
    specification.check()
    schema = _schema(document, reader)
    layout = _layout(schema, attributes, has_form="form" in kind.stored)
    tuning, calibration = attributes.get("tuning"), attributes.get("calibration")
    _check_chosen(tuning, calibration)
    given_families = attributes.get("given_families")
    blocks = (
        specification.blocks_of(schema, tuning)
        if given_families is None
        else chosen_blocks(_checked_families(given_families), schema, {})
    )
    zero = Model.zero(blocks, weights.classes)
    described = without_added_members(zero, calibration)
    model = replace(described, weights=weights, statistics=_statistics(document, reader, described))
    reader.finish()
    model, calibration = with_added_members(model, calibration, zero)
    given, declared, target = (attributes.get(name) for name in ("given", "declared", "target"))
    profile = attributes.get("profile")
    _check_profile(profile)
    if target is not None and not isinstance(target, str):
        raise ModelFileError(f"{target!r} is not the name of a column")
    _check_given(given, len(weights.classes), len(schema))
    _check_declared(declared, weights.classes)
    return Fitted(
        specification,
        layout,
        model,
        declared=declared,
        tuning=tuning,
        calibration=calibration,
        prior=attributes.get("shares"),
        given=given,
        target=target,
        given_families=given_families,
        profile=profile,
    )


def _named(
    document: dict[str, Json], reader: ValueReader, estimator: str, part: str, allowed: Sequence[str]
) -> dict[str, Value]:
    stored = document[part]
    unknown = sorted(set(stored) - set(allowed))
    if unknown:
        raise ModelFileError(f"a {estimator} has no {unknown[0]!r} among its {part}")
    return {key: reader.value(each) for key, each in stored.items()}


def _schema(document: dict[str, Json], reader: ValueReader) -> Schema:
    stored = document["schema"]
    kinds = reader.value(stored["kinds"])
    if kinds.ndim != 1 or kinds.dtype != np.uint8 or not isinstance(stored["named"], bool):
        raise ModelFileError("the description of its columns is not valid")
    names = reader.value(stored["names"])
    columns = range(len(kinds)) if names is None else names
    scores = reader.value(stored.get("scores"))
    if scores is not None:
        if not isinstance(scores, FamilyScores):
            raise ModelFileError("the scores of its families are not a table")
        scores.check(len(kinds))
    found = reader.value(stored.get("found"))
    if found is not None:
        if not isinstance(found, ColumnBlocks):
            raise ModelFileError("its blocks are not blocks of columns")
        found.check(len(kinds))
    schema = Schema(columns, [KINDS[kind] for kind in kinds.tolist()], stored["named"], scores, found)
    return check_schema(schema, len(kinds))


def _layout(schema: Schema, attributes: Mapping[str, Value], *, has_form: bool) -> RowLayout:
    """The columns that were fitted; raises if the attributes of a file do not describe them."""
    count, names, dtype = (attributes.get(key) for key in ("n_features_in", "feature_names_in", "dtype"))
    if type(count) is not int or count != len(schema):
        raise ModelFileError(f"n_features_in is not {len(schema)}, the number of columns")
    texts = isinstance(names, np.ndarray) and all(isinstance(name, str) for name in names.tolist())
    if names is not None and not (texts and names.shape == (len(schema),)):
        raise ModelFileError("feature_names_in does not name the columns")
    if dtype is not None and (not isinstance(dtype, np.dtype) or dtype.kind != "f"):
        raise ModelFileError(f"{dtype!r} is not the type of rows")
    form = attributes.get("form")
    if has_form and not isinstance(form, ArrayForm | SparseForm | StoredFrameForm):
        raise ModelFileError(f"{form!r} is not a form of rows")
    if isinstance(form, StoredFrameForm) and len(form.names) != len(schema):
        raise ModelFileError(f"its rows were a frame of {len(form.names)} columns; expected {len(schema)}")
    feature_names = None if names is None else tuple(names.tolist())
    formats = attributes.get("formats") or {}
    if not isinstance(formats, dict) or not all(isinstance(each, CellFormat) for each in formats.values()):
        raise ModelFileError("formats does not hold formats of cells")
    nulls = attributes.get("nulls")
    if nulls is not None and not (isinstance(nulls, list) and all(isinstance(each, str) for each in nulls)):
        raise ModelFileError("nulls does not list the texts of missing cells")
    dtype = np.dtype(np.float64) if dtype is None else dtype
    return RowLayout(schema, feature_names, dtype, form, formats, None if nulls is None else tuple(nulls))


def _check_chosen(tuning: Value, calibration: Value) -> None:
    """Raise unless the chosen settings and the calibration are valid."""
    if tuning is not None:
        if not isinstance(tuning, Tuning):
            raise ModelFileError("tuning is not a list of settings")
        tuning.check()
    if calibration is not None:
        if not isinstance(calibration, Calibration):
            raise ModelFileError("calibration is not a map of probabilities")
        calibration.check()


def _check_profile(profile: Value) -> None:
    """Raise unless the profile has sums of rows."""
    if profile is None:
        return
    if not isinstance(profile, Profile) or not isinstance(profile.classes, ClassAxis):
        raise ModelFileError("its profile is not that of held-out rows")
    check_classes(profile.classes)
    profile.check()


def _checked_families(given: Value) -> dict[Value, Family]:
    """The families of given parameters; raises unless they are families by column."""
    if not isinstance(given, dict) or not all(isinstance(each, Family) for each in given.values()):
        raise ModelFileError("the families of its given parameters are not families")
    return given


def _check_declared(declared: Value, classes: ClassAxis) -> None:
    """Raise unless the declared classes are labels of the type of the classes."""
    if declared is None:
        return
    if not isinstance(declared, ClassAxis):
        raise ModelFileError("its declared classes are not a list of labels")
    check_classes(declared).union(classes)


def _check_given(given: Value, n_classes: int, n_columns: int) -> None:
    """Raise unless given covariances are one matrix for each class, and perhaps one for all rows."""
    if given is None:
        return
    own, total = given if isinstance(given, tuple) else (given, None)
    matrices = [*own] if total is None else [*own, total]
    shape = (n_columns, n_columns)
    if len(own) != n_classes or not all(np.shape(each) == shape and np.isfinite(each).all() for each in matrices):
        raise ModelFileError(f"its given covariances are not {n_classes} matrices of {n_columns} columns")


def _weights(document: dict[str, Json], reader: ValueReader) -> Sums:
    axis = reader.axis = check_classes(ClassAxis(reader.value(document["classes"])))
    weights: Sums = reader.value(document["weights"], Sums)
    check_statistic(weights, Sums.zero(axis, 0), ["(class weights)"])
    return weights


def _statistics(document: dict[str, Json], reader: ValueReader, zero: Model) -> tuple[Statistic, ...]:
    stored = document["statistics"]
    if len(stored) != len(zero.statistics):
        raise ModelFileError(f"it has {len(stored)} statistics; its settings make {len(zero.statistics)} blocks")
    statistics: list[Statistic] = []
    for each, empty, block in zip(stored, zero.statistics, zero.blocks, strict=True):
        parts = [type(part) for part in empty.inner().values()]
        statistic = reader.value(each, type(empty), *parts)
        if type(statistic) in parts:
            statistic = empty.adopting(statistic)
        check_statistic(statistic, empty, block.names)
        statistics.append(statistic)
    return tuple(statistics)

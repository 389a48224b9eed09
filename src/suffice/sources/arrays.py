"""Matrices of numbers from arrays and eager data frames, read by scikit-learn's rules.

X is not searched for NaN and infinity here: the kernels read every value anyway, and their results show such values, so
one pass over the data is enough. `MatrixReader.explain_values` then finds what was wrong, and where.

For a plain NumPy array scikit-learn's checks take longer than fitting a small table: `is_plain_rows` and
`is_plain_labels` tell whether the checks would return the array unchanged, or integers that they would convert.
Everything else, and every error, is left to scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import narwhals as nw
import numpy as np

from suffice.exceptions import Argument, Estimator, InputError, SufficeError, listed, short
from suffice.numerics.types import Array, Index, Matrix
from suffice.sources.files.paths import is_path
from suffice.sources.frames import as_frame
from suffice.sources.labels import check_label_count, check_not_missing, checked_classes, is_plain_labels
from suffice.sources.named_rows import NamedRows, matrix_of_arrow
from suffice.sources.row_reader import DOUBLE, ReadRows, RowLayout, RowReader, SampledColumn, stand_in
from suffice.tables import MatrixTable, Table
from suffice.tables.sampled import sampled_matrix
from suffice.tables.sparse_cells import cell_columns, cell_rows, is_canonical, is_sparse
from suffice.tables.sparse_checks import check_cells, has_known_order
from suffice.tables.table import Schema
from suffice.text.strings import check_frame_utf8, is_engine_error

__all__ = [
    "MatrixReader",
    "canonical",
    "feature_names_of",
    "matrix_layout",
    "plain_rows",
    "read_matrix",
    "read_training_matrix",
]

FORMATS = ("csr", "csc")
NUMBER_TYPES = {int, float}
NUMBERS = (np.dtype(np.float64), np.dtype(np.float32))
TIMES = {  # what a column may hold, and a number that it may be converted to
    "times of day": "hours since midnight",
    "durations": "hours",
    "dates": "days since a date",
}


@dataclass(frozen=True)
class MatrixReader(RowReader):
    """Reads rows as one matrix of numbers.

    Parameters
    ----------
    estimator : str
        Name of the estimator, for messages.
    sparse : bool
        Whether X may be a sparse matrix.
    integers : bool
        Whether integers stay integers instead of becoming float64.
    missing : bool
        Whether NaN is a missing cell; otherwise it is an error.
    checks_training : bool
        Whether rows to learn from are checked here, and not while they are summed.
    """

    estimator: str
    sparse: bool = False
    integers: bool = False
    missing: bool = False
    checks_training: bool = True

    def given_numbers(self, names: Sequence[str]) -> list[str]:
        """All columns."""
        return list(names)

    def table(self, x: Matrix) -> Table:
        """The table of a matrix that was read."""
        return MatrixTable(x)

    def training(self, X: object, y: object, layout: RowLayout | None = None, min_rows: int = 1) -> ReadRows:
        """Rows to learn from, their labels, and their layout."""
        if self.checks_training or not has_known_order(X):
            check_cells(X)
        x, labels, names = read_training_matrix(
            self.estimator, X, y, layout, min_rows, sparse=self.sparse, integers=self.integers
        )
        table = self.table(x)
        return table, labels, layout if layout is not None else matrix_layout(table, names)

    def rows(self, X: object, layout: RowLayout) -> Table:
        """Rows to predict for."""
        check_cells(X)
        return self.table(read_matrix(self.estimator, X, layout, sparse=self.sparse, integers=self.integers))

    def from_arrow(self, rows: object) -> NamedRows:
        """The columns of an Arrow table as a matrix with names."""
        return matrix_of_arrow(rows, self.estimator)

    def write(self, columns: list[SampledColumn], layout: RowLayout) -> object:
        """Sampled columns as a matrix."""
        return sampled_matrix(columns)

    def sampled_table(self, columns: list[SampledColumn], layout: RowLayout) -> Table:
        """Sampled columns as a table."""
        return self.table(sampled_matrix(columns))

    def explain_values(self, table: Table, layout: RowLayout) -> None:
        """Raise scikit-learn's error if a value is infinite, or NaN where that is not a missing cell."""
        if isinstance(table, MatrixTable):
            explain_not_finite(self.estimator, table.x, layout, missing=self.missing)


def matrix_layout(table: Table, names: tuple[str, ...] | None) -> RowLayout:
    """The layout of a matrix whose columns may have names."""
    dtype = table.x.dtype if isinstance(table, MatrixTable) and table.x.dtype.kind == "f" else DOUBLE
    kinds = table.kinds
    return RowLayout(Schema(range(len(kinds)) if names is None else list(names), kinds), names, dtype)


def feature_names_of(checked: object) -> tuple[str, ...] | None:
    """The column names that scikit-learn's checks have set on an estimator, if any."""
    names = vars(checked).get("feature_names_in_")
    return None if names is None else tuple(map(str, names.tolist()))


def read_matrix(
    estimator: str, X: object, layout: RowLayout, *, sparse: bool = False, integers: bool = False
) -> Matrix:
    """Rows to predict for as a matrix, checked against the columns of the first rows."""
    if is_plain_rows(X, 1) and _same_columns(layout, X):
        return _as_numbers(X, integers=integers)
    if isinstance(X, NamedRows):
        return X.expected_by(estimator, layout)
    from sklearn.utils.validation import validate_data

    _check_numbers(X)
    _check_no_times(estimator, X)
    check_frame_utf8(X)
    options = {"dtype": _types(X, integers=integers), "ensure_all_finite": False}
    accept = FORMATS if sparse else False
    with _converted(X):
        x = validate_data(stand_in(estimator, layout), X, reset=False, accept_sparse=accept, **options)
    return canonical(x)


def read_training_matrix(
    estimator: str,
    X: object,
    y: object,
    layout: RowLayout | None,
    min_rows: int,
    *,
    sparse: bool = False,
    integers: bool = False,
) -> tuple[Matrix, Array, tuple[str, ...] | None]:
    """Rows as a matrix, their labels, and the names of the columns if they have any."""
    if is_plain_rows(X, min_rows) and is_plain_labels(y, len(X)) and (layout is None or _same_columns(layout, X)):  # type: ignore[arg-type]
        return _as_numbers(X, integers=integers), np.asarray(y), None
    if isinstance(X, NamedRows):
        return (X.x if layout is None else X.expected_by(estimator, layout)), np.asarray(y), tuple(X.names)
    from sklearn.utils.validation import validate_data

    _check_numbers(X)
    _check_no_times(estimator, X)
    check_frame_utf8(X)
    y = check_not_missing(y)
    checked = stand_in(estimator, layout)
    options = {"dtype": _types(X, integers=integers), "ensure_all_finite": False}
    with _converted(X, y):
        x, labels = validate_data(
            checked,
            X,
            y,
            reset=layout is None,
            ensure_min_samples=min_rows,
            accept_sparse=FORMATS if sparse else False,
            **options,
        )
    return canonical(x), checked_classes(labels), feature_names_of(checked)


@contextmanager
def _converted(X: object, y: object = None) -> Iterator[None]:
    """Turn the errors of NumPy, pandas, Polars and Arrow about X into an `InputError`; scikit-learn's pass through."""
    try:
        yield
    except OverflowError:
        raise InputError("X holds an integer too large for float64.", argument="X") from None
    except BaseException as error:
        if isinstance(error, ValueError) and y is not None:
            rows, labels = _shape(X), _shape(y)
            if len(rows) == 2 and len(labels) == 1:
                check_label_count(rows[0], labels[0])
        if type(error) in (ValueError, TypeError) or isinstance(error, SufficeError) or not is_engine_error(error):
            raise
        raise InputError(f"X or y cannot be converted: {error}.", argument="X") from error


def _shape(values: object) -> tuple[int, ...]:
    """The shape of an array, a frame or nested lists; empty if they have none."""
    try:
        shape: tuple[int, ...] = np.shape(values)  # type: ignore[call-overload]
    except ValueError:
        return ()
    return shape


def _check_numbers(X: object) -> None:
    """Raise scikit-learn's error for an array of strings, which NumPy would convert to numbers; or if X is a path."""
    if is_path(X):
        raise InputError(
            f"X is the path {short(str(X))}; expected rows. Read them, for example with "
            "suffice.sources.open_source(path).batches(), or predict for a file with the command suffice predict.",
            argument="X",
        )
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":
        raise ValueError(
            "dtype='numeric' is not compatible with arrays of bytes/strings. Convert your data to numeric values "
            "explicitly instead."
        )


def _kind_of_times(kind: nw.dtypes.DType) -> str | None:
    """Name the content of a column of a frame if it holds times or durations; None otherwise."""
    if isinstance(kind, nw.Duration):
        return "durations"
    if isinstance(kind, nw.Date | nw.Datetime):
        return "dates"
    return "times of day" if kind.is_temporal() else None


def _check_no_times(estimator: str, X: object) -> None:
    """Raise if X holds dates, times or durations: as numbers they depend on the unit that they are stored in."""
    try:
        frame = as_frame(X)
    except InputError:  # of a frame that scikit-learn's checks accept or refuse by their own rules
        return
    if frame is None:
        kinds: dict[object, str | None] = {}
        held = {"m": "durations", "M": "dates"}.get(X.dtype.kind) if isinstance(X, np.ndarray) else None
    else:
        kinds = {name: _kind_of_times(kind) for name, kind in frame.schema.items()}
        held = next((what for what in TIMES if what in kinds.values()), None)
    if held is None:
        return
    names = [name for name, kind in kinds.items() if kind == held]
    advice: tuple[str | Estimator, ...] = (".",)
    if held != "times of day":
        advice = ", or use ", Estimator("NaiveBayes"), f", which reads columns of {held}."
    raise InputError(
        f"{estimator} takes numbers, but {listed(names) or 'X'} {'hold' if len(names) > 1 else 'holds'} {held}. "
        f"Convert them to numbers, such as {TIMES[held]}",
        *advice,
        argument="X",
        column=names[0] if names else None,
    )


def _types(X: object, *, integers: bool) -> list[object]:
    """The types that rows may have after reading; integers keep theirs if they are asked for."""
    if integers and isinstance(X, np.ndarray) and X.dtype.kind in "iu":
        return [X.dtype]
    return [np.float64, np.float32]


def is_plain_rows(X: object, min_rows: int) -> bool:
    """Whether X needs no checks: a matrix of numbers, not objects, with enough rows."""
    if type(X) is not np.ndarray or X.ndim != 2 or len(X) < min_rows or X.shape[1] == 0:
        return False
    return X.dtype in NUMBERS or X.dtype.kind in "biu"


def plain_rows(X: object) -> object:
    """Lists of Python numbers, one for each row, as a matrix of float64; anything else unchanged.

    >>> plain_rows([[1, 2.5]]), plain_rows([[True, 2.5]])
    (array([[1. , 2.5]]), [[True, 2.5]])
    """
    if type(X) is not list or not X or type(X[0]) is not list or not X[0]:
        return X
    types: set[type] = set()
    for row in X:
        if type(row) is not list:
            return X
        types.update(map(type, row))
    if not types <= NUMBER_TYPES:
        return X
    try:
        return np.array(X, dtype=np.float64)
    except (ValueError, OverflowError):  # scikit-learn's checks raise their own error
        return X


def _as_numbers(X: Matrix, *, integers: bool) -> Matrix:
    """X unchanged, or integers and booleans as float64 unless integers are asked for."""
    return X if X.dtype in NUMBERS or (integers and X.dtype.kind in "iu") else X.astype(np.float64)


def _same_columns(layout: RowLayout, X: Matrix) -> bool:
    """Whether an array has the expected number of columns, and no names are expected."""
    return layout.feature_names is None and bool(layout.n_columns == X.shape[1])


def canonical(X: Matrix) -> Matrix:
    """The matrix with each cell stored once."""
    if is_sparse(X) and not is_canonical(X):
        X = X.copy()
        X.sum_duplicates()
    return X


def explain_not_finite(estimator: str, X: Matrix, layout: RowLayout, *, missing: bool) -> None:
    """Raise scikit-learn's error, with column and row, if X holds infinity, or NaN unless ``missing`` allows it."""
    from sklearn.utils.validation import assert_all_finite

    with np.errstate(over="ignore", invalid="ignore"):
        try:
            assert_all_finite(X, allow_nan=missing, estimator_name=estimator, input_name="X")
        except ValueError as error:
            sentence = str(error)
        else:
            return
        at, rows = _not_finite(X, missing=missing)
        has_nan = not missing and bool(np.isnan(X.data if is_sparse(X) else X).any())
    column = layout.names[at]
    raised = InputError(f"Column {column!r}, row {rows[0]}: {sentence}", rows=rows, column=column)
    first = sentence.split("\n")[0]  # scikit-learn goes on with advice about other estimators
    if has_nan:
        if estimator == "GaussianDiscriminant":
            refused, used = Argument("missing", "error"), Argument("missing", "em")
            raised.problem = ": the cell is missing, which ", refused, " refuses. Fill it in, or use ", used, "."
        else:
            missing_cell = f": the cell is missing. {estimator} takes no missing values; fill them in, or use "
            raised.problem = missing_cell, Estimator("NaiveBayes"), ", which accepts them."
    else:
        raised.problem = (f": {first}",)
    raise raised


def _not_finite(X: Matrix, *, missing: bool) -> tuple[int, Index]:
    """The column of the first invalid value, and all rows with one."""
    if is_sparse(X):
        at = np.flatnonzero(np.isinf(X.data) if missing else ~np.isfinite(X.data))
        return int(cell_columns(X)[at[0]]), np.unique(cell_rows(X)[at]).astype(np.intp)
    rows, columns = np.nonzero(np.isinf(X) if missing else ~np.isfinite(X))
    return int(columns[0]), np.unique(rows)

"""All errors and warnings that Suffice raises on purpose.

::

    SufficeError
    ├── InputError                (also a ValueError)   invalid data or parameters
    ├── ClassError                (also a ValueError)   invalid class labels, or labels of unexpected classes
    ├── MergeError                (also a ValueError)   models or statistics that do not fit together
    ├── ModelFileError            (also a ValueError)   a file that is not a model file, or cannot become one
    │   └── ModelFileMissingError (also a FileNotFoundError)
    ├── NotLinearError            (also a ValueError)   the log-odds of the model are not linear
    └── SingularCovarianceError   (also numpy's LinAlgError, and so a ValueError)

    SufficeWarning                (also a UserWarning)
    ├── SingularCovarianceWarning
    ├── ConvergenceWarning                              an iteration that stopped before it had converged
    ├── EmptyColumnWarning                              a column without a single value
    └── ImpossibleRowsWarning                           rows with probability zero in every class

An error is a sentence for a person and carries its facts as attributes: ``rows``, ``column``, ``argument``, ``file``,
``line``, and ``page``, the page of the documentation about it. Code reads the attributes, never the sentence. Advice
that names an argument is an `Argument` inside the sentence, so that the command can spell it as an option.

scikit-learn's own checks raise plain ``ValueError`` and ``TypeError``; those pass through unchanged, because code
written for scikit-learn expects them.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

__all__ = [
    "Argument",
    "ClassError",
    "ConvergenceWarning",
    "EmptyColumnWarning",
    "ImpossibleRowsWarning",
    "InputError",
    "MergeError",
    "ModelFileError",
    "ModelFileMissingError",
    "NotLinearError",
    "SingularCovarianceError",
    "SingularCovarianceWarning",
    "SufficeError",
    "SufficeWarning",
    "columns_at",
    "counted",
    "did_you_mean",
    "listed",
    "short",
    "similar_name",
    "warn_user",
]

LONGEST = 100  # characters of a name in a message


@dataclass(frozen=True)
class Argument:
    """An argument, with or without a value, that an error message advises to set.

    Parameters
    ----------
    name : str
        Name of the argument.
    value : object, optional
        The value to set, if the message names one.

    See Also
    --------
    suffice.SufficeError : The errors whose messages hold arguments.

    Examples
    --------
    >>> from suffice.exceptions import Argument
    >>> str(Argument("bad_rows", "skip")), str(Argument("columns"))
    ("bad_rows='skip'", 'columns')
    """

    name: str
    value: object = ...

    def __str__(self) -> str:
        return self.name if self.value is ... else f"{self.name}={self.value!r}"


@dataclass(frozen=True)
class Estimator(Argument):
    """A class that a sentence advises to use, which a command may know by another name.

    >>> str(Estimator("NaiveBayes"))
    'NaiveBayes'
    """

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Choices(Argument):
    """Arguments that repeat what the rows of a first model have chosen; ``value`` has their names.

    >>> str(Choices("like", ("cuts", "parents")))
    'cuts=first.cuts_, parents=first.parents_'
    """

    value: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ", ".join(f"{name}=first.{name}_" for name in self.value)


@dataclass(frozen=True)
class Export(Argument):
    """A method of a fitted model that a sentence advises to use; ``name`` is the format that it writes.

    >>> str(Export("onnx"))
    'to_onnx()'
    """

    def __str__(self) -> str:
        return f"to_{self.name}()"


Sentence = tuple[str | Argument, ...]
RowNumbers = Sequence[int] | NDArray[np.int64] | NDArray[np.intp]
Spelling = Callable[[Argument], str]


class _Facts(BaseException):
    """The sentence of an error or a warning, and the facts behind it.

    Parameters
    ----------
    *sentence : str or Argument
        Joined without separators.
    rows : sequence of int, optional
        All rows of the batch that the sentence is about, in order; the attribute is a list.
    column : object, optional
        Name of the column at fault, or its position if columns have no names.
    argument : str, optional
        Name of the argument whose value is wrong.
    file : str, optional
    line : int, optional
        Line of the file, counted from 1.
    page : str, optional
        Page of the documentation, such as ``"docs/mail.md"``; by default that of the class, if it has one.

    Attributes
    ----------
    partition : int, optional
        Partition of a table on a cluster, in which the rows are counted.
    """

    partition: int | None = None
    rows: list[int] | None
    column: object
    argument: str | None
    file: str | None
    line: int | None
    page: str | None = None
    problem: Sentence | None = None  # the sentence without the row and column that it starts with

    def __init__(
        self,
        *sentence: str | Argument,
        rows: RowNumbers | None = None,
        column: object = None,
        argument: str | None = None,
        file: str | None = None,
        line: int | None = None,
        page: str | None = None,
    ) -> None:
        self.sentence = sentence
        self.rows = None if rows is None else np.asarray(rows, dtype=np.int64).tolist()
        self.column, self.argument, self.file, self.line = column, argument, file, line
        if page is not None:
            self.page = page
        super().__init__("".join(map(str, sentence)))

    @classmethod
    def in_row(cls, *problem: str | Argument, rows: RowNumbers, column: object = None, page: str | None = None) -> Self:
        """Make an error about cells or rows, whose message names the first row, and whose ``rows`` holds all of them.

        Parameters
        ----------
        *problem : str or Argument
            The message after the column and the row.
        rows : sequence of int
            All rows with the problem.
        column : object, optional
            Name of the column.
        page : str, optional
            Page of the documentation.

        Returns
        -------
        error

        Examples
        --------
        >>> error = InputError.in_row("holds infinity; expected a finite number.", rows=[3, 8], column="x")
        >>> str(error), error.rows
        ("Column 'x', row 3 holds infinity; expected a finite number.", [3, 8])
        """
        where = f"Row {rows[0]}" if column is None else f"Column {column!r}, row {rows[0]}"
        error = cls(*_joined(where, problem), rows=rows, column=column, page=page)
        error.problem = problem
        return error

    def located(self, place: str, *, file: str | None = None, line: int | None = None) -> Self:
        """Return the error with the place of the row in a file.

        Parameters
        ----------
        place : str
            The place in words, such as "data.csv, line 5".
        file : str, optional
            Path of the file.
        line : int, optional
            Number of the line, counted from 1.

        Returns
        -------
        error
            A new error of the same class.

        Examples
        --------
        >>> error = InputError.in_row("holds infinity.", rows=[3], column="x")
        >>> str(error.located("data.csv, line 5", file="data.csv", line=5))
        "data.csv, line 5, column 'x' holds infinity."
        >>> str(InputError("All cells are empty.", rows=[3]).located("data.csv, line 5"))
        'data.csv, line 5: All cells are empty.'
        """
        column = "" if self.column is None else f", column {self.column!r}"
        start = (f"{place}: ", *self.sentence) if self.problem is None else _joined(f"{place}{column}", self.problem)
        return self.restated(*start, file=file, line=line)

    def restated(self, *sentence: str | Argument, **facts: Any) -> Self:
        """Return the error with another sentence, and the same facts except those that are given.

        Parameters
        ----------
        *sentence : str or Argument
            The new sentence.
        **facts
            New values of facts, such as ``file``.

        Returns
        -------
        error
            A new error of the same class.

        Examples
        --------
        >>> error = InputError("x is empty.", column="x").restated("x is empty. Remove it.", file="data.csv")
        >>> str(error), error.column, error.file
        ('x is empty. Remove it.', 'x', 'data.csv')
        """
        same = {name: getattr(self, name) for name in ("rows", "column", "argument", "file", "line", "page")}
        return type(self)(*sentence, **(same | facts))

    def worded(self, spell: Spelling) -> str:
        """Return the message, with each `Argument` spelled by a function.

        Parameters
        ----------
        spell : callable
            Turns an `Argument` into text.

        Returns
        -------
        str

        Examples
        --------
        >>> InputError("Skip such rows with ", Argument("bad_rows", "skip"), ".").worded(lambda a: f"--{a.name}")
        'Skip such rows with --bad_rows.'
        """
        return "".join(piece if isinstance(piece, str) else spell(piece) for piece in self.sentence)


def _joined(place: str, problem: Sentence) -> Sentence:
    """A place and the problem there; a problem may start with a colon."""
    colon = bool(problem) and str(problem[0]).startswith(":")
    return (place, *problem) if colon else (f"{place} ", *problem)


class SufficeError(_Facts, Exception):
    """Base class of all errors that the library raises on purpose.

    Attributes
    ----------
    rows : list of int or None
        All rows that the message is about.
    column : object
        Name of the column at fault, or its position if columns have no names.
    argument : str or None
        Name of the argument whose value is wrong.
    file, line : str or None, int or None
        The place in a file, with lines counted from 1.
    page : str or None
        The page of the documentation that explains it, such as ``"docs/algebra.md"``.

    See Also
    --------
    suffice.InputError : Invalid data or parameters, the most frequent error.
    suffice.SufficeWarning : Base class of the warnings.

    Examples
    --------
    >>> from suffice import NaiveBayes, SufficeError
    >>> try:
    ...     NaiveBayes().fit([[1.0], [float("inf")]], ["a", "b"])
    ... except SufficeError as error:
    ...     print(type(error).__name__, error.rows, error.column)
    InputError [1] 0
    """


class InputError(SufficeError, ValueError):
    """Data or parameters are invalid.

    See Also
    --------
    suffice.ClassError : Invalid class labels.
    suffice.SufficeError : Base class of the errors, with their attributes.

    Examples
    --------
    >>> from suffice import InputError, NaiveBayes
    >>> try:
    ...     NaiveBayes("poison").fit([[1.0], [2.0]], ["a", "b"])
    ... except InputError as error:
    ...     print(str(error).split(" The ")[0])
    There is no family 'poison'. Did you mean 'poisson'?
    """


class ClassError(SufficeError, ValueError):
    """Class labels are invalid, or belong to classes that were not expected.

    See Also
    --------
    suffice.InputError : Invalid data or parameters.
    suffice.statistics.ClassAxis : The classes of a model.

    Examples
    --------
    >>> from suffice import ClassError, NaiveBayes
    >>> try:
    ...     NaiveBayes().fit([[1.0], [2.0]], ["a", "a"])
    ... except ClassError as error:
    ...     print(error)
    NaiveBayes needs at least two classes, but y holds only one class: 'a'. Add rows of another class.
    """


class MergeError(SufficeError, ValueError):
    """Models or statistics cannot be merged, or rows cannot be removed from a model.

    See Also
    --------
    suffice.merge : Merges models.
    suffice.NaiveBayes : One of the models with ``merge``, ``partial_fit`` and ``remove``.

    Examples
    --------
    >>> from suffice import MergeError, NaiveBayes
    >>> first = NaiveBayes("poisson").fit([[1], [2]], ["a", "b"])
    >>> try:
    ...     first.merge(NaiveBayes("gaussian").fit([[1], [2]], ["a", "b"]))
    ... except MergeError as error:
    ...     print(error)
    Cannot merge models with different families: column 0 is poisson in the first model and gaussian in the second.
    """

    page = "docs/algebra.md"


class ModelFileError(SufficeError, ValueError):
    """A file is not a valid model file, or a model cannot be saved.

    See Also
    --------
    suffice.ModelFileMissingError : The file does not exist.
    suffice.load : Loads a model from a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import suffice
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rows.csv"
    ...     _ = path.write_text("size,kind")
    ...     try:
    ...         suffice.load(path)
    ...     except suffice.ModelFileError as error:
    ...         print(str(error).split(" is ")[1])
    not a model file (did you swap MODEL and DATA?), or it
    """

    page = "docs/model_files.md"


class ModelFileMissingError(ModelFileError, FileNotFoundError):
    """The model file does not exist.

    See Also
    --------
    suffice.ModelFileError : The file exists, but is not a model.
    suffice.load : Loads a model from a file.

    Examples
    --------
    >>> import suffice
    >>> try:
    ...     suffice.load("nowhere.suffice")
    ... except FileNotFoundError as error:
    ...     print(type(error).__name__)
    ModelFileMissingError
    """


class NotLinearError(SufficeError, ValueError):
    """The log-odds of the model are not linear in x.

    See Also
    --------
    suffice.families.Linear : Log-likelihoods that are linear in x.
    suffice.GaussianDiscriminant : Its log-odds are linear if the classes share a covariance.

    Examples
    --------
    >>> from suffice import NaiveBayes, NotLinearError
    >>> try:
    ...     NaiveBayes().fit([[1.0], [2.0], [5.0], [9.0]], ["a", "a", "b", "b"]).linear_form()
    ... except NotLinearError as error:
    ...     print(error)
    With own variances the log-odds are quadratic in x. Share the variance between the classes for a linear form.
    """

    page = "docs/models/naive_bayes.md"


class SingularCovarianceError(SufficeError, LinAlgError):
    """A covariance matrix is singular, so the class has no density.

    See Also
    --------
    suffice.SingularCovarianceWarning : The covariance is shared, and the model can still use it.
    suffice.GaussianDiscriminant : Its ``shrinkage`` makes covariances regular.

    Examples
    --------
    >>> from suffice import GaussianDiscriminant, SingularCovarianceError
    >>> rows, labels = [[1, 1], [2, 2], [3, 3], [1, 5], [2, 3], [4, 4]], ["a", "a", "a", "b", "b", "b"]
    >>> try:
    ...     GaussianDiscriminant("own", estimation="mle").fit(rows, labels).predict(rows)
    ... except SingularCovarianceError as error:
    ...     print(str(error).split(":")[0])
    The covariance of class 'a' has rank 1 of 2
    """

    page = "docs/all_models.md"


class SufficeWarning(_Facts, UserWarning):
    """Base class of all warnings of the library, with the attributes of `SufficeError`.

    See Also
    --------
    suffice.SufficeError : Base class of the errors.
    suffice.ImpossibleRowsWarning : Rows have probability zero in every class.
    suffice.EmptyColumnWarning : A column has no values.

    Examples
    --------
    Turn all warnings of the library into errors:

    >>> import warnings
    >>> from suffice import NaiveBayes, SufficeWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", SufficeWarning)
    ...     try:
    ...         NaiveBayes().fit([[1.0, None], [2.0, None]], ["a", "b"])
    ...     except SufficeWarning as warning:
    ...         print(type(warning).__name__, warning.column)
    EmptyColumnWarning 1
    """


class SingularCovarianceWarning(SufficeWarning):
    """A shared covariance matrix is singular; the model uses the subspace that the data span.

    See Also
    --------
    suffice.SingularCovarianceError : The singular covariance is that of one class.
    suffice.GaussianDiscriminant : Its ``shrinkage`` makes covariances regular.

    Examples
    --------
    >>> import warnings
    >>> from suffice import GaussianDiscriminant, SingularCovarianceWarning
    >>> rows, labels = [[1, 1], [2, 2], [4, 4], [5, 5]], ["a", "a", "b", "b"]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     label = GaussianDiscriminant(estimation="mle").fit(rows, labels).predict([[4, 4]])
    >>> caught[0].category is SingularCovarianceWarning, label
    (True, array(['b'], dtype='<U1'))
    """

    page = "docs/all_models.md"


class ConvergenceWarning(SufficeWarning):
    """An iteration stopped before it had converged.

    See Also
    --------
    suffice.GaussianDiscriminant : Estimates covariances in steps of EM if cells are missing.
    suffice.SufficeWarning : Base class of the warnings, with their attributes.

    Examples
    --------
    Nearly equal columns, of which most rows have only one:

    >>> import warnings
    >>> import numpy as np
    >>> from suffice import GaussianDiscriminant
    >>> rng = np.random.default_rng(0)
    >>> length = rng.normal(170, 10, 100)
    >>> X = np.column_stack([length, length / 2.54 + rng.normal(0, 0.1, 100)])
    >>> X[4::2, 0] = X[5::2, 1] = np.nan
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = GaussianDiscriminant().fit(X, rng.integers(0, 2, 100))
    ...     labels = model.predict(X)
    >>> [each.category.__name__ for each in caught]
    ['ConvergenceWarning']
    """

    page = "docs/missing_values.md"


class EmptyColumnWarning(SufficeWarning):
    """A column has no values, so it does not affect predictions.

    See Also
    --------
    suffice.NaiveBayes : Ignores missing cells.
    suffice.SufficeWarning : Base class of the warnings, with their attributes.

    Examples
    --------
    >>> import warnings
    >>> from suffice import NaiveBayes
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = NaiveBayes().fit([[1.0, None], [2.0, None]], ["a", "b"])
    >>> print(caught[0].message)
    There are no values in column 1, so it has no effect. Ignore it, or check how the data were read.
    """

    page = "docs/missing_values.md"


class ImpossibleRowsWarning(SufficeWarning):
    """Some rows have probability zero in every class, so they have no posterior.

    The parameter ``impossible`` of the estimators sets what such rows get.

    See Also
    --------
    suffice.NaiveBayes : By default, ``impossible="error"`` raises `InputError` instead.
    suffice.InputError : Invalid data or parameters.

    Examples
    --------
    >>> import warnings
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes("poisson", estimation="mle", impossible="prior").fit([[0], [0]], ["a", "b"])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     probability = model.predict_proba([[0], [3]])
    >>> caught[0].message.rows, probability[1]
    ([1], array([0.5, 0.5]))
    """

    page = "docs/estimation.md"


def short(name: object) -> str:
    """The repr of a name, cut to 100 characters.

    >>> short("spam"), len(short("x" * 10_000_000))
    ("'spam'", 100)
    """
    text = repr(name)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def listed(names: Sequence[object], limit: int = 8) -> str:
    """The reprs of the first few names, for a message.

    >>> listed(["a", "b"])
    "'a', 'b'"
    >>> listed(range(20), limit=3)
    '0, 1, 2 and 17 more'
    """
    shown = ", ".join(short(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def counted(n: float, one: str, many: str | None = None) -> str:
    """A number of things in words.

    >>> counted(1, "row"), counted(1500, "row"), counted(2, "more class", "more classes")
    ('1 row', '1,500 rows', '2 more classes')
    """
    return f"{n:,.12g} {one if n == 1 else many or f'{one}s'}"


def did_you_mean(given: object, known: Iterable[object]) -> str:
    """A hint at the known name that is most similar to a given one, or an empty string if no name is similar.

    Names that differ only in case, blanks, dashes and underscores are the most similar.

    >>> did_you_mean("Species ", ["size", "species"]), did_you_mean("poison", ["gaussian", "poisson"])
    (" Did you mean 'species'?", " Did you mean 'poisson'?")
    >>> did_you_mean("colour", ["size", "species"]), did_you_mean(7, [70, 71])
    ('', '')
    """
    near = similar_name(given, known)
    return "" if near is None else f" Did you mean {short(near)}?"


def similar_name(given: object, known: Iterable[object]) -> str | None:
    """The known name that is most similar to a given one; None if no name is similar.

    >>> similar_name("Spam", ["ham", "spam"])
    'spam'
    """
    if not isinstance(given, str) or len(given) > 10 * LONGEST:  # the comparison takes memory for each character
        return None
    by_spelling = {_spelling(name): name for name in reversed([*known]) if isinstance(name, str) and name != given}
    near = difflib.get_close_matches(_spelling(given), by_spelling, 1)
    return by_spelling[near[0]] if near else None


def _spelling(name: str) -> str:
    """A name without case, blanks, dashes and underscores; the name itself if nothing else is in it."""
    return re.sub(r"[\s_-]+", "", name).casefold() or name


def columns_at(names: Sequence[object], at: Iterable[int] | None = None) -> str:
    """The columns at these positions, for a message; all by default.

    >>> columns_at(["age", "size"], [0]), columns_at(range(9), [0, 3]), columns_at(["age", "size"])
    ("column 'age'", 'columns 0, 3', "columns 'age', 'size'")
    """
    chosen = names if at is None else [names[int(j)] for j in at]
    return f"{'column' if len(chosen) == 1 else 'columns'} {listed(chosen)}"


def at_start(described: str) -> str:
    """A description of rows at the start of a sentence; the name of a file stays as it is.

    >>> at_start("the query on SQLite"), at_start("orders.csv")
    ('The query on SQLite', 'orders.csv')
    """
    return f"T{described[1:]}" if described.startswith("the ") else described


def without_password(text: str) -> str:
    """A text without the password of a URI in it.

    >>> without_password("postgresql://ann:secret@localhost/shop")
    'postgresql://ann:***@localhost/shop'
    """
    return re.sub(r"(://[^/@:\s]*):[^@\s]*@", r"\1:***@", text)


_SILENT: ContextVar[bool] = ContextVar("silent", default=False)


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress the warnings of this library in this thread."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


def warn_user(message: str | Warning, category: type[Warning] = SufficeWarning) -> None:
    """Warn at the line outside this library from which it was called."""
    if _SILENT.get():
        return
    level, frame = 0, inspect.currentframe()
    # A cached property of the library is called by functools.
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("suffice", "functools"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)

"""Every error and warning that Suffice raises on purpose.

::

    SufficeError
    ├── InputError                (also a ValueError)   data or parameters that no model can be made of
    ├── ClassError                (also a ValueError)   labels that are not classes, or not these classes
    ├── MergeError                (also a ValueError)   models or statistics that do not fit together
    ├── ModelFileError            (also a ValueError)   a file that is no saved model, or cannot become one
    │   └── ModelFileMissingError (also a FileNotFoundError)
    ├── NotLinearError            (also a ValueError)   a linear form was asked of a model that has none
    └── SingularCovarianceError   (also numpy's LinAlgError, and so a ValueError)

    SufficeWarning                (also a UserWarning)
    ├── SingularCovarianceWarning
    └── EmptyColumnWarning                              a column without a single value

scikit-learn's own checks raise plain ``ValueError`` and ``TypeError``; those pass through as they are,
since code written for scikit-learn expects them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from numpy.linalg import LinAlgError

__all__ = [
    "ClassError",
    "EmptyColumnWarning",
    "InputError",
    "MergeError",
    "ModelFileError",
    "ModelFileMissingError",
    "NotLinearError",
    "SingularCovarianceError",
    "SingularCovarianceWarning",
    "SufficeError",
    "SufficeWarning",
    "at_rows",
    "columns_at",
    "listed",
    "rows_at_fault",
    "short",
    "warn_user",
]

LONGEST = 100  # characters of a name in a message
Fault = TypeVar("Fault", bound=Exception)


class SufficeError(Exception):
    """The root of the tree."""


class InputError(SufficeError, ValueError):
    """Data or parameters that no model can be made of."""


class ClassError(SufficeError, ValueError):
    """Labels that are not classes, or not the classes that were declared."""


class MergeError(SufficeError, ValueError):
    """Models or statistics that do not fit together."""


class ModelFileError(SufficeError, ValueError):
    """A file that is no saved model, or that a model cannot be saved to; or a model that no file can hold."""


class ModelFileMissingError(ModelFileError, FileNotFoundError):
    """There is no file at the path of a model."""


class NotLinearError(SufficeError, ValueError):
    """A linear form was asked of a model whose log-odds are not linear."""


class SingularCovarianceError(SufficeError, LinAlgError):
    """A covariance matrix that has no inverse."""


class SufficeWarning(UserWarning):
    """The root of the warnings."""


class SingularCovarianceWarning(SufficeWarning):
    """A shared covariance matrix was singular, and the model works in the subspace the data span."""


class EmptyColumnWarning(SufficeWarning):
    """A column holds no value at all, and says nothing."""


def at_rows(error: Fault, rows: Sequence[int] | Any) -> Fault:
    """The error, which from now on knows all rows at fault; its message names the first, if any.

    >>> error = at_rows(InputError("Column 'x', row 3 holds infinity."), [3, 8])
    >>> list(rows_at_fault(error))
    [3, 8]
    """
    error.__dict__["rows"] = rows
    return error


def rows_at_fault(error: Exception) -> Any:
    """The rows of a batch that an error is about, in order; None where it does not know them."""
    return error.__dict__.get("rows")


def short(name: object) -> str:
    """A name as a message shows it: a text, which may be of any length, by its beginning.

    >>> short("spam"), len(short("x" * 10_000_000))
    ("'spam'", 100)
    """
    text = repr(name)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def listed(names: Sequence[object], limit: int = 8) -> str:
    """Names as a message shows them, the first few of many.

    >>> listed(["a", "b"])
    "'a', 'b'"
    >>> listed(range(20), limit=3)
    '0, 1, 2 and 17 more'
    """
    shown = ", ".join(short(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def columns_at(names: Sequence[object], at: Iterable[int]) -> str:
    """The columns at these places, as a message names them.

    >>> columns_at(["age", "size"], [0]), columns_at(range(9), [0, 3])
    ("column 'age'", 'columns 0, 3')
    """
    chosen = [names[int(j)] for j in at]
    return f"{'column' if len(chosen) == 1 else 'columns'} {listed(chosen)}"


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this library that led here."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "suffice":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)

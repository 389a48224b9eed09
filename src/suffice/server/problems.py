"""Errors as answers: problem documents of RFC 9457, with the sentence of the library and its facts."""

from __future__ import annotations

import errno
import json
import re
from http import HTTPStatus
from typing import Any

from suffice.exceptions import SufficeError
from suffice.model_file.disk import reason
from suffice.tables.cell_values import json_value

__all__ = ["FULL", "MEDIA_TYPE", "Problem", "not_written", "problem_of"]

MEDIA_TYPE = "application/problem+json"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ARGUMENT = "\0"  # in place of an argument of the library in a message
SENTENCE_END = re.compile(r"(?<=[.?]) +(?=[A-Z])")
LOWER_CASE = re.compile(r"\A[a-z]{2,}(?= )")  # a message of the library may begin with "the" or "prior"
UNKNOWN = "The server made a mistake, which it has logged. The request changed nothing that was acknowledged."


class Problem(Exception):  # noqa: N818 - as RFC 9457 calls it
    """An error of a request, as the client receives it.

    Parameters
    ----------
    status : int
        HTTP status.
    detail : str
        A sentence that says what was wrong, where, and what to do.
    headers : dict of str to str, optional
        Headers of the answer.
    **facts
        Further members of the document, such as ``column`` and ``row``; None is left out.
    """

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None, **facts: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers or {}
        self.facts = {name: value for name, value in facts.items() if value is not None}

    def document(self) -> dict[str, Any]:
        """The members of the problem document.

        >>> Problem(422, "Column 'x', row 0 holds infinity.", column="x", row=0).document()["title"]
        'Unprocessable Content'
        """
        title = "Unprocessable Content" if self.status == 422 else HTTPStatus(self.status).phrase
        facts = {name: json_value(value) for name, value in self.facts.items()}
        return {"type": "about:blank", "title": title, "status": self.status, "detail": self.detail, **facts}

    def body(self) -> bytes:
        """The document as JSON."""
        return json.dumps(self.document()).encode()

    def with_rows_from(self, first: int) -> Problem:
        """The problem of a batch whose first row has this number."""
        facts = dict(self.facts)
        if "row" in facts:
            facts["row"] += first
        if "rows" in facts:
            facts["rows"] = [each + first for each in facts["rows"]]
        return Problem(self.status, self.detail, self.headers, **facts)


def _for_clients(error: SufficeError) -> str:
    """The message of an error without sentences that advise to set an argument, which clients cannot do.

    >>> from suffice import InputError
    >>> from suffice.exceptions import Argument
    >>> _for_clients(InputError("Row 3 is bad. Fix it. To skip it, set ", Argument("bad_rows", "skip"), "."))
    'Row 3 is bad. Fix it.'
    """
    first, *others = SENTENCE_END.split(error.worded(lambda argument: ARGUMENT))
    kept = [each for each in others if ARGUMENT not in each]
    return " ".join([first, *kept]) if ARGUMENT not in first else str(error)


def problem_of(error: BaseException) -> Problem:
    """The problem document of an error; errors that are not the client's are status 500 or 507 without details.

    >>> from suffice import InputError
    >>> problem_of(InputError("x is empty.", column="x")).status
    422
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, SufficeError):
        rows = error.rows or []
        facts: dict[str, Any] = {"column": error.column, "argument": error.argument, "line": error.line}
        detail = LOWER_CASE.sub(lambda found: found[0].capitalize(), _for_clients(error))
        return Problem(422, detail, None, row=rows[0] if rows else None, rows=rows[:100] or None, **facts)
    if isinstance(error, OSError) and error.errno in FULL:
        return Problem(507, "The disk of the server is full. Free space there, and try again.")
    return Problem(500, UNKNOWN)


def not_written(error: OSError) -> Problem:
    """The problem of a change that the log of the model could not take.

    >>> not_written(OSError(errno.EIO, "Input/output error")).detail.partition(". ")[0]
    'The disk of the server reports an error (input/output error), so the model has not learned this'
    """
    if error.errno in FULL:
        return Problem(507, "The disk of the server is full, so nothing was learned. Free space there, and try again.")
    return Problem(
        503,
        f"The disk of the server reports an error ({reason(error)}), so the model has not learned this. Whoever runs "
        "the server should check the disk, and whether the server may write to its folder. Then try again.",
    )

"""The option ``--impossible``: what to do with rows that have probability zero in every class."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from suffice.cli.command import Choice, note

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier

__all__ = ["ImpossibleRows", "impossible_option"]

F = TypeVar("F", bound=Callable[..., object])
GIVEN = {"prior": "the prediction is the class prior", "nan": "no label and no probabilities are written"}


def impossible_option(choices: Sequence[str] = ("error", "prior", "nan")) -> Callable[[F], F]:
    """Add the option to a command."""
    what = {"error": "stop", "prior": "predict by the class prior", "nan": "leave the prediction empty"}
    *others, last = (f"{choice} ({what[choice]})" for choice in choices)
    return click.option(
        "--impossible",
        type=Choice(list(choices)),
        help="What to do with a row that has probability zero in every class: "
        f"{', '.join(others)} or {last}; default: error.",
    )


class ImpossibleRows:
    """Count the rows that have probability zero in every class.

    Parameters
    ----------
    model : estimator or SavedModel
        ``model`` is the same with the setting.
    setting : str, optional
        Value of the option.
    """

    def __init__(self, model: GenerativeClassifier, setting: str | None) -> None:
        fitted = model.fitted_
        specification = fitted.specification
        if setting is not None and not specification.has_impossible:
            raise click.UsageError(f"--impossible does not apply to a {specification.estimator}.")
        if setting is not None:
            changes: dict[str, Any] = {"impossible": setting}
            model = model.with_fitted(fitted.with_specification(replace(specification, **changes)))
        self.model, self.n_rows = model, 0

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Count the impossible rows of a batch; the model warns about them once for each prediction."""
        from suffice.exceptions import ImpossibleRowsWarning

        rows: set[int] = set()
        show = warnings.showwarning

        def count(message: Warning | str, *details: Any, **options: Any) -> None:
            if isinstance(message, ImpossibleRowsWarning):
                rows.update(message.rows or ())
            else:
                show(message, *details, **options)

        warnings.showwarning = count
        try:
            yield
        finally:
            warnings.showwarning = show
        self.n_rows += len(rows)

    def note(self) -> None:
        """Print the number of rows."""
        if self.n_rows:
            given = GIVEN[self.model.fitted_.specification.impossible]
            have = "row has" if self.n_rows == 1 else "rows have"
            note(f"{self.n_rows:,} {have} probability zero in every class; {given}.")

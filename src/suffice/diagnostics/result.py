"""The results of the checks: `Finding` and `Diagnosis`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from suffice.diagnostics.double_counting import NO_COST, DoubleCounting
from suffice.exceptions import Argument, Sentence, counted
from suffice.tables.cell_values import json_value
from suffice.tables.listing import FrameBackend, Listing

__all__ = ["CHECKS", "Diagnosis", "Finding"]

CHECKS = {
    "duplicates": "columns that repeat others",
    "dependence": "dependence within the classes",
    "covariances": "equal covariances",
    "shape": "shape of the columns",
    "missingness": "missing cells",
}
"""The checks, and what they are about."""
WIDTH = 80  # characters of a line
MOST_SHOWN = 8  # findings that are printed


@dataclass(frozen=True)
class Finding:
    """One result of a check of `suffice.diagnose`.

    Attributes
    ----------
    check : {"duplicates", "dependence", "covariances", "shape", "missingness"}
        Name of the check.
    columns : tuple
        The columns that the finding is about.
    effect : float
        Effect size in nats per row, corrected for chance.
    measure : str
        Name of the effect size, with its unit.
    p_value : float
        P-value, corrected for all tests of the diagnosis by Holm's method within the check and Bonferroni's over the
        checks.
    significant : bool
        Whether the p-value is at most the level.
    message : str
        A sentence with the figures.
    advice : str
        A sentence with the setting that would improve the model; empty if the finding is not significant.
    pieces : tuple of str and Argument
        The advice in pieces, with its arguments as values, so that the command can print them as options.

    See Also
    --------
    suffice.diagnose : Tests the assumptions of a model.
    suffice.diagnostics.Diagnosis : All findings of a model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import NaiveBayes, diagnose
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)
    >>> finding = found.findings[0]
    >>> finding.check, finding.significant, finding.p_value < 1e-6
    ('dependence', True, True)
    >>> finding.advice[-37:]
    "blocks='auto' or calibrate='columns'."
    """

    check: str
    columns: tuple[object, ...]
    effect: float
    measure: str
    p_value: float
    significant: bool
    message: str
    advice: str = ""
    pieces: Sentence = field(default=(), repr=False, compare=False)

    def worded(self, spell: Callable[[Argument], str]) -> str:
        """Return the advice, with each argument spelled by a function.

        Parameters
        ----------
        spell : callable
            Turns an `Argument` into text.

        Returns
        -------
        str

        See Also
        --------
        suffice.diagnostics.Finding : The finding; its ``advice`` spells arguments as in Python.

        Examples
        --------
        >>> pieces = "Use ", Argument("calibrate", "columns"), "."
        >>> found = Finding("dependence", ("a", "b"), 0.1, "nats", 0.01, True, "", "", pieces)
        >>> found.worded(lambda argument: f"--{argument.name} {argument.value}")
        'Use --calibrate columns.'
        """
        return "".join(piece if isinstance(piece, str) else spell(piece) for piece in self.pieces)

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".rstrip()


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """Result of `suffice.diagnose`: findings, and tables with the results of all tests.

    Attributes
    ----------
    findings : tuple of Finding
        The significant findings, the strongest first; then the strongest result of each check without a significant
        finding. A check has at most 20 findings; the tables have more.
    n_significant : int
        Number of significant findings, including those that are not listed.
    level : float
        Significance level: if the rows meet the assumptions, the probability of any significant finding is at most
        this.
    model : str
        Name of the estimator.
    rows, used : int
        Number of rows that were read, and of rows that were tested.
    dependence : Listing
        Pairs of columns: ``first``, ``second``, ``correlation`` within the classes (NaN for levels), mutual information
        given the class in ``nats``, ``cost`` in log-loss (NaN except for the strongest pairs), corrected ``p_value``.
    duplicates : Listing
        Columns that repeat an earlier one: ``first``, ``second``, ``relation``.
    covariances : Listing
        Box's ``M`` of each Gaussian block: ``columns``, ``covariance`` of the model, ``nats``, ``p_value``.
    shapes : Listing
        Columns of numbers: ``column``, ``family``, ``skewness``, ``kurtosis`` (excess), ``p_value``, ``better`` family
        (only tried for columns whose shape is significant) and its gain in ``nats``.
    missingness : Listing
        Columns with missing cells: ``column``, share of ``missing`` cells, ``lowest`` and ``highest`` share of a
        class, ``nats`` about the class, ``p_value``.
    double_counting : DoubleCounting or None
        How much log-loss the dependence between columns costs; None if it was not estimated.
    duplicate_rows : int
        Number of rows that repeat an earlier row of their class.
    notes : tuple of str
        Sentences about what was not checked and why, and about what was limited.

    See Also
    --------
    suffice.diagnose : Tests the assumptions of a model.
    suffice.diagnostics.Finding : One result.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import NaiveBayes, diagnose
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)
    >>> found.n_significant, found.findings[0].columns
    (2, ('sepal length (cm)', 'sepal width (cm)', 'petal length (cm)'))
    >>> found.dependence["first"][0], found.dependence["second"][0], round(found.dependence["nats"][0], 2)
    ('sepal length (cm)', 'petal length (cm)', 0.23)
    """

    findings: tuple[Finding, ...]
    level: float
    model: str
    rows: int
    used: int
    dependence: Listing
    duplicates: Listing
    covariances: Listing
    shapes: Listing
    missingness: Listing
    double_counting: DoubleCounting | None = None
    duplicate_rows: int = 0
    n_significant: int = 0
    notes: tuple[str, ...] = ()

    @property
    def significant(self) -> tuple[Finding, ...]:
        """The significant findings."""
        return tuple(each for each in self.findings if each.significant)

    @property
    def tables(self) -> dict[str, Listing]:
        """The tables by name."""
        names = ("dependence", "duplicates", "covariances", "shapes", "missingness")
        return {name: getattr(self, name) for name in names}

    def title(self) -> str:
        """Return the result in one sentence.

        Returns
        -------
        str
            The model, the number of rows, and the number of significant findings.

        See Also
        --------
        cost_line : Returns the cost of dependent columns in one sentence.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes, diagnose
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> diagnose(NaiveBayes().fit(X, y), X, y, cost=False).title()
        'NaiveBayes, 150 rows: 2 significant findings (level 0.05).'
        """
        found = self.n_significant
        rows = counted(self.rows, "row")
        if not self.findings:
            return f"{self.model}, {rows}: no assumption of this model could be tested."
        if not found:
            return f"{self.model}, {rows}: no assumption is significantly violated (level {self.level:g})."
        return f"{self.model}, {rows}: {counted(found, 'significant finding')} (level {self.level:g})."

    def cost_line(self) -> str:
        """Return the cost of double counting in one sentence; empty if it was not estimated.

        Returns
        -------
        str
            The log-loss on held-out rows, with and without weights for the columns.

        See Also
        --------
        title : Returns the result in one sentence.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes, diagnose
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> diagnose(NaiveBayes().fit(X, y), X, y).cost_line()
        'Double counting costs nothing: log-loss 0.1325 on held-out rows, 0.1325 with column weights.'
        """
        known = self.double_counting
        if known is None:
            return ""
        losses = f"log-loss {known.log_loss:.4g} on held-out rows, {known.weighted_log_loss:.4g} with column weights"
        if known.cost < NO_COST:
            return f"Double counting costs nothing: {losses}."
        dependent = any(each.check in ("dependence", "duplicates") for each in self.significant)
        hint = "" if dependent else " No dependence is significant, so the weights correct something else."
        return f"Double counting costs {known.cost:.3g} nats per row: {losses}.{hint}"

    def __repr__(self) -> str:
        lines = wrapped(self.title())
        shown = self.significant[:MOST_SHOWN]
        for number, each in enumerate(shown, start=1):
            mark = f"{number:3}. "
            lines += wrapped(f"{each} ({p_text(each.p_value)})", mark)
        if self.n_significant > len(shown):
            more = counted(self.n_significant - len(shown), "more finding")
            lines.append(f"     … and {more}; see findings and the tables.")
        for text in (*(each.message for each in self.findings if not each.significant), self.cost_line(), *self.notes):
            lines += wrapped(text, "  · ") if text else []
        return "\n".join(lines)

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Return the findings as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or module, optional
            The library of the frame; pandas by default.

        Returns
        -------
        DataFrame
            One row for each finding.

        See Also
        --------
        listing : Returns the findings as a table of this library.
        to_dict : Returns all findings and tables as JSON values.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes, diagnose
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> found = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)
        >>> found.to_frame()[["check", "effect", "significant"]].round(3)
                check  effect  significant
        0  dependence   0.227         True
        1       shape   0.000         True
        """
        return self.listing().to_frame(backend)

    def listing(self) -> Listing:
        """Return the findings as a table with one row for each finding.

        Returns
        -------
        Listing
            Its columns are the attributes of `suffice.diagnostics.Finding`.

        See Also
        --------
        to_frame : Returns the findings as a data frame.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes, diagnose
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> found = diagnose(NaiveBayes().fit(X, y), X, y, cost=False).listing()
        >>> found["check"], found["columns"][1]
        (['dependence', 'shape'], 'petal width (cm)')
        """
        found = self.findings
        return Listing(
            {
                "check": [each.check for each in found],
                "columns": [", ".join(map(str, each.columns)) for each in found],
                "effect": [each.effect for each in found],
                "measure": [each.measure for each in found],
                "p_value": [each.p_value for each in found],
                "significant": [each.significant for each in found],
                "message": [each.message for each in found],
                "advice": [each.advice for each in found],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all findings and tables as JSON values.

        Returns
        -------
        dict
            Numbers that are not finite become None.

        See Also
        --------
        to_frame : Returns the findings as a data frame.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes, diagnose
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> found = diagnose(NaiveBayes().fit(X, y), X, y, cost=False).to_dict()
        >>> found["rows"], found["n_significant"], found["findings"][0]["check"]
        (150, 2, 'dependence')
        >>> found["missingness"]["column"]
        []
        """
        findings = [{name: value for name, value in vars(each).items() if name != "pieces"} for each in self.findings]
        plain: dict[str, Any] = json_value(
            {
                "model": self.model,
                "rows": self.rows,
                "used": self.used,
                "level": self.level,
                "n_significant": self.n_significant,
                "findings": findings,
                "double_counting": None if self.double_counting is None else asdict(self.double_counting),
                "duplicate_rows": self.duplicate_rows,
                "notes": list(self.notes),
                **{name: dict(table) for name, table in self.tables.items()},
            }
        )
        return plain

    def _repr_html_(self) -> str:
        found = "".join(
            f"<li>{escape(each.message)} <b>{escape(each.advice)}</b> ({escape(p_text(each.p_value))})</li>"
            for each in self.significant
        )
        others = [each.message for each in self.findings if not each.significant]
        rest = "".join(f"<li>{escape(text)}</li>" for text in (*others, self.cost_line(), *self.notes) if text)
        return f"<div><p>{escape(self.title())}</p><ol>{found}</ol><ul>{rest}</ul></div>"


def wrapped(text: str, mark: str = "", width: int = WIDTH) -> list[str]:
    """Lines of a text, the first of which starts with a mark."""
    return textwrap.wrap(text, width, initial_indent=mark, subsequent_indent=" " * len(mark), break_on_hyphens=False)


def p_text(p_value: float) -> str:
    """A corrected p-value in words.

    >>> p_text(0.0213), p_text(1e-20), p_text(1.0)
    ('p = 0.021', 'p < 1e-12', 'p = 1')
    """
    return "p < 1e-12" if p_value < 1e-12 else f"p = {p_value:.2g}"

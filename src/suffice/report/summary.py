"""The content of a report, as frozen dataclasses. `suffice.report.summarizing` makes a `Summary`; templates render it.

Every field holds plain values: numbers, strings, booleans, None, tuples and other dataclasses. The page can therefore
be tested without a model, and the summary without a page, and `Summary.to_dict` returns JSON values.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from suffice.tables.cell_values import json_value

__all__ = [
    "Calibration",
    "ClassScore",
    "ClassSummary",
    "ColumnSummary",
    "Confusion",
    "Correlations",
    "Curves",
    "Dependence",
    "Field",
    "Finding",
    "HeldOut",
    "Member",
    "Provenance",
    "Summary",
    "Table",
    "WhatIf",
    "Word",
    "Words",
]

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Table:
    """A table for people: a title, names of its columns, and rows of cells; ``hidden`` rows are left out."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    hidden: int = 0


@dataclass(frozen=True)
class ClassSummary:
    """A class: its position and label, the weight of its rows, and its prior.

    ``color`` is its place in the palette; None for a class that is not in pictures.
    """

    position: int
    label: str
    rows: float | None
    prior: float
    color: int | None


@dataclass(frozen=True)
class Curves:
    """p(x_j | y) of some classes at the same values.

    Attributes
    ----------
    kind : {"continuous", "counts", "levels"}
    values : tuple
        Numbers in ascending order, or names of levels. Points in time are seconds since 1970.
    classes : tuple of int
        Positions of the classes that are shown.
    density : tuple of tuple of float
        One tuple for each of these classes.
    is_time : bool
    hidden : int
        Number of levels that are left out, the least frequent ones.
    """

    kind: Literal["continuous", "counts", "levels"]
    values: tuple[Cell, ...]
    classes: tuple[int, ...]
    density: tuple[tuple[float, ...], ...]
    is_time: bool = False
    hidden: int = 0


@dataclass(frozen=True)
class ColumnSummary:
    """A column: its name, kind and family, its information about the class, missing and unseen cells, and parameters.

    Attributes
    ----------
    name, kind, family : str
    block : int or None
        Number of its block, if the block has several dependent columns.
    weight : float or None
        The weight of a calibration by columns.
    bits, bits_error : float or None
        Mutual information with the class, and its standard error. ``with_block``: of all columns of the block.
    missing, unseen : float or None
        Share of the cells without a value, and with a level that the model does not know; None if unknown.
    missing_of : {"training", "data", ""}
        Where ``missing`` was counted: in the rows that were learned, or in the rows of the report.
    parameters : Table or None
    curves : Curves or None
    note : str
        Why there is no picture.
    unit : str
        "seconds" of a duration; of a time, "UTC, deviations in seconds"; empty for others.
    """

    name: str
    kind: str
    family: str
    block: int | None = None
    weight: float | None = None
    bits: float | None = None
    bits_error: float | None = None
    with_block: bool = False
    missing: float | None = None
    unseen: float | None = None
    missing_of: str = ""
    parameters: Table | None = None
    curves: Curves | None = None
    note: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Word:
    """A word, what it adds to the log-odds of its class, and its counts in the class and in the others."""

    word: str
    log_odds: float
    count: float
    others: float


@dataclass(frozen=True)
class Words:
    """The strongest words of a class in a column of documents."""

    column: str
    label: str
    words: tuple[Word, ...]


@dataclass(frozen=True)
class Member:
    """A further model of the columns in an ensemble."""

    name: str
    columns: int
    weight: float | None


@dataclass(frozen=True)
class Correlations:
    """Correlations of columns within the classes (d, d)."""

    columns: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    of: str
    hidden: int = 0


@dataclass(frozen=True)
class Dependence:
    """How columns depend on each other within a class, and what that does to the probabilities.

    Attributes
    ----------
    blocks : Table or None
        Blocks of dependent columns of the model.
    correlations : Correlations or None
    slope : float or None
        The factor that would make log-odds of held-out rows right: below 1 the model counts evidence twice.
    log_loss, calibrated_log_loss : float or None
        Of held-out rows, as they are and with that factor.
    sentences : tuple of str
    """

    blocks: Table | None = None
    correlations: Correlations | None = None
    slope: float | None = None
    log_loss: float | None = None
    calibrated_log_loss: float | None = None
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassScore:
    """Scores of one class."""

    label: str
    rows: float
    precision: float
    recall: float
    f1: float
    auc: float


@dataclass(frozen=True)
class Calibration:
    """Predictions in bins of equal confidence: weight, mean confidence and share of correct labels of each."""

    weight: tuple[float, ...]
    confidence: tuple[float, ...]
    accuracy: tuple[float, ...]


@dataclass(frozen=True)
class Confusion:
    """Weight of the rows with each label (down) for which each class was predicted (across), or the largest errors."""

    labels: tuple[str, ...]
    predicted: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]
    errors: Table | None = None


@dataclass(frozen=True)
class HeldOut:
    """Scores of rows that the model did not learn, or that were held out of it.

    ``rule`` says how: "new rows", "leave-one-out", "10 folds" or "held-out rows". ``source`` is "data" for rows of the
    report and "fit" for scores that a fit has left in the model; these have no scores by class.
    """

    rule: str
    source: Literal["data", "fit"]
    n_rows: int
    of_rows: int
    accuracy: float
    accuracy_error: float
    majority: float
    balanced_accuracy: float
    log_loss: float
    log_loss_error: float
    baseline_log_loss: float
    calibration_error: float
    auc: float
    brier: float | None = None
    by_class: tuple[ClassScore, ...] = ()
    hidden_classes: int = 0
    calibration: Calibration | None = None
    confusion: Confusion | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A finding of `suffice.diagnostics`: an assumption of the model that the rows do or do not meet."""

    check: str
    columns: tuple[str, ...]
    effect: float | None
    p_value: float | None
    significant: bool
    message: str
    advice: str


@dataclass(frozen=True)
class Provenance:
    """The origin of the rows, as far as it is known."""

    learned: Table
    files: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    data: Table | None = None


@dataclass(frozen=True)
class Field:
    """An input of the what-if form.

    Attributes
    ----------
    column : str
        The key of its cell in a row.
    kind : {"number", "count", "time", "levels", "yes_no", "above", "text"}
        "above" is a choice between numbers up to a threshold, ``low``, and those above it, such as ``high``.
    low, high : float or None
        Range of the slider.
    n_levels : int
        Number of levels; the parameters of the form hold them.
    start : float, int, str or None
        The value at first, the position of a level, or None for a missing cell.
    may_be_missing : bool
    unit : str
        "seconds" of a duration, "UTC" of a time; empty for others.
    """

    column: str
    kind: Literal["number", "count", "time", "levels", "yes_no", "above", "text"]
    low: float | None = None
    high: float | None = None
    n_levels: int = 0
    start: Cell = None
    may_be_missing: bool = True
    unit: str = ""


@dataclass(frozen=True)
class WhatIf:
    """Inputs of the what-if form and the parameters that it computes with; ``reason`` if the page has none."""

    fields: tuple[Field, ...] = ()
    hidden: int = 0
    parameters: Any = None
    reason: str = ""


@dataclass(frozen=True)
class Summary:
    """The content of a report: settings, classes, columns, scores and findings of a model, as plain values.

    ``named`` is false if columns have positions instead of names.

    See Also
    --------
    suffice.report.summarize : Computes a summary.
    suffice.report.Report : Makes a page of a summary.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> summary = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]).report().summary
    >>> summary.estimator, summary.rows, [each.label for each in summary.classes]
    ('NaiveBayes', 4.0, ['a', 'b'])
    """

    title: str
    estimator: str
    version: str
    settings: Table
    choices: tuple[Table, ...]
    rows: float | None
    entropy_bits: float
    target: str | None
    n_classes: int
    classes: tuple[ClassSummary, ...]
    n_columns: int
    ignored: tuple[str, ...]
    columns: tuple[ColumnSummary, ...]
    words: tuple[Words, ...] = ()
    members: tuple[Member, ...] = ()
    dependence: Dependence = field(default_factory=Dependence)
    held_out: HeldOut | None = None
    why_no_scores: str = ""
    findings: tuple[Finding, ...] = ()
    why_no_findings: str = ""
    warnings: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=lambda: Provenance(Table("", (), ())))
    what_if: WhatIf = field(default_factory=WhatIf)
    named: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as a dictionary of JSON values.

        Returns
        -------
        dict
            Numbers that are not finite are None. The parameters of the what-if form, which only its script reads, are
            left out.
        """
        found: dict[str, Any] = json_value(asdict(replace(self, what_if=replace(self.what_if, parameters=None))))
        del found["what_if"]["parameters"]
        return found

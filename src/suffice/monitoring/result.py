"""Results of monitoring: `Finding`, one comparison of a window with the reference, and `Drift`, all of a look."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from suffice.tables.cell_values import json_value
from suffice.tables.listing import Listing

__all__ = ["ClassShares", "Drift", "Finding", "LabelScores"]

MOST_SHOWN = 10  # findings that are printed


@dataclass(frozen=True)
class Finding:
    """One test of a window against the reference.

    Attributes
    ----------
    column : object
        Name of the column; None for a test of the whole row: log p(x), classes or labels.
    test : str
        What was compared: "numbers", "yes or no", "levels", "unseen levels", "missing", "words", "text length",
        "unknown words", "log p(x)", "impossible rows", "class shares", "labels", "unknown labels", "accuracy" or
        "calibration".
    statistic : float
        Value of the test statistic; NaN for an exact test, which has none.
    p_value : float
        P-value of this test alone; NaN if the test was withheld.
    level : float
        The largest p-value that is significant at this look, by the Benjamini-Hochberg rule over all tests.
    significant : bool
        Whether the p-value is at most the level and the effect at least the minimum effect.
    sentence : str
        What changed, from what to what; or why the test was withheld.
    reference, observed : object
        The compared figure in the reference and in the window; None for a test without a figure.
    effect : float
        Size of the change: for numbers, the larger of the shift of the mean in standard deviations and half of the
        absolute log of the ratio of variances; for levels, labels and class shares, the total variation distance; for a
        share, its difference.
    windows : int
        Number of windows, newest last, that were merged for this test; 1 for the newest alone.
    measure : str
        What the figures are, such as "mean", "mean time" (in seconds since 1970), "share missing" or "share of 'Ulm'".

    See Also
    --------
    suffice.monitoring.Drift : All findings of a look.
    suffice.monitoring.Monitor : Makes them.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import NaiveBayes
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
    >>> monitor = NaiveBayes().fit(X, y).monitor()
    >>> finding = monitor.check(monitor.window(X + [0.0, 1.0])).findings[0]
    >>> finding.column, finding.test, finding.significant, round(finding.effect, 1)
    (1, 'numbers', True, 1.0)
    """

    column: object
    test: str
    statistic: float
    p_value: float
    level: float
    significant: bool
    sentence: str
    reference: object = None
    observed: object = None
    effect: float = 0.0
    windows: int = 1
    measure: str = ""

    @property
    def withheld(self) -> bool:
        """Whether the test was not made; `sentence` says why."""
        return self.p_value != self.p_value  # NaN


@dataclass(frozen=True)
class ClassShares:
    """Class shares of a window, by maximum likelihood on the log-likelihoods of some of its rows.

    Attributes
    ----------
    classes : tuple
        Labels of the classes.
    trained, share, standard_error : tuple of float
        The prior of the model, the share of each class in the window, and its standard error.
    n_rows : int
        Number of rows that the estimate used.
    """

    classes: tuple[object, ...]
    trained: tuple[float, ...]
    share: tuple[float, ...]
    standard_error: tuple[float, ...]
    n_rows: int


@dataclass(frozen=True)
class LabelScores:
    """Scores of the predictions of the labelled rows of a window, made by the model without them.

    Attributes
    ----------
    n_rows : float
        Weight of the labelled rows.
    accuracy, log_loss, calibration_error : float
        Share of correct predictions, mean of −log p(label), and expected calibration error in 15 bins.
    accuracy_error, log_loss_error : float
        Standard errors.
    trained_accuracy : float or None
        Accuracy on held-out training rows, if the model knows it.
    """

    n_rows: float
    accuracy: float
    log_loss: float
    calibration_error: float
    accuracy_error: float
    log_loss_error: float
    trained_accuracy: float | None = None


@dataclass(frozen=True, eq=False)
class Drift:
    """What one look at a window found.

    Attributes
    ----------
    findings : tuple of Finding
        All tests, the strongest evidence first; withheld tests come last.
    level : float
        Level of this look: the probability of any significant finding, if nothing has changed, is at most this.
    look : int
        Number of the look in a sequence (see `Monitor.update`); 0 for a single look.
    n_rows : int
        Number of rows of the window.
    class_shares : ClassShares or None
        Estimated class shares; None for more than 200 classes.
    log_density : dict
        Quantiles of log p(x) in the reference that the rows of the window are counted against: for each share of the
        reference (keys such as "0.05"), the share of the window at or below; empty without a stored profile.
    labels : LabelScores or None
        Scores of the labelled rows of the window.

    See Also
    --------
    suffice.monitoring.Monitor : Makes it.
    suffice.monitoring.Finding : One test.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import NaiveBayes
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
    >>> monitor = NaiveBayes().fit(X, y).monitor()
    >>> drift = monitor.check(monitor.window(X + [0.0, 1.0]))
    >>> drift.alarm, drift.n_rows, drift.significant[0].column
    (True, 1000, 1)
    """

    findings: tuple[Finding, ...]
    level: float
    look: int
    n_rows: int
    class_shares: ClassShares | None = None
    log_density: Mapping[str, float] = field(default_factory=dict)
    labels: LabelScores | None = None

    @property
    def alarm(self) -> bool:
        """Whether a finding is significant."""
        return any(finding.significant for finding in self.findings)

    @property
    def significant(self) -> tuple[Finding, ...]:
        """The significant findings."""
        return tuple(finding for finding in self.findings if finding.significant)

    @property
    def withheld(self) -> tuple[Finding, ...]:
        """Tests that were not made, with the reason as their sentence."""
        return tuple(finding for finding in self.findings if finding.withheld)

    def listing(self) -> Listing:
        """Return all tests as a table, the strongest evidence first.

        Returns
        -------
        Listing
            Its columns are attributes of `suffice.monitoring.Finding`.

        See Also
        --------
        to_dict : Returns everything as JSON values.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
        >>> monitor = NaiveBayes().fit(X, y).monitor()
        >>> found = monitor.check(monitor.window(X + [0.0, 1.0])).listing()
        >>> found["column"][0], found["measure"][0], found["significant"][0]
        (1, 'mean', True)
        """
        each = self.findings
        return Listing(
            {
                "column": ["" if one.column is None else one.column for one in each],
                "test": [one.test for one in each],
                "measure": [one.measure for one in each],
                "windows": [one.windows for one in each],
                "effect": [one.effect for one in each],
                "p_value": [one.p_value for one in each],
                "significant": [one.significant for one in each],
                "sentence": [one.sentence for one in each],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dictionary of JSON values.

        Returns
        -------
        dict
            Numbers that are not finite become None.

        See Also
        --------
        to_json : Returns them as a text.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
        >>> monitor = NaiveBayes().fit(X, y).monitor()
        >>> found = monitor.check(monitor.window(X)).to_dict()
        >>> found["alarm"], found["rows"]
        (False, 1000)
        """
        from dataclasses import asdict

        content: dict[str, Any] = json_value(
            {
                "alarm": self.alarm,
                "level": self.level,
                "look": self.look,
                "rows": self.n_rows,
                "findings": [asdict(finding) | {"withheld": finding.withheld} for finding in self.findings],
                "class_shares": None if self.class_shares is None else asdict(self.class_shares),
                "log_density": dict(self.log_density),
                "labels": None if self.labels is None else asdict(self.labels),
            }
        )
        return content

    def to_json(self) -> str:
        """Return everything as JSON.

        Returns
        -------
        str

        See Also
        --------
        to_dict : Returns the values.
        to_html : Returns a page for people.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
        >>> monitor = NaiveBayes().fit(X, y).monitor()
        >>> monitor.check(monitor.window(X)).to_json()[:15]
        '{"alarm": false'
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_html(self) -> str:
        """Return the findings as one HTML page, which loads nothing from elsewhere. Needs Jinja2.

        Returns
        -------
        str

        See Also
        --------
        to_json : Returns them for programs.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
        >>> monitor = NaiveBayes().fit(X, y).monitor()
        >>> page = monitor.check(monitor.window(X)).to_html()
        >>> "No drift in 1,000 rows." in page
        True
        """
        from suffice.monitoring.rendering import render

        return render(self)

    def _verdict(self) -> str:
        from suffice.monitoring.wording import effort_line, headline

        return f"{headline(self)} {effort_line(self)}"

    def __repr__(self) -> str:
        lines = [f"  {each.sentence} p = {each.p_value:.2g}" for each in self.significant[:MOST_SHOWN]]
        more = len(self.significant) - MOST_SHOWN
        return "\n".join([self._verdict(), *lines, *([f"  … {more} more"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(each.sentence)} p = {each.p_value:.2g}</li>" for each in self.significant)
        return f"<p>{escape(self._verdict())}</p><ul>{items}</ul>"

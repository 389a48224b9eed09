"""From a `Drift` to one HTML file, with the templates, the style and the pictures of reports."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from suffice.formats import number_text, percent_text, printable
from suffice.model_file.record import library_version
from suffice.monitoring.result import Drift, Finding
from suffice.monitoring.wording import (
    advice,
    column_text,
    effort_line,
    few_quantiles,
    figure_text,
    headline,
    measure_text,
    p_value_text,
    withheld_reasons,
)
from suffice.report import svg
from suffice.report.bundle import asset
from suffice.report.pages import environment, policy
from suffice.report.summary import Table

__all__ = ["render"]

MOST_CARDS, MOST_ROWS, MOST_CLASSES = 24, 500, 12  # that a page shows
TRAINED, OBSERVED = "training rows", "these rows"


def render(drift: Drift, title: str = "Drift", source: str = "") -> str:
    """The result of a look as one HTML file.

    Parameters
    ----------
    drift : Drift
    title : str
        Title of the page.
    source : str
        Where the rows come from.

    Raises `InputError` if Jinja2 is not installed.
    """
    css = asset("report.css")
    page = environment("suffice.monitoring").get_template("drift.html")
    return page.render(
        drift=drift,
        title=printable(title),
        source=printable(source),
        version=library_version(),
        css=css,
        policy=policy(css),
        headline=headline(drift),
        advice=advice(drift),
        effort=effort_line(drift),
        cards=[_card(each) for each in drift.significant[:MOST_CARDS]],
        hidden_cards=len(drift.significant) - MOST_CARDS,
        tests=_tests(drift),
        withheld=withheld_reasons(drift),
        series=[{"label": TRAINED, "color": 0}, {"label": OBSERVED, "color": 1}],
        shares=_share_picture(drift),
        share_table=_share_table(drift),
        unusual=next(iter(few_quantiles(drift)), None),
        density=_density_picture(drift),
        peak=number_text(max((height for _, _, height in _density_steps(drift)), default=1.0), 2),
        density_table=_density_table(drift),
    )


def _card(finding: Finding) -> dict[str, Any]:
    """A significant finding: its place, its sentence, and further figures by name."""
    figures = {"effect": number_text(finding.effect, 2), "p": p_value_text(finding.p_value)}
    if finding.windows > 1:
        figures["windows"] = f"the last {finding.windows:,}, merged"
    return {
        "place": "All rows" if finding.column is None else printable(finding.column),
        "test": finding.test,
        "sentence": finding.sentence,
        "figures": figures,
    }


def _tests(drift: Drift) -> Table:
    """All tests that were made."""
    made = [each for each in drift.findings if not each.withheld]
    rows = tuple(
        (
            column_text(each),
            measure_text(each),
            figure_text(each, each.reference),
            figure_text(each, each.observed),
            float(each.effect),
            p_value_text(each.p_value),
            "yes" if each.significant else "no",
        )
        for each in made[:MOST_ROWS]
    )
    header = ("column", "figure", TRAINED, OBSERVED, "effect", "p-value", "significant")
    return Table("", header, rows, max(len(made) - MOST_ROWS, 0))


# ---------------------------------------------------------------------- shares


def _share_picture(drift: Drift) -> str | None:
    found = drift.class_shares
    if found is None:
        return None
    labels = [printable(each) for each in found.classes[:MOST_CLASSES]]
    named = "; ".join(
        f"{label}: {percent_text(trained)} in training, {percent_text(share)} here"
        for label, trained, share in zip(labels, found.trained, found.share, strict=False)
    )
    trained, share = ([*each[:MOST_CLASSES]] for each in (found.trained, found.share))
    return svg.level_bars(labels, [trained, share], [0, 1], title="Class shares", description=named)


def _share_table(drift: Drift) -> Table | None:
    found = drift.class_shares
    if found is None:
        return None
    rows = tuple(
        (printable(label), percent_text(trained), percent_text(share), f"± {percent_text(error)}")
        for label, trained, share, error in zip(
            found.classes, found.trained, found.share, found.standard_error, strict=True
        )
    )
    header = ("class", TRAINED, OBSERVED, "standard error")
    return Table("Shares", header, rows[:MOST_ROWS], max(len(rows) - MOST_ROWS, 0))


def _density_picture(drift: Drift) -> str | None:
    """Steps over the quantiles of log p(x) in training, as high as there are more of these rows than in training."""
    steps = _density_steps(drift)
    if not steps:
        return None
    at = [edge for a, b, _ in steps for edge in (a, b)]
    observed = [height for _, _, height in steps for _ in range(2)]
    quantile, share = next(iter(drift.log_density.items()))
    lowest = f"{percent_text(share)} of these rows are among the {percent_text(float(quantile))} least likely"
    return svg.curves(
        at,
        [[1.0] * len(at), observed],
        [0, 1],
        title="Rows over the quantiles of log p(x) in training",
        description=f"{lowest} training rows.",
    )


def _density_steps(drift: Drift) -> list[tuple[float, float, float]]:
    """Intervals of the quantiles of log p(x) in training, and how many times as many of these rows each has."""
    if not drift.log_density:
        return []
    edges = [0.0, *(float(key) for key in drift.log_density), 1.0]
    shares = [0.0, *drift.log_density.values(), 1.0]
    return [(a, b, (q - p) / (b - a)) for (a, p), (b, q) in pairwise(zip(edges, shares, strict=True)) if b > a]


def _density_table(drift: Drift) -> Table | None:
    if not drift.log_density:
        return None
    rows = tuple((percent_text(quantile), percent_text(share)) for quantile, share in few_quantiles(drift))
    return Table("Share of the rows up to a quantile", (TRAINED, OBSERVED), rows)

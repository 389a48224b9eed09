"""A report of a model as one HTML file: a typed summary, then its rendering (Jinja2, extra ``report``).

`suffice.report.summarizing` makes a `Summary` of what was learned and of rows; `suffice.report.rendering` makes a page
of it. `compact_html` is what a notebook shows of a fitted model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy_names import lazy_names

if TYPE_CHECKING:
    from suffice.report.compact import compact_html
    from suffice.report.reporting import Report, report_of
    from suffice.report.summarizing import summarize
    from suffice.report.summary import Summary

__all__ = ["Report", "Summary", "compact_html", "report_of", "summarize"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Report": "reporting",
        "Summary": "summary",
        "compact_html": "compact",
        "report_of": "reporting",
        "summarize": "summarizing",
    },
)

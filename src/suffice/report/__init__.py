"""Reports of fitted models as one HTML file (needs Jinja2: ``pip install 'suffice[report]'``).

`suffice.report.summarizing` computes a `Summary` of the model and of rows, and `suffice.report.rendering` makes a page
of it. `compact_html` makes the short version that notebooks show.
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

"""The page of the documentation about an error, which the command names after the sentence.

An error knows its page (``page``) if its class has one, or if it was raised with one. Other errors have the page of the
module that raised them. Errors of the operating system, such as a full disk, have none.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suffice.exceptions import SufficeError

__all__ = ["COMMAND", "page_of"]

COMMAND = "docs/command.md"
MODULES: dict[str, str | None] = {
    "suffice.averaged_dependence": "docs/averaged_dependence.md",
    "suffice.bayes": COMMAND,
    "suffice.cli": COMMAND,
    "suffice.cli.output": None,  # standard output or a file cannot be written
    "suffice.cli.writing": None,
    "suffice.comparison": "docs/comparison.md",
    "suffice.diagnostics": "docs/assumptions.md",
    "suffice.discriminant_analysis": "docs/models/gaussian_discriminant_analysis.md",
    "suffice.ensemble": "docs/ensemble.md",
    "suffice.export": "docs/export.md",
    "suffice.families": "docs/estimation.md",
    "suffice.families.averaged_dependence": "docs/averaged_dependence.md",
    "suffice.families.binned": "docs/histograms.md",
    "suffice.families.given": "docs/parameters.md",
    "suffice.families.histogram": "docs/histograms.md",
    "suffice.families.text": "docs/text.md",
    "suffice.learning.calibration": "docs/calibration.md",
    "suffice.learning.decisions": "docs/imbalance.md",
    "suffice.learning.family_choice": "docs/mixed_tables.md",
    "suffice.learning.given": "docs/parameters.md",
    "suffice.learning.good_rows": "docs/files.md",
    "suffice.learning.labelled_tables": "docs/files.md",
    "suffice.learning.prior_shift": "docs/imbalance.md",
    "suffice.learning.training_rows": "docs/files.md",
    "suffice.monitoring": "docs/monitoring.md",
    "suffice.plotting": "docs/plotting.md",
    "suffice.report": "docs/report.md",
    "suffice.server": "docs/serving.md",
    "suffice.sources": "docs/files.md",
    "suffice.sources.databases": "docs/engines.md",
    "suffice.sources.documents": COMMAND,
    "suffice.sources.files.mails": "docs/mail.md",
    "suffice.statistics.pair_counts": "docs/averaged_dependence.md",
    "suffice.text": "docs/text.md",
    "suffice.text.mail": "docs/mail.md",
}
"""Pages by the module, or its package, that raised an error."""


def page_of(error: SufficeError) -> str | None:
    """Return the page about an error, or None if no page helps.

    >>> from suffice.exceptions import InputError, MergeError
    >>> page_of(MergeError("Models differ."))
    'docs/algebra.md'
    >>> from suffice.text.mail import read_mail
    >>> try:
    ...     read_mail("nowhere.eml")
    ... except InputError as error:
    ...     page_of(error)
    'docs/mail.md'
    """
    if error.page is not None:
        return error.page
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        name = frame.f_globals.get("__name__", "")
        while name and name not in MODULES:
            name = name.rpartition(".")[0]
        if name:
            return MODULES[name]
    return None

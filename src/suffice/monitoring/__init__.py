"""Watch a model: compare windows of new rows with the rows that the model has learned, which need not be kept.

`Monitor` summarises rows as a `Window`, and compares windows with the statistics of the model. Each comparison is a
`Finding`; all comparisons of one look at the data are a `Drift`.
"""

from typing import TYPE_CHECKING

from suffice.lazy_names import lazy_names

if TYPE_CHECKING:
    from suffice.monitoring.monitor import Monitor
    from suffice.monitoring.result import Drift, Finding
    from suffice.monitoring.window import Window

__all__ = ["Drift", "Finding", "Monitor", "Window"]

__getattr__, __dir__ = lazy_names(
    __name__, {"Drift": "result", "Finding": "result", "Monitor": "monitor", "Window": "window"}
)

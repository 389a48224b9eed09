"""Independent columns of numbers with a smoothed histogram for each class."""

from suffice.families.histogram.family import Histogram, HistogramParameters

__all__ = ["Histogram", "HistogramParameters"]

"""Fitted models from what people hold in place of rows: parameters, counts of levels, or moments of each class."""

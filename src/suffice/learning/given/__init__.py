"""Fitted models from parameters, counts of levels, or moments of each class, without rows."""

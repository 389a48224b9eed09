"""Fitted models as equal models of scikit-learn."""

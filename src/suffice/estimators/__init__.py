"""The base classes of all classifiers."""

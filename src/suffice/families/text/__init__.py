"""Families of documents: the family, its parameters, informative words, and leave-one-out."""

from suffice.families.text.family import Text

__all__ = ["Text"]

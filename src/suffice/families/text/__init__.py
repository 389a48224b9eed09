"""A column of documents: the family, its parameters, its words, and leave-one-out."""

from suffice.families.text.family import Text

__all__ = ["Text"]

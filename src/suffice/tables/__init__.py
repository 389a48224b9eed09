"""Rows in memory: tables and their schema, column matrices, levels, words, listings."""

from suffice.tables.levels import Coded, CodedColumn, Levels
from suffice.tables.table import MatrixTable, Table
from suffice.tables.vocabulary import Vocabulary
from suffice.tables.word_rows import WordRows

__all__ = ["Coded", "CodedColumn", "Levels", "MatrixTable", "Table", "Vocabulary", "WordRows"]

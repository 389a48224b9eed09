"""Tables, which are rows in memory: schema, column matrices, levels, words, and listings for output."""

from suffice.tables.levels import Coded, CodedColumn, Levels
from suffice.tables.table import MatrixTable, Table
from suffice.tables.vocabulary import Vocabulary
from suffice.tables.word_rows import WordRows

__all__ = ["Coded", "CodedColumn", "Levels", "MatrixTable", "Table", "Vocabulary", "WordRows"]

"""Texts as bags of words, as SQL."""

from __future__ import annotations

from suffice.export.sql.cells import Cells
from suffice.export.sql.expressions import Operand
from suffice.families.formula import Words
from suffice.learning.scoring_rule import ScoredBlock

__all__ = ["scores_of_words"]


def scores_of_words(form: Words, cells: Cells, block: ScoredBlock) -> list[Operand]:
    raise NotImplementedError

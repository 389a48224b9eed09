"""Scores of columns that have a form each; `suffice.families.formula` has the formulas."""

from __future__ import annotations

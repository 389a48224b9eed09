"""The model: blocks of columns, their statistics, and a class prior.

    p(y | x) ∝ p(y) Π_blocks p(x_block | y)

A `Model` holds statistics: it learns, merges and forgets. `Model.estimate` turns it into an `Estimate`, which holds
parameters and scores rows. A `Conditional` is p(x | y) of one class.
"""

from suffice.model.block import Block
from suffice.model.conditional import Conditional, generator, row_count
from suffice.model.estimate import Estimate
from suffice.model.linear_form import LinearForm
from suffice.model.model import Model

__all__ = ["Block", "Conditional", "Estimate", "LinearForm", "Model", "generator", "row_count"]

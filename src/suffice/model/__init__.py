"""Models as values: blocks of columns, their statistics, and the class prior.

    p(y | x) ∝ p(y) Π_blocks p(x_block | y)

A `Model` holds statistics, so it can learn, be merged and forget. `Model.estimate` computes an `Estimate`, which holds
parameters and scores rows. A `Conditional` is the distribution p(x | y) of one class.
"""

from suffice.model.block import Block
from suffice.model.conditional import Conditional, generator, row_count
from suffice.model.estimate import Estimate
from suffice.model.linear_form import LinearForm
from suffice.model.model import Model

__all__ = ["Block", "Conditional", "Estimate", "LinearForm", "Model", "generator", "row_count"]

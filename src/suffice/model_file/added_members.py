"""Members that an ensemble did not have in the version that wrote a file.

They are added with a weight of zero, so the model predicts as it did. Their statistics are those of other members.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.exceptions import ModelFileError
from suffice.learning.calibration import Calibration
from suffice.model import Model
from suffice.model.parts import part_names, parts_of_blocks

__all__ = ["with_added_members", "without_added_members"]


def without_added_members(zero: Model, calibration: Calibration | None) -> Model:
    """The model of no rows that a file describes: its members are those that the calibration has weights of."""
    if calibration is None or not calibration.columns:
        return zero
    n_columns = len(part_names([block for block in zero.blocks if not block.member]))
    members = calibration.columns[n_columns:]
    pairs = zip(zero.blocks, zero.statistics, strict=True)
    kept = [(block, each) for block, each in pairs if not block.member or part_names([block])[0] in members]
    found = replace(zero, blocks=tuple(block for block, _ in kept), statistics=tuple(each for _, each in kept))
    if calibration.columns != part_names(found.blocks):
        raise ModelFileError("its calibration has weights of other columns")
    return found


def with_added_members(model: Model, calibration: Calibration | None, zero: Model) -> tuple[Model, Calibration | None]:
    """The model of a file with all members of ``zero``, and the calibration with a weight of zero for added ones."""
    if calibration is None or len(model.blocks) == len(zero.blocks):
        return model, calibration
    whole = model.with_members(zero.blocks)
    if whole is None:
        raise ModelFileError("its calibration has weights of other columns")
    names, places = part_names(zero.blocks), parts_of_blocks(zero.blocks)
    known = {id(block) for block in model.blocks}
    stored = [at for block, at in zip(zero.blocks, places, strict=True) if id(block) in known]
    weights = np.zeros(len(names))
    weights[np.sort(np.concatenate(stored))] = calibration.weights
    return whole, replace(calibration, columns=names, weights=weights)

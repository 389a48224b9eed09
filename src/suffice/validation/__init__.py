"""Rows judged by models that have not seen them, without fitting again.

`training_sets` are the models of the training rows of any splits, `left_out_joint` what the model of all other
rows says of each row; settings are chosen (`tune`) and probabilities mended (`Calibration`) by what they say.
An estimator is passed in, and asked how it makes parameters of a model.
"""

from suffice.validation.calibration import OFFSETS, Calibration, fit_isotonic, fit_temperature
from suffice.validation.left_out import alone, left_out_joint
from suffice.validation.rule import Rule
from suffice.validation.scores import BY_HAND, Scores, judge
from suffice.validation.splits import Split, fold_sets, folds_of, stratified_folds, together, training_sets
from suffice.validation.tuning import Tuning, tune, tune_in_steps

__all__ = [
    "BY_HAND",
    "OFFSETS",
    "Calibration",
    "Rule",
    "Scores",
    "Split",
    "Tuning",
    "alone",
    "fit_isotonic",
    "fit_temperature",
    "fold_sets",
    "folds_of",
    "judge",
    "left_out_joint",
    "stratified_folds",
    "together",
    "training_sets",
    "tune",
    "tune_in_steps",
]

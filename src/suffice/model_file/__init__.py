"""Model files: one file in the safetensors layout, with statistics, not parameters, and a checksum over all of it.

    estimator ──▶ `SavedModel` ──▶ values as JSON and arrays ──▶ one container ──▶ disk
    estimator ◀── `StoredModel` ◀── values of a closed set    ◀── one container ◀── disk

Reading runs no code that the file names. Each way has one module for each arrow: ``record``, ``values`` (with
``plain_values`` and ``arrays``), ``container``, ``disk``. A class of values that an estimator keeps is made known to
files with `storable`. The format is described in ``docs/model_files.md``.
"""

from suffice.model_file.record import ESTIMATORS, SavedModel, StoredModel, read_model, write_model
from suffice.model_file.values import storable

__all__ = ["ESTIMATORS", "SavedModel", "StoredModel", "read_model", "storable", "write_model"]

"""Model files: one file in the safetensors layout that holds statistics, not parameters, and a checksum.

    Fitted ──▶ JSON and arrays         ──▶ one container ──▶ disk
    Fitted ◀── values of a closed set  ◀── one container ◀── disk

Loading never runs code that the file names. Each arrow is one module, for both directions: ``record``, ``encoding``
(with ``scalars`` and ``arrays``), ``container``, ``disk``; ``validation`` checks what was read. Register a class whose
values `Fitted` holds with `storable`. ``docs/model_files.md`` describes the format.
"""

from suffice.model_file.encoding import storable
from suffice.model_file.record import model_bytes, model_of_bytes, read_model, write_model

__all__ = ["model_bytes", "model_of_bytes", "read_model", "storable", "write_model"]

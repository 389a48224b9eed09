"""`load`: a saved model, whatever estimator it is of."""

from __future__ import annotations

import os
from typing import Any

import suffice.discriminant_analysis
import suffice.naive_bayes  # noqa: F401  (both make their classes known to files)
from suffice.estimators.base import GenerativeClassifier
from suffice.exceptions import ModelFileError
from suffice.model_file import read_model
from suffice.model_file.disk import as_path

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> Any:
    """The model that `save` has written to a file.

    It gives the same answers, and goes on learning: it has the statistics of all rows seen. No code is run that the
    file names, and a file that is changed in a single byte is refused.

    Parameters
    ----------
    path : str or path-like
        Of a regular file.

    Returns
    -------
    estimator
        Of the class that was saved, with its parameters.

    Raises
    ------
    ModelFileError
        If it is not a model that Suffice has saved, is damaged, or was written by a newer Suffice.
    ModelFileMissingError
        If there is no file; it is also a ``FileNotFoundError``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import suffice
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "sizes.suffice"
    >>> suffice.NaiveBayes().fit([[1.0], [2.0], [8.0], [9.0]], ["small", "small", "large", "large"]).save(path)
    >>> model = suffice.load(path)
    >>> model.predict([[7.0]])
    array(['large'], dtype='<U5')
    >>> model.partial_fit([[100.0], [110.0]], ["huge", "huge"]).classes_.tolist()
    ['huge', 'large', 'small']
    >>> folder.cleanup()
    """
    text = as_path(path)
    try:
        stored = read_model(text)
        found: GenerativeClassifier = stored.estimator._of_file(stored)
        stored.finish()
    except ModelFileError as error:
        if repr(text) in str(error):
            raise
        raise _refused(text, error) from error
    except Exception as error:
        # A file whose checksum is right may still have been made by anyone: whatever its values break is the file's
        # fault, and no half-made model leaves this function.
        raise _refused(text, error) from error
    return found


def _refused(path: str, error: Exception) -> ModelFileError:
    why = str(error).rstrip(".") or type(error).__name__
    return ModelFileError(f"The file {path!r} holds no model that can be loaded: {why}. Save the model again.")

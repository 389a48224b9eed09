"""Models as files: what an estimator gives to a file, and how it is made from one again."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.exceptions import InputError, ModelFileError
from suffice.model import Block, Model
from suffice.model_file import SavedModel, StoredModel, write_model
from suffice.tables.table import Schema

__all__ = ["Saving"]


class Saving:
    """Saving and loading; mixed into `suffice.estimators.base.GenerativeClassifier`."""

    n_features_in_: int
    _schema: Schema | None
    _dtype: Any
    _stored: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_", "_dtype", "_declared")
    """Attributes that a file keeps beside the statistics; a subclass names its own."""

    if TYPE_CHECKING:

        def _learned(self) -> Model: ...
        def _take(self, model: Model) -> None: ...
        def _blocks(self, schema: Schema) -> list[Block]: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def _validate_params(self) -> None: ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, from which `suffice.load` makes it again.

        The file has the statistics of the rows seen, so that a loaded model goes on learning, merges, and takes other
        settings. It is replaced as a whole: a crash leaves the old file or the new one.

        Parameters
        ----------
        path : str or path-like
            A file that is there is replaced.

        Raises
        ------
        ModelFileError
            If the file cannot be written, or a parameter or level is of a type that it cannot hold.
        """
        write_model(path, self._for_file())

    def _for_file(self) -> SavedModel:
        model = self._learned()
        assert self._schema is not None
        try:
            model = model.with_blocks(self._blocks(self._schema))
        except ValueError as error:
            raise ModelFileError(
                f"This {type(self).__name__} cannot be saved: its settings were changed, and no longer go with what it "
                f"has learned. {error}"
            ) from error
        return SavedModel(
            self,
            self._plain_params(),
            self._schema,
            model.weights,
            model.statistics,
            Model.zero(model.blocks, model.classes).statistics,
            [block.names for block in model.blocks],
            {name: vars(self)[name] for name in self._stored_names() if name in vars(self)},
        )

    @classmethod
    def _of_file(cls, stored: StoredModel) -> Self:
        """The estimator of a file. Blocks are made anew, as in `merge`, and the statistics must go with them."""
        weights = stored.weights()  # with the class axis, which other values may share
        made = cls(**stored.parameters())
        made.__dict__.update(stored.attributes(cls._stored_names()))
        if hasattr(made, "_parameter_constraints"):
            made._validate_params()
        made._schema = schema = stored.schema()
        zero = Model.zero(made._blocks(schema), weights.classes)
        statistics = stored.statistics(zero.statistics, [block.names for block in zero.blocks])
        made._take(replace(zero, weights=weights, statistics=statistics))
        made._check_stored(schema)
        return made

    @classmethod
    def _stored_names(cls) -> list[str]:
        return [name for kind in reversed(cls.__mro__) for name in vars(kind).get("_stored", ())]

    def _plain_params(self) -> dict[str, Any]:
        """The parameters, as a file holds them."""
        params: dict[str, Any] = self.get_params(deep=False)
        return params

    def _check_stored(self, schema: Schema) -> None:
        """Raise if attributes that came from a file are none that fitting sets."""
        names = vars(self).get("feature_names_in_")
        if type(vars(self).get("n_features_in_")) is not int or self.n_features_in_ != len(schema):
            raise InputError(f"n_features_in_ is not {len(schema)}, the number of columns.")
        texts = isinstance(names, np.ndarray) and all(isinstance(name, str) for name in names.tolist())
        if names is not None and not (texts and names.shape == (len(schema),)):
            raise InputError("feature_names_in_ does not name the columns.")
        if "_dtype" in vars(self) and (not isinstance(self._dtype, np.dtype) or self._dtype.kind != "f"):
            raise InputError(f"{self._dtype!r} is not the type of rows.")

"""The models that are served."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import suffice.api  # noqa: F401  (registers the estimators)
from suffice.estimators import ESTIMATORS, GenerativeClassifier
from suffice.exceptions import InputError, ModelFileError, listed
from suffice.learning.fitted import Fitted
from suffice.model_file.record import read_model_and_digest
from suffice.server.problems import Problem
from suffice.server.settings import Settings, Verb

if TYPE_CHECKING:
    from suffice.server.log.learner import Learner
    from suffice.server.watching import Watch

__all__ = ["Host", "Hosts", "named_paths", "open_host"]

PAGE = "docs/serving.md"


@dataclass(eq=False)
class Host:
    """A model that is served.

    A learner replaces the fitted model in one step, so a request reads `fitted` once and never waits.

    Attributes
    ----------
    name : str
        In addresses.
    path : str
        Of the model file.
    settings : Settings
    unchanging : estimator
        The model of the file.
    learner : Learner, optional
        Changes the model, if clients may.
    watch : Watch, optional
        Compares predicted rows with the training rows.
    opened : float
        Seconds since 1970.
    count : callable
        Counts rows: called with the name of the model, what was done with the rows, and their number.
    reporting : asyncio.Lock
        Held while a report is computed, which takes long: other requests for it wait without a thread.
    """

    name: str
    path: str
    settings: Settings
    unchanging: GenerativeClassifier
    learner: Learner | None = None
    watch: Watch | None = None
    opened: float = field(default_factory=time.time)
    count: Callable[[str, Verb, int], None] = lambda name, verb, n: None
    reporting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def model(self) -> GenerativeClassifier:
        """The model as it is now."""
        return self.published[0]

    @property
    def fitted(self) -> Fitted:
        """The fitted model as it is now, as one immutable value."""
        return self.model.fitted_

    @property
    def published(self) -> tuple[GenerativeClassifier, int]:
        """The model as it is now, and its version: a number that increases with each change."""
        return (self.unchanging, 0) if self.learner is None else self.learner.published

    @property
    def version(self) -> int:
        """The version of the model as it is now."""
        return self.published[1]

    @property
    def target(self) -> str | None:
        """Name of the column of labels, if the model has learned from a source."""
        return self.fitted.target

    def answered(self, verb: Verb, n_rows: int, rows: Any = None, labels: Any = None) -> None:
        """Note that rows were answered or learned; rows that are given are watched. Any thread may call this.

        Parameters
        ----------
        verb : str
        n_rows : int
        rows : array-like, table or callable, optional
            As the methods of the model take them, or a function that returns them, which the watch calls.
        labels : array-like, optional
        """
        self.count(self.name, verb, n_rows)
        if rows is not None and self.watch is not None:
            self.watch.observe(rows, n_rows, labels)

    def close(self) -> None:
        """Finish what was acknowledged or waits, and release the files."""
        if self.learner is not None:
            self.learner.close()
        if self.watch is not None:
            self.watch.close()


class Hosts(Mapping[str, Host]):
    """All models that are served, by name."""

    def __init__(self, hosts: Iterable[Host]) -> None:
        self._hosts = {each.name: each for each in hosts}

    def __getitem__(self, name: str) -> Host:
        return self._hosts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._hosts)

    def __len__(self) -> int:
        return len(self._hosts)

    def named(self, name: str | None) -> Host:
        """The model with a name, or the only one; raises `Problem` if there is none."""
        if name is None:
            if len(self._hosts) == 1:
                return next(iter(self._hosts.values()))
            names = listed([f"/models/{each}" for each in self._hosts])
            raise Problem(404, f"This server has several models. Put one of these before the path: {names}.")
        if name not in self._hosts:
            raise Problem(404, f"There is no model {name!r:.80}. The models are {listed(list(self._hosts))}.")
        return self._hosts[name]

    def close(self) -> None:
        """Close all models."""
        for each in self._hosts.values():
            each.close()


def open_host(name: str, path: str, settings: Settings, state: str | None = None) -> Host:
    """Load a model, and what it has learned since, from ``state`` or the folder beside the model file."""
    fitted, digest = read_model_and_digest(path)
    model = ESTIMATORS[fitted.specification.estimator].from_fitted(fitted)
    host = Host(name, path, settings, model)
    if settings.learn:
        from suffice.server.log.learner import Learner

        folder = state if state is not None else f"{path}.state"
        try:
            host.learner = Learner.open(folder, model, base=digest, new_classes=settings.new_classes)
        except ModelFileError as error:
            error.page = PAGE  # the error is about the folder
            raise
    from suffice.server.watching import Watch

    try:
        host.watch = Watch(host.unchanging, settings)
    except BaseException:
        host.close()
        raise
    return host


def named_paths(arguments: Iterable[str]) -> dict[str, str]:
    """Paths of model files by the names of the models: NAME=PATH, or the name of the file.

    >>> named_paths(["models/spam.suffice", "flowers=iris.suffice"])
    {'spam': 'models/spam.suffice', 'flowers': 'iris.suffice'}
    """
    found: dict[str, str] = {}
    for each in arguments:
        name, equals, path = each.partition("=")
        if not equals or not _is_name(name):
            name, path = _name_of(each), each
        if name in found:
            raise InputError(
                f"Two models have the name {name!r}: {found[name]} and {path}. Name one of them: other={path}."
            )
        found[name] = path
    return found


def _name_of(path: str) -> str:
    stem = os.path.basename(path).removesuffix(".suffice")
    name = "".join(each if _is_name(each) else "-" for each in stem).strip("-")
    return name or "model"


def _is_name(name: str) -> bool:
    """Whether a name can stand in an address as it is."""
    return bool(name) and name.isascii() and all(each.isalnum() or each in "-_." for each in name) and name[0] != "."

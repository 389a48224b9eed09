"""Reading of all messages of each class into memory, for training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from suffice.exceptions import InputError, listed
from suffice.numerics.types import Array, Index
from suffice.text.mail.boxes import Paths, read_mails

__all__ = ["Mails", "load_mails"]

Label = TypeVar("Label")


@dataclass(frozen=True, repr=False)
class Mails:
    """Messages with their labels, and a summary of their faults.

    Attributes
    ----------
    texts : list of str
        Text of each message.
    labels : ndarray of shape (n_mails,)
        Class of each message.
    paths : list of str
        The file of each message, followed by ``#`` and its number if the file is an mbox.
    faults : dict of str to int
        Number of messages with each fault, such as a damaged encoding.
    faulty : ndarray of int
        Positions of the messages with faults.
    skipped : dict of str to int
        Number of skipped parts (attachments, images) of each type.

    See Also
    --------
    suffice.text.mail.load_mails : Reads the messages.
    suffice.TextNaiveBayes : Learns from ``texts`` and ``labels``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from suffice.text.mail import load_mails
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "win.eml"
    ...     _ = path.write_text("Subject: win")
    ...     mails = load_mails({"spam": path})
    >>> mails.texts, mails.labels.tolist(), pathlib.Path(mails.paths[0]).name, mails.faults
    (['win'], ['spam'], 'win.eml', {})
    """

    texts: list[str]
    labels: Array
    paths: list[str]
    faults: dict[str, int] = field(default_factory=dict)
    faulty: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    skipped: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        labels, counts = np.unique(self.labels, return_counts=True)
        of_each = ", ".join(f"{count:,} {label}" for label, count in zip(labels, counts, strict=True))
        empty = sum(not text for text in self.texts)
        return (
            f"Mails({len(self):,} read: {of_each}; {empty:,} without text; {len(self.faulty):,} with faults; "
            f"{sum(self.skipped.values()):,} attachments skipped)"
        )


def load_mails(
    sources: Mapping[Label, Paths],
    *,
    pattern: str = "*",
    kind: str = "auto",
    headers: bool | Iterable[str] = False,
    alternatives: str = "shown",
    max_bytes: int = 10_000_000,
    max_text_bytes: int = 1_000_000,
    max_attachment_bytes: int = 0,
) -> Mails:
    """Read all messages of each class into memory.

    Parameters
    ----------
    sources : dict of label to path or list of paths
        Files and folders of each class, such as ``{"ham": "archive", "spam": ["spam.mbox", "more-spam"]}``. The classes
        are read in this order.
    pattern, kind, headers, alternatives, max_bytes, max_text_bytes, max_attachment_bytes
        As in `read_mails`.

    Returns
    -------
    Mails
        Texts, labels, and a summary of the faults.

    See Also
    --------
    suffice.text.mail.read_mails : Reads one message at a time.
    suffice.TextNaiveBayes : Learns from the texts and labels.
    suffice.fit : Fits a model to a folder that has a subfolder for each class.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name)
    ...     _ = (folder / "good.eml").write_text("Subject: lunch")
    ...     _ = (folder / "bad.eml").write_text("Subject: win")
    ...     mails = load_mails({"ham": folder / "good.eml", "spam": folder / "bad.eml"})
    >>> mails
    Mails(2 read: 1 ham, 1 spam; 0 without text; 0 with faults; 0 attachments skipped)
    >>> mails.texts, mails.labels.tolist()
    (['lunch', 'win'], ['ham', 'spam'])
    """
    if not isinstance(sources, Mapping):
        raise InputError(
            f"sources must be a dict such as {{'ham': 'folder', 'spam': 'box.mbox'}}; got {type(sources).__name__}.",
            argument="sources",
        )
    if not sources:
        raise InputError("There is no mail to read: the dict of sources is empty.", argument="sources")
    names = list(sources)
    if len({type(name) for name in names}) > 1:
        raise InputError(f"The labels must have one type; got {listed(names)}.", argument="sources")
    labels = np.asarray(names)
    if labels.ndim != 1:
        raise InputError(
            f"Each label must be one value, such as a string; one of them is {names[0]!r:.80}.", argument="sources"
        )
    # All paths are checked before the first message is read.
    readers = [
        read_mails(
            paths,
            pattern=pattern,
            kind=kind,
            headers=headers,
            alternatives=alternatives,
            max_bytes=max_bytes,
            max_text_bytes=max_text_bytes,
            max_attachment_bytes=max_attachment_bytes,
        )
        for paths in sources.values()
    ]
    texts: list[str] = []
    paths: list[str] = []
    faulty: list[int] = []
    sizes: list[int] = []
    faults: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    class_of: dict[tuple[str | None, int | None], Label] = {}
    for name, reader in zip(names, readers, strict=True):
        before = len(texts)
        for mail in reader:
            key = mail.path, mail.number
            if mail.path is not None and key in class_of:
                first = class_of[key]
                problem = "is given twice" if first == name else f"belongs to two classes, {first!r} and {name!r}"
                raise InputError(
                    f"The file {mail.path!r} {problem}. Name each file once; a Maildir includes its subfolders.",
                    argument="sources",
                    file=mail.path,
                )
            class_of[key] = name
            if mail.faults:
                faulty.append(len(texts))
            faults.update(mail.faults)
            skipped.update(each.type for each in mail.skipped)
            texts.append(mail.text)
            paths.append(f"{mail.path}" if mail.number is None else f"{mail.path}#{mail.number}")
        sizes.append(len(texts) - before)
        if not sizes[-1]:
            raise InputError(
                f"Class {name!r:.80} has no mail: its files are empty. Remove the class.", argument="sources"
            )
    return Mails(
        texts,
        np.repeat(labels, sizes),
        paths,
        dict(faults.most_common()),
        np.array(faulty, dtype=np.intp),
        dict(skipped.most_common()),
    )

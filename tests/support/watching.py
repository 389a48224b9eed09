"""Counts how often rows are read. No clock is involved, so the result is the same on fast, slow and busy machines.

Rows are stored in their own memory pages. Every function of the compiled kernels is wrapped, and is assumed to read all
bytes of the rows that it gets. Reads elsewhere, by NumPy or BLAS, are detected by the processor's referenced bits of
pages (``/proc/self/smaps``, Linux), which are cleared after each kernel that got rows. One or several passes by NumPy
between two such kernels therefore count once: the result is never too high.
"""

import ctypes
import gc
import mmap
import re
import threading
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy import sparse

from suffice.kernels import _core

MARKS, PAGES = Path("/proc/self/clear_refs"), Path("/proc/self/smaps")


class Rows:
    """Rows in their own memory pages.

    Attributes
    ----------
    X : array or sparse matrix
    """

    def __init__(self, X):
        self._spans, self._marks = [], []
        if sparse.issparse(X):
            self.X = type(X)((self._laid(X.data), self._laid(X.indices), self._laid(X.indptr)), shape=X.shape)
            self.X.has_canonical_format = True
        else:
            self.X = self._laid(X)
        self.nbytes = sum(stop - start for start, stop in self._spans)

    def _laid(self, array):
        pages = mmap.mmap(-1, array.nbytes)  # shared, so that it is never merged with adjacent memory
        order = "F" if array.flags.f_contiguous else "C"
        out = np.ndarray(array.shape, array.dtype, buffer=pages, order=order)
        out[...] = array
        start = out.__array_interface__["data"][0]
        self._spans.append((start, start + array.nbytes))
        self._marks.append(re.compile(rb"^%08x-.*?^Referenced: *(\d+) kB$" % start, re.DOTALL | re.MULTILINE))
        return out

    def bytes_in(self, array):
        """Size of the array in bytes if it is part of the rows, else 0."""
        start = array.__array_interface__["data"][0]
        return array.nbytes if any(first <= start < last for first, last in self._spans) else 0

    def touched(self):
        """Bytes of the rows in pages that were read since the bits were cleared."""
        pages = PAGES.read_bytes()
        total = sum(1024 * int(each.search(pages)[1]) for each in self._marks)  # a mapping to each array
        return min(total, self.nbytes)


class Reads:
    """Reads of the rows while they were watched.

    Attributes
    ----------
    by_kernels, elsewhere : float
        How often the rows were read; 1 is one complete pass.
    handed : int
        Bytes of all arrays that kernels got, including the rows.
    """

    def __init__(self, rows, pages=True):
        self._rows, self._inside, self._lock = rows, 0, threading.Lock()
        self._sees_pages = pages and MARKS.exists() and PAGES.exists()
        self._bytes, self._elsewhere, self.handed = 0, 0, 0

    @property
    def by_kernels(self):
        return self._bytes / self._rows.nbytes

    @property
    def elsewhere(self):
        return self._elsewhere / self._rows.nbytes

    @property
    def times(self):
        return self.by_kernels + self.elsewhere

    def _add_touched(self):
        if self._sees_pages:
            self._elsewhere += self._rows.touched()

    def _clear_marks(self):
        if self._sees_pages:
            MARKS.write_text("1")

    def _wrapped(self, kernel):
        def call(*args, **kwargs):
            arrays = [each for each in (*args, *kwargs.values()) if isinstance(each, np.ndarray)]
            rows = sum(self._rows.bytes_in(each) for each in arrays)
            with self._lock:
                self.handed += sum(each.nbytes for each in arrays)
                self._bytes += rows
                if rows and self._inside == 0:
                    self._add_touched()
                self._inside += bool(rows)
            try:
                return kernel(*args, **kwargs)
            finally:
                with self._lock:
                    self._inside -= bool(rows)
                    if rows and self._inside == 0:
                        self._clear_marks()

        return call


@contextmanager
def watching(rows, monkeypatch, pages=True):
    """Count reads of the rows; yields `Reads`, which is complete when the block ends.

    Without ``pages`` it counts what kernels get, and no reads elsewhere.
    """
    reads = Reads(rows, pages)
    with monkeypatch.context() as patch:
        for name, kernel in vars(_core).items():
            if callable(kernel) and not isinstance(kernel, type):
                patch.setattr(_core, name, reads._wrapped(kernel))
        reads._clear_marks()
        yield reads
        reads._add_touched()


def allocated(run):
    """Peak memory of ``run`` in NumPy and Python, including its result, in bytes."""
    tracemalloc.start()
    try:
        result = run()
        del result
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def resident(run):
    """The result of ``run``, and its peak increase of resident memory in bytes, including C++ and BLAS.

    The increase is None if the system does not report it.
    """
    if not MARKS.exists():
        return run(), None
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)  # otherwise freed memory that is still resident would be reused unnoticed
    MARKS.write_text("5")
    before = _status("VmRSS")
    result = run()
    return result, _status("VmHWM") - before


def _status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(key)).split()[1])

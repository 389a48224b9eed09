"""Driver of the C++ functions, called directly: every argument may have another size, type or layout than expected.

The functions and the types of their arguments are those of ``_core.pyi``. The name of an argument tells its usual
shape, in rows ``n``, classes ``k``, columns ``d`` and stored cells ``c``.
"""

from __future__ import annotations

import ast
import math
import pathlib
import random
from typing import Any

import numpy as np
import polars as pl

from fuzz.hostile_values import NUMBERS, TEXTS, array
from fuzz.law import Driver
from suffice import kernels
from suffice.kernels import _core

__all__ = ["CORE"]

STUBS = ast.parse((pathlib.Path(kernels.__file__).parent / "_core.pyi").read_text())
FUNCTIONS = [each for each in STUBS.body if isinstance(each, ast.FunctionDef)]
SIZES = [-1, 0, 1, 2, 3, 7, 255, 256, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 5, 2**63 - 1, -(2**63), 2**64]
SHAPES = {
    **dict.fromkeys(["codes", "weights", "added", "least", "lengths"], "n"),
    **dict.fromkeys(["soft", "out", "scores", "rows", "joint"], "nk"),
    **dict.fromkeys(["mean", "mean_low", "m2", "m2_low", "squares", "squares_low", "square", "square_low"], "kd"),
    **dict.fromkeys(["weight", "weight_low", "scale", "log_norm", "variance", "inverse", "stretch", "per"], "kd"),
    **dict.fromkeys(["inverse_m2", "coef", "total", "total_low", "z", "z_low", "away", "sum", "sum_low"], "kd"),
    **dict.fromkeys(["slope", "zero", "never_more", "never_zero"], "dk"),
    **dict.fromkeys(["low", "high", "size", "missing", "parts", "origin"], "d"),
    **dict.fromkeys(["offset", "norm", "more", "zeros", "matrix_of"], "k"),
    **dict.fromkeys(["scatter", "scatter_low", "out_scatter", "out_scatter_low"], "kdd"),
    **dict.fromkeys(["indices", "values"], "c"),
    "bounds": "N",
    "offsets": "K",
    "data": "c",
    "text": "c",
    "bits": "n",
    "packed": "kp",
    "out_weight": "2k",
    "out_mean": "2kd",
    "part": "kd",
    "table": "tk",
    "at": "n",
    "ends": "n",
    "index": "n",
}
OTHER_SHAPES = {
    ("known_numbers", "out"): "n",
    ("join_moments", "out"): "6kd",
    ("pool_moments", "out"): "4d",
    ("grand_mean", "out"): "2d",
    ("grand_mean", "weight"): "k",
    ("centre_block", "out"): "nd",
    ("centre_block", "weight"): "k",
    ("scatter_pass", "weight"): "k",
    ("outer", "weight"): "k",
    ("outer", "weight_low"): "k",
    ("outer", "total"): "kdd",
    ("outer", "total_low"): "kdd",
    ("exact_scatter", "total"): "kdd",
    ("exact_scatter", "total_low"): "kdd",
    ("score_words", "slope"): "wk",
    ("scatter_pass", "total"): "kdd",
    ("scatter_pass", "total_low"): "kdd",
    ("class_counts", "total"): "kt",
    ("class_counts", "total_low"): "kt",
    ("code_counts", "total"): "k",
    ("linear_scores", "zero"): "kd",
    ("complete_symmetric", "high"): "kdd",
    ("complete_symmetric", "low"): "kdd",
    ("join_scatter", "weight"): "k",
    ("join_scatter", "weight_low"): "k",
}


class Call:
    """The sizes of one call, and arguments that usually agree with them."""

    def __init__(self, rng: random.Random, random_numbers: np.random.Generator, name: str) -> None:
        self.rng, self.random_numbers, self.name = rng, random_numbers, name
        n, k, d, c = (rng.choice([0, 1, 2, 5, rng.randrange(1, 40)]) for _ in range(4))
        if rng.random() < 0.02:
            n = 5000  # several blocks
        packed = sum(4 * min(i + 4, d) for i in range(0, d, 4))
        self.sizes = {"n": n, "k": k, "d": d, "c": c, "N": n + 1, "K": k + 1, "2": 2, "4": 4, "6": 6, "p": packed}
        self.sizes |= {"t": 5 * d, "w": 3}

    def argument(self, name: str, kind: str) -> Any:
        """An argument of a kind, as the stubs name it."""
        if "None" in kind and self.rng.random() < 0.4:
            return None
        if self.rng.random() < 0.03:
            return self.rng.choice([None, 3, "a", [], (), {}, np.float64(1), b"x", [np.zeros(2)], object()])
        made = {
            "int": lambda: self.integer(name),
            "bool": lambda: self.rng.random() < 0.5,
            "float": lambda: self.rng.choice(NUMBERS),
            "KernelRows": self.kernel_rows,
            "Documents": self.documents,
            "TokenRules": self.rules,
            "Lookup": self.lookup,
            "bytes": lambda: self.rng.randbytes(self.sizes["n"]),
            "object": lambda: self.objects(name),
        }
        return made.get(kind.removesuffix(" | None"), lambda: self.array(name, kind))()

    def integer(self, name: str) -> int:
        if self.rng.random() < 0.15:
            counted = name in ("classes", "slots")  # counts that the machine might have memory for
            return self.rng.choice([each for each in SIZES if not counted or each < 300 or each > 2**32])
        usual = {"rows": "n", "lines": "n", "width": "d", "classes": "k", "slots": "w"}
        marks = {
            "delimiter": 44,
            "quote": 34,
            "most": 10,
            "cell": self.rng.randrange(3),
            "output": self.rng.randrange(5),
        }
        return self.sizes[usual[name]] if name in usual else marks.get(name, self.rng.randrange(3))

    def shape(self, name: str) -> tuple[int, ...]:
        own = name.removeprefix("other_")
        axes = OTHER_SHAPES.get((self.name, own)) or SHAPES.get(own, "n")
        shape = tuple(self.sizes[axis] for axis in axes)
        if self.rng.random() < 0.04:
            at = self.rng.randrange(len(shape))
            shape = self.rng.choice(
                [shape[:-1], (*shape, 2), shape[::-1], (*shape[:at], shape[at] + 1, *shape[at + 1 :])]
            )
        return shape

    def array(self, name: str, kind: str) -> Any:
        shape = self.shape(name)
        types = [each for each in ("float64", "int64", "int32", "uint8") if each in kind] or ["f8", "i8", "i4"]
        dtype = np.dtype(self.rng.choice(types))
        if self.rng.random() < 0.03:
            dtype = np.dtype(self.rng.choice(["f4", "i4", "O", "c16", ">f8", "u2", "i8", "?", "M8[s]"]))
        if name in ("bounds", "ends") and self.rng.random() < 0.7:
            steps = self.random_numbers.integers(0, 3, shape)
            out = np.minimum(
                np.cumsum(steps.ravel()).reshape(shape) - (steps.flat[0] if steps.size else 0), self.sizes["c"]
            )
        elif dtype.kind == "f":
            out = self.random_numbers.normal(size=shape)
        else:
            most = {"codes": "k", "matrix_of": "k", "indices": "d", "at": "n", "index": "n"}.get(name)
            out = self.random_numbers.integers(0, max(1, self.sizes[most]) if most else 4, shape)
        out = out.astype(dtype) if dtype.kind not in "mMO" else np.zeros(shape, dtype)
        if out.size and self.rng.random() < 0.1 and dtype.kind in "fi":
            limits = NUMBERS if dtype.kind == "f" else [-1, np.iinfo(dtype).min, np.iinfo(dtype).max, 10**6]
            out.flat[self.rng.randrange(out.size)] = self.rng.choice(limits)
        if shape and self.rng.random() < 0.03:
            return self.rng.choice(
                [out[::-1], out.T, np.asfortranarray(out), np.broadcast_to(out[:1], shape), out.tolist()]
            )
        if self.rng.random() < 0.02:
            out.flags.writeable = False
        return out

    def kernel_rows(self) -> Any:
        n, d = self.sizes["n"], self.sizes["d"]
        how = self.rng.randrange(4)
        if self.name == "known_numbers":
            how, d = 3, 1
        if how < 2:
            types = ["f8", "f8", "f4", "i8", "u1", "?", "i2", "u8"]
            return self.random_numbers.integers(0, 4, (n, d)).astype(self.rng.choice(types))
        if how == 2:
            return array(self.rng, self.random_numbers, n, d)
        columns: list[Any] = [self.random_numbers.normal(size=n) for _ in range(d)]
        for j in range(d):
            if self.rng.random() < 0.3 and self.name != "known_numbers":
                bits = np.frombuffer(self.rng.randbytes((n + 7) // 8 + 1), dtype=np.uint8)
                columns[j] = (columns[j], bits, self.rng.choice([0, 1, 7, 8, *SIZES]))
        return columns

    def objects(self, name: str) -> Any:
        if name == "tokens":
            return [self.rng.choice([None, ["a", "b"], [], ["\ud800"], "ab", 3]) for _ in range(self.sizes["n"])]
        if name == "capsule":
            texts = [each if isinstance(each, str) and each.isascii() else None for each in TEXTS[:12]]
            return pl.Series(self.rng.choice([texts, [1.0, None], [True, False], [None]])).__arrow_c_stream__()
        return [self.rng.choice(TEXTS[:14]) for _ in range(self.sizes["n"])]

    def documents(self) -> Any:
        texts = [self.rng.choice(TEXTS[:14]) for _ in range(self.sizes["n"])]
        made = _core.documents_of_strings(texts)
        if self.rng.random() < 0.2:
            made = made.rows(0, self.rng.choice([len(made), *SIZES]))
        return made

    def rules(self) -> Any:
        least = self.rng.choice([1, 1, 2])
        most = self.rng.choice([least, least + 1, 7])
        length = self.rng.choice([1, 2, *SIZES[:10]])
        text, ends = np.frombuffer(b"oneto", dtype=np.uint8), np.array([3, 5])
        analyzer, lowercase = self.rng.randrange(3), self.rng.random() < 0.5
        fragments = (2, 4) if analyzer == 0 and least == 1 and self.rng.random() < 0.5 else (0, 0)
        return _core.token_rules(analyzer, lowercase, length, least, most, text, ends, False, *fragments)

    def lookup(self) -> Any:
        text, ends = np.frombuffer(b"oneothertwo", dtype=np.uint8), np.array([3, 8, 11])
        return _core.Lookup(text, ends, self.rng.choice([0, 0, 3]))


def call(rng: random.Random, random_numbers: np.random.Generator) -> object:
    """Call one function."""
    function = rng.choice(FUNCTIONS)
    made = Call(rng, random_numbers, function.name)
    kinds = {each.arg: ast.unparse(each.annotation) for each in function.args.args if each.annotation is not None}
    arguments = [made.argument(name, kind) for name, kind in kinds.items()]
    cells = [math.prod(each.shape) for each in arguments if isinstance(each, np.ndarray)]
    assert all(count < 10**7 for count in cells)
    return getattr(_core, function.name)(*arguments)


# A size that no machine has memory for is an error of the allocation.
CORE = Driver("core", call, also=(MemoryError,))

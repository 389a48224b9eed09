from typing import Any

from numpy import float64, int64, uint8
from numpy.typing import NDArray

from suffice.kernels.reading import Numbers

def instruction_set() -> str: ...
def arrow_column(capsule: object) -> tuple[NDArray[Any], NDArray[uint8], int] | None: ...
def known_numbers(values: list[NDArray[Any]], bits: NDArray[uint8], first: int, out: NDArray[float64]) -> None: ...
def value_ranges(
    x: Numbers,
    low: NDArray[float64],
    high: NDArray[float64],
    missing: NDArray[uint8],
    parts: NDArray[uint8],
) -> None: ...
def class_counts(
    x: Numbers,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    low: NDArray[int64],
    size: NDArray[int64],
    total: NDArray[float64],
    total_low: NDArray[float64],
) -> None: ...
def table_sums(
    x: Numbers, low: NDArray[int64], size: NDArray[int64], table: NDArray[float64], out: NDArray[float64]
) -> None: ...
def class_sums(
    x: Numbers,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    total: NDArray[float64],
) -> None: ...
def class_moments(
    x: Numbers,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    missing: bool,
    weight: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    m2: NDArray[float64],
    m2_low: NDArray[float64],
) -> None: ...
def centre_block(
    x: Numbers,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    weight: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    squares: NDArray[float64],
    squares_low: NDArray[float64],
    offsets: NDArray[int64],
    out: NDArray[float64],
) -> None: ...
def outer(
    weight: NDArray[float64],
    weight_low: NDArray[float64],
    z: NDArray[float64],
    z_low: NDArray[float64],
    total: NDArray[float64],
    total_low: NDArray[float64],
) -> None: ...
def exact_scatter(
    x: Numbers,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    total: NDArray[float64],
    total_low: NDArray[float64],
) -> None: ...
def exact_moments(
    x: Numbers,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    missing: bool,
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    total: NDArray[float64],
    total_low: NDArray[float64],
    square: NDArray[float64],
    square_low: NDArray[float64],
) -> None: ...
def accumulate(part: NDArray[float64], total: NDArray[float64], total_low: NDArray[float64]) -> None: ...
def diagonal_log_likelihood(
    x: Numbers,
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    scale: NDArray[float64],
    log_norm: NDArray[float64],
    missing: bool,
    out: NDArray[float64],
) -> None: ...
def left_out(
    x: Numbers,
    codes: NDArray[int64],
    weights: NDArray[float64] | None,
    added: NDArray[float64] | None,
    weight: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    m2: NDArray[float64],
    variance: NDArray[float64],
    inverse: NDArray[float64],
    log_norm: NDArray[float64],
    stretch: NDArray[float64],
    per: NDArray[float64],
    inverse_m2: NDArray[float64],
    lost: float,
    others: bool,
    out: NDArray[float64],
    least: NDArray[float64],
) -> None: ...

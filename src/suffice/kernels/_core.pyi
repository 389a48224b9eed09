from numpy import float64, int32, int64, uint8, uint32
from numpy.typing import NDArray

from suffice.kernels.reading import Array, KernelRows

def instruction_set() -> str: ...
def thread_count(tasks: int, /) -> int: ...
def limit_threads(count: int, /) -> None: ...
def arrow_truths(capsule: object) -> NDArray[uint8] | None: ...
def arrow_column(capsule: object) -> tuple[Array, NDArray[uint8], int] | None: ...
def known_numbers(values: KernelRows, bits: NDArray[uint8], first: int, out: NDArray[float64]) -> None: ...
def bin_counts(
    x: KernelRows,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    classes: int,
    cuts: NDArray[float64],
) -> tuple[NDArray[float64], NDArray[int64], NDArray[int64], NDArray[int64]]: ...
def value_ranges(
    x: KernelRows,
    low: NDArray[float64],
    high: NDArray[float64],
    missing: NDArray[uint8],
    parts: NDArray[uint8],
) -> None: ...
def code_range(codes: NDArray[int64]) -> tuple[int, int]: ...
def code_counts(codes: NDArray[int64], total: NDArray[int64]) -> int: ...
def class_counts(
    x: KernelRows,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    low: NDArray[int64],
    size: NDArray[int64],
    total: NDArray[float64],
    total_low: NDArray[float64],
) -> None: ...
def table_sums(
    x: KernelRows, low: NDArray[int64], size: NDArray[int64], table: NDArray[float64], out: NDArray[float64]
) -> None: ...
def class_sums(
    x: KernelRows,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    cell: int,
    threshold: float,
    with_flags: bool,
    total: NDArray[float64],
) -> int: ...
def sparse_sums(
    bounds: Array,
    indices: Array,
    values: Array,
    rows: int,
    by_column: bool,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    cell: int,
    threshold: float,
    total: NDArray[float64],
) -> int: ...
def sparse_scores(
    bounds: Array,
    indices: Array,
    values: Array,
    offset: NDArray[float64],
    slope: NDArray[float64],
    zero: NDArray[float64] | None,
    never_more: NDArray[uint8] | None,
    never_zero: NDArray[uint8] | None,
    zeros: NDArray[int64] | None,
    cell: int,
    threshold: float,
    missing: bool,
    out: NDArray[float64],
) -> int: ...
def fixed_width_codes(text: NDArray[uint32], codes: NDArray[int64]) -> NDArray[int64]: ...
def string_codes(labels: Array | list[str], codes: NDArray[int64]) -> NDArray[int64]: ...
def rising_scores(
    bounds: NDArray[int64],
    indices: NDArray[int64],
    draws: NDArray[float64],
    own: NDArray[float64],
    codes: NDArray[int64],
    start: NDArray[float64],
    log: NDArray[float64],
    inverse: NDArray[float64],
    out: NDArray[float64],
) -> None: ...
def pair_counts(
    cells: NDArray[int32],
    parents: NDArray[int64],
    shift: NDArray[int64],
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    pairs: NDArray[float64],
    single: NDArray[float64],
) -> None: ...
def knot_scores(
    values: NDArray[float64],
    at: NDArray[float64],
    table: NDArray[float64],
    weight: float,
    lines: bool,
    out: NDArray[float64],
) -> None: ...
def pair_scores(
    cells: NDArray[int32],
    parents: NDArray[int64],
    shift: NDArray[int64],
    pairs: NDArray[float64],
    single: NDArray[float64],
    pooled: NDArray[float64],
    least: float,
    out: NDArray[float64],
) -> None: ...
def interval_cells(
    x: KernelRows,
    cuts: NDArray[float64],
    first: NDArray[int32],
    missing: NDArray[int32],
    columns: NDArray[int64],
    out: NDArray[int32],
) -> None: ...
def cell_ends(
    x: KernelRows,
    cells: NDArray[int32],
    columns: NDArray[int64],
    absent: NDArray[uint8] | None,
    low: NDArray[float64],
    high: NDArray[float64],
) -> None: ...
def held_out_pair_scores(
    cells: NDArray[int32],
    parents: NDArray[int64],
    shift: NDArray[int64],
    pairs: NDArray[float64],
    single: NDArray[float64],
    weight: NDArray[float64],
    pooled: NDArray[float64],
    smoothing: float,
    marginal: float,
    own: NDArray[int64],
    own_weights: NDArray[float64],
    out: NDArray[float64],
) -> None: ...
def quantiles(x: KernelRows, out: NDArray[float64]) -> None: ...
def tempered_loss(
    z: NDArray[float64],
    codes: NDArray[int64],
    weights: NDArray[float64],
    prior: NDArray[float64],
    slope: float,
    offset: NDArray[float64],
    share: float,
    out: NDArray[float64],
) -> None: ...
def join_row(
    out: NDArray[float64],
    pooled: NDArray[float64],
    weight: NDArray[float64],
    weight_low: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    m2: NDArray[float64],
    m2_low: NDArray[float64],
    row: NDArray[float64],
    code: int,
) -> bool: ...
def join_row_scatter(
    out_weight: NDArray[float64],
    out_mean: NDArray[float64],
    out_scatter: NDArray[float64],
    out_scatter_low: NDArray[float64],
    grand: NDArray[float64],
    away: NDArray[float64],
    weight: NDArray[float64],
    weight_low: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    scatter: NDArray[float64],
    scatter_low: NDArray[float64],
    row: NDArray[float64],
    code: int,
) -> int: ...
def has_sorted_indices(bounds: Array, indices: Array, lines: int, width: int) -> bool: ...
def class_moments(
    x: KernelRows,
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
    x: KernelRows,
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
def scatter_pass(
    x: KernelRows,
    codes: NDArray[int64],
    weights: NDArray[float64] | None,
    matrix_of: NDArray[int64],
    weight: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    squares: NDArray[float64],
    squares_low: NDArray[float64],
    total: NDArray[float64],
    total_low: NDArray[float64],
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
    x: KernelRows,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    total: NDArray[float64],
    total_low: NDArray[float64],
) -> None: ...
def exact_moments(
    x: KernelRows,
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
def add_moved(
    out: NDArray[float64],
    sign: float,
    *arrays: NDArray[float64],
) -> None: ...
def diagonal_log_likelihood(
    x: KernelRows,
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    scale: NDArray[float64],
    log_norm: NDArray[float64],
    missing: bool,
    output: int,
    more: NDArray[float64] | None,
    out: Array,
) -> int: ...
def held_out_log_likelihood(
    x: KernelRows,
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
def full_log_likelihood(
    x: KernelRows,
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    packed: NDArray[float64],
    norm: NDArray[float64],
    output: int,
    more: NDArray[float64] | None,
    out: Array,
) -> int: ...
def linear_scores(
    x: KernelRows,
    coef: NDArray[float64],
    offset: NDArray[float64],
    origin: NDArray[float64] | None,
    zero: NDArray[float64] | None,
    threshold: float | None,
    output: int,
    more: NDArray[float64] | None,
    out: Array,
) -> tuple[int, int]: ...
def refine_moments(
    x: KernelRows,
    codes: NDArray[int64] | None,
    soft: NDArray[float64] | None,
    weights: NDArray[float64] | None,
    missing: bool,
    weight: NDArray[float64],
    weight_low: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    m2: NDArray[float64],
    m2_low: NDArray[float64],
) -> None: ...
def join_moments(
    out: NDArray[float64],
    weight: NDArray[float64],
    weight_low: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    m2: NDArray[float64],
    m2_low: NDArray[float64],
    other_weight: NDArray[float64],
    other_weight_low: NDArray[float64],
    other_mean: NDArray[float64],
    other_mean_low: NDArray[float64],
    other_m2: NDArray[float64],
    other_m2_low: NDArray[float64],
) -> None: ...
def pool_moments(
    out: NDArray[float64],
    weight: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    m2: NDArray[float64],
) -> bool: ...
def complete_symmetric(high: NDArray[float64], low: NDArray[float64]) -> None: ...
def join_scatter(
    out_weight: NDArray[float64],
    out_mean: NDArray[float64],
    out_scatter: NDArray[float64],
    out_scatter_low: NDArray[float64],
    weight: NDArray[float64],
    weight_low: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    scatter: NDArray[float64],
    scatter_low: NDArray[float64],
    other_weight: NDArray[float64],
    other_weight_low: NDArray[float64],
    other_mean: NDArray[float64],
    other_mean_low: NDArray[float64],
    other_scatter: NDArray[float64],
    other_scatter_low: NDArray[float64],
) -> None: ...
def grand_mean(
    out: NDArray[float64],
    away: NDArray[float64],
    weight: NDArray[float64],
    mean: NDArray[float64],
    mean_low: NDArray[float64],
    scatter: NDArray[float64],
) -> int: ...
def add_to_rows(offset: NDArray[float64], rows: NDArray[float64]) -> None: ...
def write_posterior(joint: NDArray[float64], output: int, out: Array) -> int: ...
def last_record(data: NDArray[uint8], delimiter: int, quote: int) -> tuple[int, int, bool]: ...
def records(
    data: NDArray[uint8], delimiter: int, quote: int, most: int
) -> tuple[NDArray[int64], NDArray[int64], NDArray[int64]]: ...
def count_lines(data: NDArray[uint8]) -> int: ...

class Documents:
    def __len__(self) -> int: ...
    def bytes(self) -> int: ...
    def missing(self) -> NDArray[uint8]: ...
    def sizes(self) -> NDArray[int64]: ...
    def bad_bytes(self) -> NDArray[int64]: ...
    def rows(self, start: int, stop: int) -> Documents: ...
    def take(self, index: NDArray[int64]) -> Documents: ...

class TokenRules: ...

class Lookup:
    def __init__(self, text: NDArray[uint8], ends: NDArray[int64], slots: int) -> None: ...
    def __len__(self) -> int: ...

def token_rules(
    analyzer: int,
    lowercase: bool,
    min_length: int,
    least: int,
    most: int,
    text: NDArray[uint8],
    ends: NDArray[int64],
    punctuation: bool,
    shortest: int,
    longest: int,
) -> TokenRules: ...
def documents_of_strings(texts: object) -> Documents: ...
def documents_of_tokens(tokens: object) -> Documents: ...
def documents_of_arrow(capsule: object) -> Documents | None: ...
def count_words(
    documents: Documents, rules: TokenRules, codes: NDArray[int64], classes: int
) -> tuple[tuple[NDArray[uint8], NDArray[int64]], NDArray[float64], NDArray[float64]]: ...
def count_slots(
    documents: Documents, rules: TokenRules, codes: NDArray[int64], classes: int, slots: int
) -> tuple[NDArray[float64], NDArray[float64]]: ...
def encode_words(
    documents: Documents, rules: TokenRules, lookup: Lookup | None
) -> tuple[tuple[NDArray[uint8], NDArray[int64]] | None, NDArray[int64], NDArray[int32], NDArray[int64]]: ...
def score_words(
    documents: Documents,
    rules: TokenRules,
    lookup: Lookup,
    slope: NDArray[float64],
    distinct: bool,
    scores: NDArray[float64],
    lengths: NDArray[float64],
) -> None: ...
def document_words(documents: Documents, rules: TokenRules, row: int) -> list[str]: ...
def join_words(
    text: NDArray[uint8], ends: NDArray[int64], other_text: NDArray[uint8], other_ends: NDArray[int64]
) -> tuple[tuple[NDArray[uint8], NDArray[int64]], NDArray[int64], NDArray[int64]]: ...
def word_positions(
    text: NDArray[uint8], ends: NDArray[int64], other_text: NDArray[uint8], other_ends: NDArray[int64]
) -> NDArray[int64]: ...
def take_words(
    text: NDArray[uint8], ends: NDArray[int64], at: NDArray[int64]
) -> tuple[NDArray[uint8], NDArray[int64]]: ...
def first_unsorted(text: NDArray[uint8], ends: NDArray[int64]) -> int: ...
def word_hash(word: bytes) -> int: ...

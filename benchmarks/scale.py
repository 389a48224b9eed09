"""How fits on many machines scale: measured costs of models and tasks, and a simulation of larger clusters.

    python benchmarks/scale.py DATA                              DATA has lingspam/bare.jsonl.gz
    python benchmarks/scale.py DATA --markdown docs/scale.md     tables between the markers of the page

The costs of a model are measured on the functions that workers run, in one process. The costs of a task are measured
on Spark with two executors. The simulation (`scale_simulation.py`) uses these costs and the assumptions of `Cluster`.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from cluster_spark import session
from filters import rows_of
from pages import place
from scale_models import Cost, costs
from scale_simulation import GROUP, LEVELS, Cluster, simulated
from suffice import TextNaiveBayes

WORKERS = (10, 100, 1000)
SIZES = {1e9: 1e6, 1e12: 1e7}
"""Rows, and rows of a partition."""
TASKS = 4000
SIMULATED = ("naive Bayes, 20 numbers", "own covariances, 200 numbers", "text, 2²⁰ slots")
DOCUMENTS = (1e6, 1e9)

Table = list[list[str]]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path, nargs="?", default=Path("../shared/data"))
    options.add_argument("--markdown", metavar="PAGE", type=Path, help="write the tables into this page")
    chosen = options.parse_args()
    launch, overhead = task_seconds()
    with threadpool_limits(1):
        measured = costs()
    parts = [
        "### Models\n\n" + markdown(cost_table(measured)),
        f"A task of Spark costs the driver {1e3 * launch:.2f} ms, and a worker {1e3 * overhead:.1f} ms.",
        "### Merges\n\n" + markdown(merge_table(measured)),
        "### Simulated clusters\n\n" + markdown(simulation_table(measured, launch, overhead)),
        "### The driver\n\n" + markdown(driver_table(measured, launch)),
        "### Dictionaries\n\n" + markdown(dictionary_table(chosen.data, measured)),
    ]
    text = "\n\n".join(parts)
    print(text)
    if chosen.markdown:
        place(chosen.markdown, "scale.py", text)


def markdown(table: Table) -> str:
    head, *rows = table
    rule = ["---", *(["---:"] * (len(head) - 1))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def size(number: float) -> str:
    """Bytes with a unit and two digits."""
    for unit, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= unit:
            return f"{number / unit:.{0 if number >= 10 * unit else 1}f} {name}"
    return f"{number:.0f} B"


def duration(seconds: float) -> str:
    for unit, name in ((3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.{0 if seconds >= 10 * unit else 1}f} {name}"
    return f"{1e9 * seconds:.0f} ns"


# ---------------------------------------------------------------------- measured


def task_seconds() -> tuple[float, float]:
    """Seconds of the driver to launch a task, and of a worker for a task that calls Python."""
    with session(1, 2) as spark:
        spark.range(0, TASKS, 1, TASKS).selectExpr("sum(id)").collect()
        begun = time.perf_counter()
        spark.range(0, TASKS, 1, TASKS).selectExpr("sum(id)").collect()
        launch = (time.perf_counter() - begun) / TASKS
        few = TASKS // 4
        spark.range(0, few, 1, few).mapInArrow(unchanged, "id long").selectExpr("sum(id)").collect()
        begun = time.perf_counter()
        spark.range(0, few, 1, few).mapInArrow(unchanged, "id long").selectExpr("sum(id)").collect()
        overhead = 2 * (time.perf_counter() - begun) / few
    return launch, overhead


def unchanged(batches):
    yield from batches


def cost_table(measured: list[Cost]) -> Table:
    rows = [["model", "bytes of a row", "sent to a task", "summary", "a row", "a merge", "on the driver"]]
    for each in measured:
        bytes_of = [f"{each.row_bytes:.0f}", size(each.sent), size(each.summary)]
        seconds = (each.row_seconds, each.merge_seconds, each.driver_seconds)
        rows.append([each.name, *bytes_of, *map(duration, seconds)])
    return rows


def merge_table(measured: list[Cost]) -> Table:
    """Merges on the way of one row, bytes over the network, and summaries that reach the driver."""
    rows = [["partitions", "merges in a row", "to the driver", *(f"network, {each.name}" for each in chosen(measured))]]
    for partitions in (100, 10_000, 1_000_000):
        parts, total, depth = partitions, partitions, 0
        for _ in range(LEVELS):
            depth += math.ceil(math.log2(min(GROUP, parts)))
            parts = math.ceil(parts / GROUP)
            total += parts
        depth += math.ceil(math.log2(parts)) if parts > 1 else 0
        volumes = [size(total * each.summary + partitions * each.sent) for each in chosen(measured)]
        rows.append([f"{partitions:,}", str(depth), str(parts), *volumes])
    return rows


def chosen(measured: list[Cost]) -> list[Cost]:
    return [each for each in measured if each.name in SIMULATED]


# ---------------------------------------------------------------------- simulated


def simulation_table(measured: list[Cost], launch: float, overhead: float) -> Table:
    rows = [["model", "rows", "workers", "summarise", "merge", "driver", "total", "efficiency", "without stragglers"]]
    for each in chosen(measured):
        for n, of_a_partition in SIZES.items():
            for workers in WORKERS:
                cluster = Cluster(workers, launch, overhead)
                even = Cluster(workers, launch, overhead, slow=0.0, spread=0.0)
                partitions = int(n / of_a_partition)
                run = simulated(each, cluster, n, partitions)
                best = simulated(each, even, n, partitions)
                stages = (run.summarise, run.merge, run.driver, run.total)
                rows.append(
                    [
                        each.name,
                        f"10{str(int(math.log10(n))).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}",
                        f"{workers:,}",
                        *map(duration, stages),
                        f"{run.efficiency:.0%}",
                        f"{best.efficiency:.0%}",
                    ]
                )
    return rows


def driver_table(measured: list[Cost], launch: float) -> Table:
    """Seconds of the driver by partitions: to launch tasks, for the merged summaries, and for all summaries at once."""
    rows = [["model", "partitions", "launch", "merged in groups", "all on the driver"]]
    for each in chosen(measured):
        for partitions in (10_000, 1_000_000):
            one = each.driver_seconds + each.summary / Cluster.network
            groups = math.ceil(partitions / GROUP**LEVELS)
            counts = f"{partitions:,}"
            rows.append(
                [each.name, counts, duration(partitions * launch), duration(groups * one), duration(partitions * one)]
            )
    return rows


def dictionary_table(data: Path, measured: list[Cost]) -> Table:
    """The number of words by documents, its extrapolation, and the bytes of the model and of one with slots."""
    texts = [row["text"] for row in rows_of(data / "lingspam" / "bare.jsonl.gz")]
    order = np.random.default_rng(0).permutation(len(texts))
    labels = np.arange(len(texts)) % 2
    rows = [["documents", "words", "dictionary", "2²⁰ slots"]]
    sizes, words = [100, 300, 1000, len(texts)], []
    for n in sizes:
        some = [texts[i] for i in order[:n]]
        model = TextNaiveBayes(max_words=None).fit(some, labels[:n])
        hashed = TextNaiveBayes(max_words=None, slots=2**20).fit(some, labels[:n])
        words.append(len(model.vocabulary_))
        of_word = len(model.to_bytes()) / words[-1]
        of_slots = len(hashed.to_bytes())
        rows.append([f"{n:,}", f"{words[-1]:,}", size(of_word * words[-1]), size(of_slots)])
    power, scale = np.polyfit(np.log(sizes), np.log(words), 1)
    for n in DOCUMENTS:
        count = math.exp(scale + power * math.log(n))
        name = f"{n:,.0f} (extrapolated, words ∝ documents^{power:.2f})"
        rows.append([name, f"{count:,.0f}", size(of_word * count), size(of_slots)])
    return rows


if __name__ == "__main__":
    main()

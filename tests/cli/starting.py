"""Processes of the command that start quickly: forks of a process that has imported what the commands need."""

import multiprocessing
import os
import sys

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        *(f"suffice.cli.{name}" for name in ("group", "fit", "predict", "evaluate", "explain", "remove", "merge")),
        *("suffice.cli.compare", "suffice.cli.saved_model", "suffice.api", "suffice.comparison"),
        *("suffice.naive_bayes", "suffice.discriminant_analysis", "suffice.sources.files", "suffice.model_file"),
        *("suffice.cli.monitor", "suffice.monitoring.history_file", "suffice.monitoring.rendering"),
        *("sklearn.metrics", "sklearn.linear_model", "sklearn.pipeline", "sklearn.impute", "sklearn.compose"),
        *("pyarrow.csv", "pyarrow.parquet", "safetensors.numpy"),
    ]
)


def start(words, stdin=os.devnull, stdout=os.devnull, stderr=os.devnull):
    """Start the command in the current folder, with files or named pipes as its streams; return the process."""
    process = CONTEXT.Process(target=_run, args=(words, os.getcwd(), stdin, stdout, stderr))
    process.start()
    return process


def _run(words, folder, *streams):
    os.chdir(folder)
    for number, path in enumerate(streams):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC if number else os.O_RDONLY, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    # As in a new process.
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.argv = ["suffice", *words]
    from suffice.cli import main

    main()

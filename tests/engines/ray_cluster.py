"""Ray for tests: two worker processes on the loopback interface, stopped at the end."""

import contextlib
import itertools
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import ray
import ray.data
from ray._private import ray_constants

WARNINGS = (
    "ignore:`use_(push_based_shuffle|polars|arrow_tensor_v2)` is deprecated:DeprecationWarning",
    "ignore:Use 'expr' instead of 'fn':UserWarning",
)
"""Filters for warnings that Ray causes itself."""
OBJECT_STORE = 300 << 20
VARIABLES = {
    "PYTHONPATH": os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")])),
    "RAY_memory_monitor_refresh_ms": "0",  # a worker is not killed because other programs need memory
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # no cluster of machines, so all servers listen on 127.0.0.1
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "60",
}


@contextlib.contextmanager
def ray_cluster(n_workers: int = 2) -> Iterator[None]:
    """A cluster of this process and some workers with one core each; a worker that dies is replaced."""
    home = Path(tempfile.mkdtemp(prefix="suffice-ray-"))
    before, clusters = {name: os.environ.get(name) for name in VARIABLES}, ray_constants.ENABLE_RAY_CLUSTER
    os.environ.update(VARIABLES)
    ray_constants.ENABLE_RAY_CLUSTER = False  # read from the environment when Ray was imported
    try:
        ray.init(
            num_cpus=n_workers,
            object_store_memory=OBJECT_STORE,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.CRITICAL,
            _temp_dir=str(home),
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        for name in ("ray.data", "ray"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        yield
    finally:
        ray.shutdown()
        ray_constants.ENABLE_RAY_CLUSTER = clusters
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        shutil.rmtree(home, ignore_errors=True)


def blocks_of(table: pa.Table, n_blocks: int) -> ray.data.Dataset:
    """A dataset of so many blocks, of about equal numbers of rows."""
    ends = [round(i * table.num_rows / n_blocks) for i in range(n_blocks + 1)]
    parts = [table.slice(start, end - start) for start, end in itertools.pairwise(ends)]
    return ray.data.from_arrow(parts)

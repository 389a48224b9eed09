"""Spark for tests: a driver and two worker processes on the loopback interface, stopped at the end."""

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyspark
from pyspark import SparkContext
from pyspark.sql import SparkSession

TWO_WORKERS = "local-cluster[2,1,1024]"
"""Two executors, each a process with one core; a lost process is replaced."""
SECONDS_TO_STOP = 60
PANDAS_3 = "ignore:PySpark does not yet fully support pandas:FutureWarning"
"""A filter for the warning of PySpark that functions on Arrow tables show, too."""
QUIET = """
rootLogger.level = off
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
"""
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "512m",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextlib.contextmanager
def spark_session(settings: dict[str, str] | None = None, *, master: str = TWO_WORKERS) -> Iterator[SparkSession]:
    """A session with a JVM of its own."""
    home = Path(tempfile.mkdtemp(prefix="suffice-spark-"))
    try:
        with environment(home):
            builder = SparkSession.builder.master(master).appName("tests of Suffice")
            chosen = SETTINGS | {"spark.local.dir": str(home / "local")} | (settings or {})
            for name, value in chosen.items():
                builder = builder.config(name, value)
            try:
                yield builder.getOrCreate()
            finally:
                _stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def environment(home: Path) -> Iterator[None]:
    """The variables of Spark; its programs are links in a folder that also takes what it writes."""
    installed = Path(pyspark.__file__).parent
    for name in ("bin", "jars", "sbin"):
        (home / name).symlink_to(installed / name)
    (home / "conf").mkdir()
    (home / "conf" / "log4j2.properties").write_text(QUIET)
    tests = str(Path(__file__).parents[1])  # whose functions run on workers, too
    ours = {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, [tests, os.environ.get("PYTHONPATH")])),
    }
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _stop() -> None:
    """Stop the session, its executors and its JVM."""
    session, gateway = SparkSession.getActiveSession(), SparkContext._gateway
    if session is not None:
        session.stop()
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends when its input does
    gateway.proc.wait(SECONDS_TO_STOP)
    SparkContext._gateway = SparkContext._jvm = None

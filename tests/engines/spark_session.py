"""Spark and Spark Connect for tests: two worker processes on the loopback interface, stopped at the end."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
from pyspark import SparkContext
from pyspark.sql import SparkSession

TWO_WORKERS = "local-cluster[2,1,1024]"
"""Two executors, each a process with one core; a lost process is replaced."""
SECONDS_TO_START, SECONDS_TO_STOP = 300, 120
PANDAS_3 = "ignore:PySpark does not yet fully support pandas:FutureWarning"
"""A filter for the warning of PySpark that functions on Arrow tables show, too."""
CONNECT_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
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
            for name, value in (_settings(home) | (settings or {})).items():
                builder = builder.config(name, value)
            session = builder.getOrCreate()
            try:
                yield session
            finally:
                _stop(session)
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def connect_session(*, master: str = TWO_WORKERS) -> Iterator[SparkSession]:
    """A session of Spark Connect, whose server is another process."""
    home = Path(tempfile.mkdtemp(prefix="suffice-connect-"))
    try:
        with environment(home), socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            free.close()
            address = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port)}
            settings = [f"--conf={name}={value}" for name, value in (_settings(home) | address).items()]
            command = [str(home / "bin" / "spark-submit"), "--class", CONNECT_SERVER, "--master", master, *settings]
            with (home / "log").open("w") as log:
                server = subprocess.Popen([*command, "spark-internal"], stdout=log, stderr=subprocess.STDOUT)
            try:
                _wait_for(port, server, home / "log")
                session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
                yield session
                session.stop()
            finally:
                os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)  # or the next session would be remote, too
                server.terminate()
                server.wait(SECONDS_TO_STOP)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server accepts connections."""
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        if server.poll() is not None:
            raise RuntimeError(f"The server of Spark Connect ended: {log.read_text()[-2000:]}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise TimeoutError(f"The server of Spark Connect did not start: {log.read_text()[-2000:]}")


def _settings(home: Path) -> dict[str, str]:
    return SETTINGS | {"spark.local.dir": str(home / "local")}


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


def _stop(session: SparkSession) -> None:
    """Stop a session, its executors and its JVM."""
    gateway = SparkContext._gateway
    session.stop()  # it need not be the active one of this thread
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends when its input does
    gateway.proc.wait(SECONDS_TO_STOP)
    SparkContext._gateway = SparkContext._jvm = None

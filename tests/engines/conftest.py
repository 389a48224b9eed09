"""Fixtures for tests of engines, which are stopped at the end."""

import signal

import pytest

from engines.postgres_server import postgres_server as running_server


@pytest.fixture(scope="session", autouse=True)
def interrupts():
    """Ctrl-C interrupts, also in a process that a shell has started in the background, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def postgres_server():
    """A running `engines.postgres_server.PostgresServer`."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres(postgres_server):
    """Connection URI of a PostgreSQL server, for a user who may create tables."""
    return postgres_server.uri


@pytest.fixture(scope="module")
def spark():
    """A session of Spark with two executors."""
    from engines.spark_session import spark_session

    with spark_session() as session:
        yield session

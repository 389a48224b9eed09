"""Fixtures for tests of engines: each engine is started once, and stopped at the end."""

import pytest

from engines.postgres_server import postgres_server as running_server


@pytest.fixture(scope="session")
def postgres_server():
    """A running `engines.postgres_server.PostgresServer`."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres(postgres_server):
    """Connection URI of a PostgreSQL server, for a user who may create tables."""
    return postgres_server.uri

"""Pages run as tests: each closes the figures that it drew, and engines may warn of each other's versions."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Close all figures after a page."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ignore warnings of Spark about pandas, and of Ray about its own settings, in the page that starts engines."""
    for item in items:
        if item.path.name == "engines.md":
            for kind in ("DeprecationWarning", "FutureWarning", "ResourceWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind}"))

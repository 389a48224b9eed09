import gc
import os
from pathlib import Path

import hypothesis
import numpy as np
import pytest

# CI repeats the same examples; a run at a desk looks for new ones.
hypothesis.settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")


ON_DEMAND = [Path(__file__).parent / folder for folder in ("browser", "engines")]


def pytest_ignore_collect(collection_path, config):
    """Tests of pages and of engines need other programs: they run only if named, as by ``make test-browser``."""
    if collection_path not in ON_DEMAND:
        return None
    named = (config.invocation_params.dir / arg.split("::")[0] for arg in config.args)
    return None if any(collection_path in (path.resolve(), *path.resolve().parents) for path in named) else True


def pytest_collection():
    """Half a million objects are made, which stay: the collector of garbage need not look at them again and again."""
    gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture(params=[0, 42])
def global_random_seed(request):
    """scikit-learn's own tests ask for this seed."""
    return request.param


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def global_dtype(request):
    """scikit-learn's own tests ask for this type."""
    return request.param

"""Figures in the format of Prometheus: valid, bounded, and equal to what happened."""

import asyncio
import shutil
import threading

import numpy as np
import pyarrow as pa
import pytest
from prometheus_client.parser import text_string_to_metric_families

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.server.hosting import Host, Hosts
from suffice.server.log.changes import Change
from suffice.server.log.learner import Learner
from suffice.server.metrics import BOUNDS, LEFT, OTHER, Metered, Metrics
from suffice.server.settings import Settings
from suffice.server.watching import Watch

ROUTES = ["/predict", "/health", "/models"]


def served(name="m", model=None):
    model = model or NaiveBayes().fit([[1.0], [2.0], [5.0], [7.0]], ["a", "a", "b", "b"])
    return Host(name, f"{name}.suffice", Settings(), model)


@pytest.fixture
def metrics():
    return Metrics(Hosts([served()]), ROUTES)


def samples(metrics):
    """Values by the name of the sample and its labels."""
    families = list(text_string_to_metric_families(metrics.text().decode()))
    assert len({family.name for family in families}) == len(families)
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value for family in families for sample in family.samples
    }


def call(app, path="/predict", messages=()):
    """What an application sends for a request."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "client": ("10.0.0.7", 5000), "query_string": b"secret"}
    asyncio.run(app(scope, receive, send))
    return sent


def answering(status):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app


def test_requests_are_counted(metrics):
    for path, status in [("/predict", 200), ("/models/m/predict", 200), ("/predict", 422), ("/health", 200)]:
        sent = call(Metered(answering(status), metrics), path)
        assert sent[0]["status"] == status
    found = samples(metrics)
    assert found["suffice_requests_total", ("route", "/predict"), ("status", "200")] == 2
    assert found["suffice_requests_total", ("route", "/predict"), ("status", "422")] == 1
    assert found["suffice_request_seconds_count", ("route", "/predict")] == 3
    assert 0 < found["suffice_request_seconds_sum", ("route", "/predict")] < 60
    assert found["suffice_request_seconds_bucket", ("le", "+Inf"), ("route", "/health")] == 1
    assert found["suffice_requests_in_flight",] == 0


def test_the_histogram_is_cumulative(metrics):
    for seconds in (0.0005, 0.0007, 0.2, 1e4):
        metrics.answered("/predict", 200, seconds)
    found = samples(metrics)
    name = "suffice_request_seconds_bucket"
    counts = [found[name, ("le", str(bound)), ("route", "/predict")] for bound in BOUNDS]
    assert counts == sorted(counts)
    assert counts[0] == 1  # a bound is included
    assert counts[1] == 2
    assert counts[-1] == 3
    assert found[name, ("le", "+Inf"), ("route", "/predict")] == 4


def test_requests_in_flight_and_clients_that_leave(metrics):
    seen = []

    async def leaves(scope, receive, send):
        seen.append(metrics.in_flight)

    async def fails(scope, receive, send):
        raise RuntimeError

    call(Metered(leaves, metrics))
    with pytest.raises(RuntimeError):
        call(Metered(fails, metrics))
    assert seen == [1]
    assert metrics.in_flight == 0
    found = samples(metrics)
    assert found["suffice_requests_total", ("route", "/predict"), ("status", str(LEFT))] == 1
    assert found["suffice_requests_total", ("route", "/predict"), ("status", "500")] == 1


def test_hostile_paths_are_one_label(metrics):
    for path in ["/" + "x" * 5000, '/a"b\n', "/models/m/<script>", "/models/m/predict/more", "/../etc", "", "/модель"]:
        metrics.answered(path, 404, 0.0)
    metrics.answered("/models/ü\n", 404, 0.0)
    metrics.answered("/assets/x.js", 200, 0.0)
    routes = {dict(key[1:])["route"] for key in samples(metrics) if key[0] == "suffice_requests_total"}
    assert routes == {OTHER, "/models/{name}", "/assets/{name}"}


def test_rows_of_many_threads(metrics):
    def count():
        for _ in range(1000):
            metrics.rows("m", "predicted", 3)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    metrics.rows("m", "learned", 2)
    found = samples(metrics)
    assert found["suffice_rows_total", ("model", "m"), ("verb", "predicted")] == 24_000
    assert found["suffice_rows_total", ("model", "m"), ("verb", "learned")] == 2


def test_state_of_the_models():
    given = GaussianDiscriminant.from_parameters({"a": 0.4, "b": 0.6}, [[0.0], [2.0]], [[1.0]])
    found = samples(Metrics(Hosts([served("m"), served("given", given)]), ROUTES))
    assert found["suffice_model_rows", ("model", "m")] == 4
    assert found["suffice_model_version", ("model", "m")] == 0
    assert found["suffice_model_classes", ("model", "given")] == 2
    assert ("suffice_model_rows", ("model", "given")) not in found
    assert found["process_open_fds",] > 0


def test_drift_of_the_last_window():
    rng = np.random.default_rng(0)
    host = served(model=NaiveBayes().fit(rng.normal(size=(500, 2)), np.resize(["a", "b"], 500)))
    host.watch = Watch(host.unchanging, Settings(window_seconds=1e-6))
    metrics = Metrics(Hosts([host]), ROUTES)
    assert samples(metrics)["suffice_drift_alarm", ("model", "m")] == 0
    host.watch.observe(rng.normal(3.0, size=(300, 2)), 300)
    host.watch.look()  # the window ends
    found = samples(metrics)
    assert found["suffice_drift_alarm", ("model", "m")] == 1
    assert found["suffice_drift_findings", ("model", "m")] >= 2
    host.close()


def test_state_of_what_was_learned(tmp_path):
    host = served()
    host.learner = Learner.open(str(tmp_path / "state"), host.unchanging, base="0")
    metrics = Metrics(Hosts([host]), ROUTES)
    try:
        rows = pa.table({"0": [1.0, 2.0]})
        host.learner.submit(Change("learn", rows, ["a", "b"])).result(30)
        found = samples(metrics)
        assert found["suffice_model_version", ("model", "m")] == 1
        assert found["suffice_model_rows", ("model", "m")] == 6
        assert found["suffice_log_bytes", ("model", "m")] == sum(
            path.stat().st_size for path in (tmp_path / "state").glob("log-*")
        )
        assert ("suffice_snapshot_timestamp_seconds", ("model", "m")) not in found
    finally:
        host.close()
    found = samples(metrics)
    assert found["suffice_snapshot_timestamp_seconds", ("model", "m")] == pytest.approx(
        next((tmp_path / "state").glob("*.suffice")).stat().st_mtime
    )
    shutil.rmtree(tmp_path / "state")
    assert ("suffice_log_bytes", ("model", "m")) not in samples(metrics)


def test_two_servers_of_one_process_do_not_share_figures(metrics):
    metrics.answered("/predict", 200, 0.0)
    other = Metrics(Hosts([served()]), ROUTES)
    assert not [key for key in samples(other) if key[0] == "suffice_requests_total"]

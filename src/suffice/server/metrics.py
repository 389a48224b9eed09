"""Figures of the server for Prometheus: requests, times, rows, and the state of each model.

The figures of a request are a few additions in the thread of the event loop; everything else is read when somebody asks
for the figures. Labels have few values: a request is counted by its address without the name of the model, and requests
of addresses that do not exist together.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from time import perf_counter

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from suffice import __version__
from suffice.exceptions import SufficeError
from suffice.server.hosting import Host, Hosts
from suffice.server.log.snapshots import Contents, log_path, model_path
from suffice.server.settings import Verb

__all__ = ["Metered", "Metrics"]

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 100.0, 600.0)
"""Upper bounds of the histogram of times, in seconds."""
LEFT = 499  # the status of a request whose client has left before an answer
OTHER = "other"


class Metrics(Collector):
    """Counts requests and rows, and reads the state of the models.

    Parameters
    ----------
    hosts : Hosts
    routes : iterable of str
        The paths that requests are counted by, without the name of a model: "/predict", "/health".

    Attributes
    ----------
    in_flight : int
        Requests that are being answered.
    """

    def __init__(self, hosts: Hosts, routes: Iterable[str]) -> None:
        self._hosts = hosts
        self._routes = frozenset(routes)
        self._requests: Counter[tuple[str, int]] = Counter()
        self._times: dict[str, list[int]] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._rows: Counter[tuple[str, Verb]] = Counter()
        self._rows_lock = threading.Lock()
        self.in_flight = 0
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request; only the thread of the event loop may call it."""
        route = self.route_of(path)
        self._requests[route, status] += 1
        times = self._times.get(route)
        if times is None:
            times = self._times[route] = [0] * (len(BOUNDS) + 1)
        times[bisect_left(BOUNDS, seconds)] += 1
        self._seconds[route] += seconds

    def rows(self, model: str, verb: Verb, n: int) -> None:
        """Count rows of a model; any thread may call it."""
        with self._rows_lock:
            self._rows[model, verb] += n

    def route_of(self, path: str) -> str:
        """The path that a request is counted by.

        >>> found = Metrics(Hosts([]), ["/predict"])
        >>> found.route_of("/models/flowers/predict"), found.route_of("/predict"), found.route_of("/etc/passwd")
        ('/predict', '/predict', 'other')
        """
        if path in self._routes:
            return path
        if path.startswith("/models/"):
            end = path.find("/", len("/models/"))
            last = "/models/{name}" if end < 0 else path[end:]
            return last if end < 0 or last in self._routes else OTHER
        return "/assets/{name}" if path.startswith("/assets/") else OTHER

    def text(self) -> bytes:
        """All figures in the text format of Prometheus."""
        return generate_latest(self._registry)

    def describe(self) -> list[Metric]:
        """Nothing: the figures are known when they are collected."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Collect all figures."""
        yield _info()
        yield from self._of_requests()
        yield self._of_rows()
        yield from _of_models(list(self._hosts.values()))

    def _of_requests(self) -> Iterator[Metric]:
        counted = CounterMetricFamily("suffice_requests", "Requests that were answered.", labels=["route", "status"])
        for (route, status), n in sorted(self._requests.items()):
            counted.add_metric([route, str(status)], n)
        yield counted
        times = HistogramMetricFamily("suffice_request_seconds", "Time to answer a request.", labels=["route"])
        for route in sorted(self._times):
            total, buckets = 0, []
            for bound, n in zip([*map(str, BOUNDS), "+Inf"], self._times[route], strict=True):
                total += n
                buckets.append((bound, float(total)))
            times.add_metric([route], buckets, self._seconds[route])
        yield times
        yield GaugeMetricFamily("suffice_requests_in_flight", "Requests that are being answered.", self.in_flight)

    def _of_rows(self) -> Metric:
        counted = CounterMetricFamily("suffice_rows", "Rows of requests since the start.", labels=["model", "verb"])
        with self._rows_lock:
            found = sorted(self._rows.items())
        for (model, verb), n in found:
            counted.add_metric([model, verb], n)
        return counted


def _info() -> Metric:
    info = GaugeMetricFamily("suffice_info", "Version of the library.", labels=["version"])
    info.add_metric([__version__], 1)
    return info


def _of_models(hosts: list[Host]) -> Iterator[Metric]:
    """Gauges of each model."""
    for name, documentation, value in GAUGES:
        gauge = GaugeMetricFamily(name, documentation, labels=["model"])
        for host in hosts:
            try:
                found = value(host)
            except (SufficeError, OSError):  # such as a folder that is gone
                found = None
            if found is not None:
                gauge.add_metric([host.name], found)
        yield gauge


def _log_bytes(host: Host) -> int | None:
    """Bytes of the logs of learned rows."""
    if host.learner is None:
        return None
    folder = host.learner.folder
    return sum(os.path.getsize(log_path(folder, first)) for first in Contents.of(folder).logs)


def _snapshot_time(host: Host) -> float | None:
    """When the newest snapshot was written, in seconds since 1970."""
    if host.learner is None:
        return None
    folder = host.learner.folder
    found = Contents.of(folder).models
    return os.path.getmtime(model_path(folder, found[-1])) if found else None


def _weight(host: Host) -> float | None:
    return None if host.fitted.without_rows else float(host.fitted.model.weights.weight.sum())


GAUGES = (
    ("suffice_model_version", "Changes of the model since its file was written.", lambda host: host.version),
    ("suffice_model_rows", "Weight of the rows that the model has learned.", _weight),
    ("suffice_log_bytes", "Bytes of the logs of learned rows.", _log_bytes),
    ("suffice_snapshot_timestamp_seconds", "When the newest snapshot of the model was written.", _snapshot_time),
    (
        "suffice_drift_alarm",
        "1 if the rows of the last window that has ended differ from the training rows.",
        lambda host: None if host.watch is None else float(host.watch.alarm),
    ),
    (
        "suffice_drift_findings",
        "Significant findings of the last window that has ended.",
        lambda host: None if host.watch is None else host.watch.n_findings,
    ),
    ("suffice_model_classes", "Classes of the model.", lambda host: len(host.fitted.classes)),
)


class Metered:
    """An ASGI application whose requests are counted."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started, metrics = LEFT, perf_counter(), self._metrics

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        metrics.in_flight += 1
        try:
            await self._app(scope, receive, counted)
        except Exception:
            status = 500
            raise
        finally:
            metrics.in_flight -= 1
            metrics.answered(scope["path"], status, perf_counter() - started)

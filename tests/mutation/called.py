"""A pytest plugin that records which functions of the package each test calls, and how long it takes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

PACKAGE = str(Path(__file__).resolve().parents[2] / "src" / "suffice")


class CalledFunctions:
    """Writes `{test: [seconds, [function, ...]]}`; a function is `file:first line`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tests, self.called = folder, {}, set()
        self.known: dict[object, str | None] = {}

    def _profile(self, frame, event, argument) -> None:
        if event == "call":
            code = frame.f_code
            if code not in self.known:
                inside = code.co_filename.startswith(PACKAGE)
                self.known[code] = f"{code.co_filename[len(PACKAGE) + 1 :]}:{code.co_firstlineno}" if inside else None
            self.called.add(code)

    def pytest_runtest_setup(self, item) -> None:
        self.called = set()
        sys.setprofile(self._profile)

    def pytest_runtest_logreport(self, report) -> None:
        sys.setprofile(None if report.when == "teardown" else self._profile)
        if report.when == "call" and report.passed:
            functions = sorted(name for code in tuple(self.called) if (name := self.known[code]) is not None)
            self.tests[report.nodeid] = [round(report.duration, 4), functions]

    def pytest_sessionfinish(self) -> None:
        sys.setprofile(None)
        if self.tests:
            name = os.environ.get("PYTEST_XDIST_WORKER", "main")
            (self.folder / f"called-{name}.json").write_text(json.dumps(self.tests))


def pytest_configure(config) -> None:
    folder = os.environ.get("SUFFICE_CALLED")
    if folder and (os.environ.get("PYTEST_XDIST_WORKER") or not config.getoption("numprocesses", None)):
        config.pluginmanager.register(CalledFunctions(Path(folder)), "called_functions")

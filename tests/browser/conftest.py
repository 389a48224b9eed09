"""Fixtures for tests of pages: Chromium without a window, and an HTTP server for files."""

import contextlib
import functools
import http.server
import shutil
import threading

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Chromium with a fresh profile, which keeps its console messages and network requests; see `pages`."""
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    assert all(programs), "Chromium or chromedriver is not on the PATH: run tests/browser/setup."
    options = ChromeOptions()
    options.binary_location = programs[0]
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(executable_path=programs[1]))
    driver.set_script_timeout(60)
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def serve():
    """A function that serves the files of a folder on the loopback interface, and returns the address."""
    with contextlib.ExitStack() as running:
        yield lambda folder: running.enter_context(_server(folder))


@contextlib.contextmanager
def _server(folder):
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

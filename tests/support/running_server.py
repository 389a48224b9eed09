"""A running `suffice serve`, in a process of its own."""

import contextlib
import os
import signal
import subprocess
import sys


@contextlib.contextmanager
def running_server(folder, *arguments, tokens=None):
    """Run ``suffice serve`` with these arguments in a folder; yields the address and the process."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("SUFFICE_TOKEN")}
    variables |= {f"SUFFICE_TOKEN_{scope.upper()}": token for scope, token in (tokens or {}).items()}
    command = [sys.executable, "-u", "-m", "suffice", "serve", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=folder, env=variables, **pipes)
    try:
        for line in process.stdout:
            if line.startswith("listening on "):
                yield line.split()[-1], process
                break
        else:
            raise AssertionError(f"The server did not start: {process.stderr.read()}")
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
    assert process.returncode in (0, -signal.SIGKILL), said

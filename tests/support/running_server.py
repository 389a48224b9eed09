"""A running `suffice serve`, in a process of its own."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile


@contextlib.contextmanager
def running_server(folder, *arguments, tokens=None):
    """Run ``suffice serve`` with these arguments in a folder; yields the address and the process.

    ``process.stderr`` is a file with what it has said.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith("SUFFICE_TOKEN")}
    variables |= {f"SUFFICE_TOKEN_{scope.upper()}": token for scope, token in (tokens or {}).items()}
    command = [sys.executable, "-u", "-m", "suffice", "serve", *map(str, arguments)]
    said = tempfile.TemporaryFile("a+")  # noqa: SIM115
    process = subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=said, text=True)
    process.stderr = said
    try:
        for line in process.stdout:
            if line.startswith("listening on "):
                yield line.split()[-1], process
                break
        else:
            raise AssertionError(f"The server did not start: {text_of(said)}")
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=30)
            raise
        finally:
            process.stdout.close()
            error = text_of(said)
            said.close()
    assert process.returncode in (0, -signal.SIGKILL), error


def text_of(file):
    """All that was written to a file that another process appends to."""
    file.seek(0)
    return file.read()

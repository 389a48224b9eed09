"""Progress is shown on standard error, and only on a terminal."""

import os
import pty
import subprocess
import sys


def seen(command, folder, stdout):
    """What a terminal on standard error shows, and standard output if it is a pipe."""
    parent, child = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "suffice", *command],
        cwd=folder,
        env=environment | {"TERM": "xterm-256color"},
        stdout=child if stdout == "terminal" else subprocess.PIPE,
        stderr=child,
    )
    os.close(child)
    out = b"" if process.stdout is None else process.stdout.read()
    shown = b""
    while True:
        try:
            part = os.read(parent, 4096)
        except OSError:  # the other end was closed
            break
        if not part:
            break
        shown += part
    os.close(parent)
    assert process.wait() == 0
    if process.stdout is not None:
        process.stdout.close()
    return shown.decode(), out.decode()


def test_bar(folder):
    command = ["predict", "flowers.suffice", "test.csv"]
    shown, out = seen(command, folder, "pipe")
    assert "Predicting" in shown
    assert out.count("\n") == 51
    assert "Predicting" not in out
    shown, _ = seen(command, folder, "terminal")
    assert "Predicting" not in shown  # rows are written to the same terminal
    shown, _ = seen([*command, "--quiet"], folder, "pipe")
    assert shown == ""


def test_tables_on_a_terminal(folder):
    shown, _ = seen(["inspect", "flowers.suffice"], folder, "terminal")
    assert "\x1b[1mClasses" in shown
    assert "setosa" in shown

"""The command serves models, says what it does, refuses what cannot work, and ends cleanly."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

from cli.made import refused
from suffice.cli.serve import DURATION, SIZE, limits_of
from suffice.server.settings import Limits

TOKEN = "t" * 32


class Running:
    """A server that was started, and what it has printed."""

    def __init__(self, folder, *args, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "suffice", "serve", *map(str, args), "--port", "0"],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if line.startswith("listening on "):
                break
        self.address = self.lines[-1].removeprefix("listening on ") if self.lines else ""

    def ask(self, path, document=None, **headers):
        """The status and the JSON of an answer."""
        body = None if document is None else json.dumps(document).encode()
        request = urllib.request.Request(
            self.address + path,
            body,
            {"Content-Type": "application/json", **{k.title(): v for k, v in headers.items()}},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def ended(self, by=signal.SIGTERM):
        """The exit code and standard error, after a signal."""
        self.process.send_signal(by)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@contextmanager
def server(folder, *args, **environment):
    running = Running(folder, *args, **environment)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.communicate()


def example(running, name="flowers"):
    """A row as the document of the server shows it."""
    api = running.ask("/openapi.json")[1]
    return api["paths"][f"/models/{name}/predict"]["post"]["requestBody"]["content"]["application/json"]["example"]


def test_it_serves_models(folder):
    with server(folder, "flowers.suffice", "mails=spam.suffice", "--log", "--limit", "rows=2") as running:
        assert running.lines[0] == "flowers  NaiveBayes, 3 classes, 100 rows"
        assert running.lines[1] == "mails  TextNaiveBayes, 2 classes, 6 rows"
        assert running.address.startswith("http://127.0.0.1:")
        assert running.ask("/ready?secret=1") == (200, {"status": "ready"})
        row = example(running)["rows"][0]
        for path in ("/models/flowers/predict", "/models/flowers/score"):
            assert running.ask(path, {"rows": [row] * 2})[0] == 200
            status, problem = running.ask(path, {"rows": [row] * 3})
            assert (status, problem["limit"]) == (413, 2)
        assert running.ask("/predict", {"rows": [row]})[0] == 404  # there are two models
        assert running.ask("/models/flowers/learn", {})[0] == 404
        code, errors = running.ended()
    assert code == 0
    *lines, last = errors.splitlines()
    assert last == "suffice: note: The server has stopped."
    assert [line.split(" INFO ")[1] for line in lines][:3] == [
        '127.0.0.1 "GET /ready" 200',
        '127.0.0.1 "GET /openapi.json" 200',
        '127.0.0.1 "POST /models/flowers/predict" 200',
    ]


def test_what_was_learned_is_there_again(folder):
    arguments = ("spam.suffice", "--learn", "--state", "kept/here")
    with server(folder, *arguments) as running:
        assert running.lines[0].endswith("; learned rows are kept in kept/here/spam")
        assert running.ask("/learn", {"rows": ["lunch for pills"], "labels": ["ham"]})[1]["weight"] == 7
        message = refused("serve", *arguments, "--port", 0)
        assert f"Another server (process {running.process.pid}) learns in the folder" in message
        assert "See docs/serving.md." in message
        running.process.kill()
        running.process.wait(30)
    with server(folder, *arguments) as running:
        assert running.ask("/models/spam")[1]["rows"] == 7
        code, errors = running.ended(signal.SIGINT)
    assert code == 130
    assert errors == "suffice: stopped; all rows that were acknowledged are on disk.\n"
    (folder / "spam.suffice").write_bytes((folder / "monday.suffice").read_bytes())
    assert "another model file" in refused("serve", *arguments, "--port", 0)


def test_other_machines_need_tokens(folder):
    message = refused("serve", "flowers.suffice", "--host", "0.0.0.0", code=2)
    assert "clients need a token" in message
    line = message.splitlines()[-1].strip()
    subprocess.run(["bash", "-c", line.replace("python ", f"{shlex.quote(sys.executable)} ")], cwd=folder, check=True)
    token = (folder / "tokens").read_text().split()[1]
    arguments = ("flowers.suffice", "--host", "0.0.0.0", "--host-name", "models.example", "--token-file", "tokens")
    with server(folder, *arguments, "--learn", SUFFICE_TOKEN_READ=TOKEN) as running:
        assert running.ask("/models/flowers")[0] == 401
        for each, status in ((TOKEN, 403), (token, 400)):
            assert running.ask("/models/flowers", authorization=f"Bearer {each}")[0] == 200
            assert running.ask("/models/flowers/learn", {}, authorization=f"Bearer {each}")[0] == status
        assert running.ask("/models/flowers", authorization=f"Bearer {token}", host="models.example")[0] == 200
        assert running.ask("/models/flowers", authorization=f"Bearer {token}", host="other.example")[0] == 421
        assert "Put a web server with TLS in front" in running.ended()[1]


# ---------------------------------------------------------------------- what is refused


def test_a_port_in_use(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = refused("serve", "flowers.suffice", "--port", port)
    assert f"Another program uses port {port} of 127.0.0.1. Choose another with --port, or 0 for a free one." in message
    assert "See docs/serving.md." in message


def test_models_that_cannot_be_served(folder):
    assert "nowhere.suffice" in refused("serve", "nowhere.suffice", "--port", 0)
    assert "is not a model file" in refused("serve", "train.csv", "--port", 0)
    newer = (folder / "flowers.suffice").read_bytes()
    (folder / "cut.suffice").write_bytes(newer[: len(newer) // 2])
    assert "cut.suffice" in refused("serve", "cut.suffice", "--port", 0)
    message = refused("serve", "flowers.suffice", "parts/../flowers.suffice", "--port", 0)
    assert "Two models have the name 'flowers'" in message
    assert "other=parts/../flowers.suffice" in message
    assert threading.active_count() < 10


def test_wrong_usage(folder):
    assert "--new-classes and --state need --learn" in refused("serve", "flowers.suffice", "--state", "x", code=2)
    assert "Missing argument" in refused("serve", code=2)
    assert "No limit 'row'. Did you mean 'rows'?" in refused("serve", "m", "--limit", "row=5", code=2)
    assert "not of the form NAME=VALUE" in refused("serve", "m", "--limit", "rows", code=2)
    assert "The limits are body," in refused("serve", "m", "--limit", "xyz=1", code=2)
    assert "--limit rows is given twice" in refused("serve", "m", "--limit", "rows=5", "--limit", "rows=6", code=2)
    assert "'-5' is not a positive number" in refused("serve", "m", "--limit", "rows=-5", code=2)
    assert "'soon' is not a positive number" in refused("serve", "m", "--window", "soon", code=2)
    assert "65536" in refused("serve", "m", "--port", "65536", code=2)
    assert "--token-file" in refused("serve", "m", "--host", "::", code=2)
    (folder / "open").write_text(f"read {TOKEN}\n")
    (folder / "open").chmod(0o644)
    assert "chmod 600" in refused("serve", "flowers.suffice", "--token-file", "open")
    (folder / "open").chmod(0o600)
    wanted = ("serve", "flowers.suffice", "--token-file", "open", "--host", "no.such.invalid")
    assert "There is no address 'no.such.invalid'. Give an address of this machine with --host" in refused(*wanted)


def test_quantities():
    assert [DURATION.convert(each, None, None) for each in ("90", "500ms", "2 min", "1.5h", "1d")] == [
        *(90, 0.5, 120, 5400, 86_400)
    ]
    assert [SIZE.convert(each, None, None) for each in ("1_000", "1,000", "2KB", "0.5MB")] == [
        1000,
        1000,
        2048,
        524_288,
    ]
    assert limits_of([]) == Limits()
    assert limits_of(["rows=5", "head_seconds=2s", "Body=1GB"]) == Limits(rows=5, head_seconds=2.0, body=1 << 30)
    assert limits_of(["rows=0.2"]).rows == 1


def test_the_help_imports_no_server():
    code = (
        "import sys\nfrom suffice.cli import main\n"
        "try: main()\nfinally: print(*{'uvicorn', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, "serve", "--help"], capture_output=True, text=True, check=True)
    assert "--token-file" in done.stdout
    assert done.stdout.splitlines()[-1] == ""


def test_a_socket_of_systemd_that_others_reach_needs_tokens(folder):
    code = (
        "import os, sys; os.environ['LISTEN_PID'] = str(os.getpid()); from suffice.cli import main; "
        "sys.argv = ['suffice', 'serve', 'flowers.suffice']; main()"
    )
    with socket.create_server(("0.0.0.0", 0)) as given:
        number = given.fileno()
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env={**os.environ, "LISTEN_FDS": "1"},
            preexec_fn=lambda: os.dup2(number, 3),
            close_fds=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 2
    assert "Other machines can reach 0.0.0.0, so clients need a token" in done.stderr

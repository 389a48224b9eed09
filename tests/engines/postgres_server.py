"""A PostgreSQL server for tests, with its own data folder, on the loopback interface."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SECONDS_TO_START, SECONDS_TO_STOP = 60, 30
PASSWORD = "correct horse 7!"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "shared_buffers": "32MB",
    "max_connections": "40",
    "lc_messages": "C",
}
# The user `suffice` may do everything, without a password; the user `clerk` needs the password.
ACCESS = """
host all clerk 127.0.0.1/32 scram-sha-256
host all all   127.0.0.1/32 trust
local all all               trust
"""


@dataclass(frozen=True)
class PostgresServer:
    """A running server.

    Attributes
    ----------
    port : int
    folder : Path
        Of the data, the log and the socket.
    process : subprocess.Popen
    """

    port: int
    folder: Path
    process: subprocess.Popen

    @property
    def uri(self) -> str:
        """Connection URI of the user ``suffice``, who needs no password."""
        return f"postgresql://suffice@127.0.0.1:{self.port}/postgres"

    @property
    def clerk(self) -> str:
        """Connection URI of the user ``clerk``, who needs `PASSWORD`, which the URI does not hold."""
        return f"postgresql://clerk@127.0.0.1:{self.port}/postgres"

    def run(self, *statements: str) -> str:
        """Run statements, each on its own, and return the values of their rows, one row on each line."""
        commands = [part for each in statements for part in ("-c", each)]
        program = [_program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.uri, *commands]
        done = subprocess.run(program, check=False, capture_output=True, text=True)
        assert not done.returncode, done.stderr
        return done.stdout.strip()

    def stop(self) -> None:
        """Stop the server at once; its connections break."""
        self.process.send_signal(2)  # SIGINT is PostgreSQL's fast shutdown
        try:
            self.process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Start a server in a temporary folder, and stop it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="suffice-postgres-"))
    try:
        user = _user()
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        data = folder / "data"
        new = ["--username=suffice", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", f"--pgdata={data}"]
        subprocess.run([*_as(user), _program("initdb"), *new], check=True, stdout=subprocess.DEVNULL, cwd=folder)
        (data / "pg_hba.conf").write_text(ACCESS)
        server = _started(folder, user)
        try:
            quoted = PASSWORD.replace("'", "''")
            server.run(f"CREATE ROLE clerk LOGIN PASSWORD '{quoted}'", "GRANT pg_read_all_data TO clerk")
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(folder: Path, user: pwd.struct_passwd | None) -> PostgresServer:
    port = _free_port()
    settings = SETTINGS | {"port": str(port), "unix_socket_directories": str(folder)}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*_as(user), _program("postgres"), "-D", str(folder / "data"), *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,  # Ctrl-C in the terminal of the tests must not reach it before its fixture does
        )
    server = PostgresServer(port, folder, process)
    give_up = time.monotonic() + SECONDS_TO_START
    while subprocess.run([_program("pg_isready"), "-q", "-d", server.uri], check=False).returncode:
        if process.poll() is not None or time.monotonic() > give_up:
            server.stop()
            raise RuntimeError("PostgreSQL did not start:\n" + (folder / "log").read_text(errors="replace"))
        time.sleep(0.05)
    return server


def _user() -> pwd.struct_passwd | None:
    """The user to run the server as, because PostgreSQL refuses root; None for the user of the tests."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _as(user: pwd.struct_passwd | None) -> list[str]:
    """The start of a command that another user runs; the server ends if the process of the tests is killed."""
    change = [] if user is None else [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return ["setpriv", *change, "--pdeathsig=INT"]


def _program(name: str) -> str:
    """A program of PostgreSQL, of the newest version if there are several."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[4]))
    path = str(found[-1]) if found else shutil.which(name)
    assert path, f"There is no program {name} of PostgreSQL: run tests/engines/setup."
    return path


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]

"""``suffice serve``: answer requests over HTTP."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.command import command as _command
from suffice.cli.command import mark_written, note, section, stopped

if TYPE_CHECKING:
    from suffice.server.hosting import Host, Hosts
    from suffice.server.settings import Limits, Settings
    from suffice.server.tokens import Tokens

__all__ = ["command"]

EXAMPLES = """
suffice serve flowers.suffice
suffice serve spam=filter.suffice flowers.suffice --learn
suffice serve flowers.suffice --port 0 --limit rows=1000 --limit body=10MB
suffice serve flowers.suffice --host 0.0.0.0 --host-name models.example \\
    --token-file tokens
"""
SECONDS = {"": 1.0, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
UNITS = {"": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
QUANTITY = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([a-z]*)")
NOT_ENCRYPTED = (
    "Requests, tokens and answers are not encrypted. Put a web server with TLS in front; see docs/serving.md."
)
TOKEN_FILE = "python -c 'import secrets; print(\"learn\", secrets.token_urlsafe(32))' > tokens; chmod 600 tokens"


class Quantity(click.ParamType):  # type: ignore[type-arg]  # generic since 8.2 only
    """A positive number with a unit; the value is in the smallest unit, or in seconds.

    >>> Quantity("duration", SECONDS).convert("1.5h", None, None)
    5400.0
    """

    def __init__(self, name: str, units: Mapping[str, float]) -> None:
        self.name, self.units = name, units

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse the text of an option."""
        if not isinstance(value, str):
            return float(value)
        match = QUANTITY.fullmatch(value.strip().lower())
        factor = self.units.get(match[2]) if match else None
        found = 0.0 if match is None or factor is None else float(re.sub("[_,]", "", match[1])) * factor
        if not 0 < found < 1e18:
            units = ", ".join(each for each in self.units if each)
            self.fail(f"{value!r} is not a positive number, with or without a unit ({units}).", param, ctx)
        return found


DURATION = Quantity("duration", SECONDS)
SIZE = Quantity("size", UNITS)


@_command("serve", "Predict, explain and learn over HTTP, with a page for people.", EXAMPLES)
@click.argument("models", nargs=-1, required=True, metavar="[NAME=]MODEL...")
@section(
    "Learning",
    click.option("--learn", is_flag=True, help="Let clients teach rows, take them back, and change the class prior."),
    click.option("--new-classes", is_flag=True, help="Let clients teach classes that the model does not know."),
    click.option(
        "--state",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Where learned rows are kept, in a folder for each model; default: MODEL.state beside the model file.",
    ),
)
@section(
    "Address",
    click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on."),
    click.option(
        "--port",
        type=click.IntRange(0, 65_535),
        default=8000,
        show_default=True,
        metavar="PORT",
        help="Port to listen on; 0 for a free one.",
    ),
    click.option(
        "--host-name",
        "host_names",
        multiple=True,
        metavar="NAME",
        help="A name by which clients reach the server, besides localhost; may be repeated.",
    ),
    click.option(
        "--token-file",
        type=click.Path(readable=False),
        metavar="FILE",
        help="Tokens of clients: lines of a scope (read or learn) and a token. Needed unless ADDRESS is local.",
    ),
)
@section(
    "Watching",
    click.option(
        "--window",
        type=DURATION,
        default="1h",
        show_default=True,
        metavar="TIME",
        help="Length of the windows whose rows are compared with the training rows.",
    ),
    click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.05,
        show_default=True,
        metavar="P",
        help="Probability of a false alarm.",
    ),
)
@section(
    "Running",
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=VALUE",
        help="Change a limit that protects the server, such as rows=1000 or body=10MB; docs/serving.md lists them.",
    ),
    click.option("--log", is_flag=True, help="Print a line for each request, without its values."),
)
def command(
    models: tuple[str, ...],
    learn: bool,
    new_classes: bool,
    state: str | None,
    host: str,
    port: int,
    host_names: tuple[str, ...],
    token_file: str | None,
    window: float,
    level: float,
    limits: tuple[str, ...],
    log: bool,
) -> None:
    """Serve models over HTTP until Ctrl-C or SIGTERM: predictions, explanations, a page for people, and drift.

    The name of a model in addresses is that of its file, or NAME. With --learn, every row that the server has
    acknowledged is on disk and survives a crash.

    Only programs of this machine can reach the server. Any other address to listen on needs tokens.
    """
    if not learn and (new_classes or state is not None):
        raise click.UsageError("--new-classes and --state need --learn.")
    from suffice.server.hosting import named_paths
    from suffice.server.settings import Settings

    settings = Settings(
        learn=learn,
        new_classes=new_classes,
        host_names=_names(host, host_names),
        window_seconds=window,
        level=level,
        limits=limits_of(limits),
    )
    tokens = _tokens(token_file)
    _others_reach(host, tokens)
    from suffice.server.running import listen

    with contextlib.ExitStack() as opened:
        listening = opened.enter_context(listen(host, port))
        if _others_reach(_bound(listening), tokens):  # systemd may have passed a socket of another address
            note(NOT_ENCRYPTED)
        hosts = _open(named_paths(models), settings, state, opened)
        ended = _serve(hosts, settings, tokens, listening, log=log)
    mark_written("all rows that were acknowledged are on disk" if learn else "nothing was written")
    if ended == signal.SIGINT:
        raise stopped()
    note("The server has stopped.")


def limits_of(given: Iterable[str]) -> Limits:
    """The limits of the server, with those that are given as NAME=VALUE.

    >>> limits_of(["rows=1,000", "body=2MB", "head-seconds=5s"]).body
    2097152
    """
    from dataclasses import fields, replace

    from suffice.exceptions import did_you_mean
    from suffice.server.settings import Limits

    known = {each.name.replace("_", "-"): each.name for each in fields(Limits)}
    found: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        field = known.get(name.strip().lower().replace("_", "-"))
        if not equals or field is None:
            hint = did_you_mean(name, known) or f" The limits are {', '.join(known)}."
            problem = f"--limit {each!r:.80} is not of the form NAME=VALUE." if field else f"No limit {name!r:.80}."
            raise click.UsageError(f"{problem}{'' if field else hint}")
        if field in found:
            raise click.UsageError(f"--limit {name} is given twice. Give it once.")
        try:
            number = (DURATION if field.endswith("_seconds") else SIZE).convert(value, None, None)
        except click.BadParameter as error:
            raise click.UsageError(f"--limit {name}: {error.message}") from None
        found[field] = number if field.endswith("_seconds") else max(int(number), 1)
    return replace(Limits(), **found)


def _names(host: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names by which clients reach the server: those that are given, and the address itself."""
    return (*names, *([] if host in ("0.0.0.0", "::") else [host]))


def _bound(listening: socket.socket) -> str:
    """The address that a socket listens on; sockets in the file system are local."""
    return "localhost" if listening.family == getattr(socket, "AF_UNIX", None) else str(listening.getsockname()[0])


def _tokens(path: str | None) -> Tokens:
    """The tokens of clients, from the environment and a file."""
    from suffice.server.tokens import Tokens

    tokens = Tokens.from_environment()
    return tokens if path is None else tokens.merge(Tokens.from_file(path))


def _others_reach(host: str, tokens: Tokens) -> bool:
    """Whether other machines can reach an address; raises `UsageError` if they need no token."""
    from suffice.server.security import is_loopback

    if is_loopback(host):
        return False
    if not tokens:
        raise click.UsageError(
            f"Other machines can reach {host}, so clients need a token. Make a file of tokens and give it with "
            f"--token-file:\n    {TOKEN_FILE}"
        )
    return True


def _open(paths: Mapping[str, str], settings: Settings, state: str | None, opened: contextlib.ExitStack) -> Hosts:
    """Load the models, and print what is served."""
    from suffice.server.hosting import Hosts, open_host

    if state is not None:
        os.makedirs(state, mode=0o700, exist_ok=True)
    found = []
    for name, path in paths.items():
        folder = f"{path}.state" if state is None else os.path.join(state, name)
        if not settings.learn and os.path.isdir(folder):
            note(f"The server does not use what {name} has learned, in {folder}; --learn does.")
        host = open_host(name, path, settings, folder)
        opened.callback(host.close)
        found.append(host)
        click.echo(f"{_line(host)}; learned rows are kept in {folder}" if settings.learn else _line(host))
    return Hosts(found)


def _line(host: Host) -> str:
    """What is served, for a person."""
    from suffice.exceptions import counted

    fitted = host.fitted
    target = "" if fitted.target is None else f" of {fitted.target}"
    facts = [
        f"{fitted.specification.estimator}{target}",
        counted(len(fitted.classes), "class", "classes"),
        *([] if fitted.without_rows else [counted(float(fitted.model.weights.weight.sum()), "row")]),
    ]
    return f"{host.name}  {', '.join(facts)}"


def _serve(
    hosts: Hosts, settings: Settings, tokens: Tokens, listening: socket.socket, *, log: bool
) -> signal.Signals | None:
    """Answer requests until a signal arrives."""
    from suffice.server.app import build
    from suffice.server.running import address_of, run

    address = address_of(listening)
    return run(
        build(hosts, settings, tokens),
        listening,
        settings.limits,
        started=lambda: click.echo(f"listening on {address}"),
        log=log,
    )

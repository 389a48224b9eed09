"""What every command does alike: examples in its help, errors and warnings as sentences, ``--quiet``, ``--debug``."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import click

__all__ = ["Command", "command", "is_quiet", "note", "tell_faults", "telling_of_output", "write_examples"]

ARGUMENT = re.compile(
    r"\b(bad_rows|encoding|names|delimiter|format|smoothing|estimation|prior|shrinkage|mix|event|max_words|slots)="
    r"(?:(['\"])([^'\"]*)\2|(\w+))?"
    r"|\b(ignore|columns)=\[(['\"])([^'\"]*)\6\]|\((ignore|columns|cv)\)"
)  # of the library, whose options have the same names
BROKEN_PIPE, INTERRUPTED = 141, 130  # as the shell has them for a process that a signal ended


class Failure(click.ClickException):
    """An error that is no fault of how the command was called."""

    exit_code = 1

    def show(self, file: Any = None) -> None:
        """Say it."""
        click.echo(f"suffice: {self.format_message()}", file=file, err=file is None)


def write_examples(formatter: click.HelpFormatter, examples: str) -> None:
    """Write lines of the shell to a help page, as they are."""
    formatter.write_paragraph()
    with formatter.section("Examples"):
        for line in examples.strip().splitlines():
            formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


class Command(click.Command):
    """A command with examples, whose errors are sentences."""

    def __init__(self, *args: Any, examples: str = "", **options: Any) -> None:
        super().__init__(*args, **options)
        self.examples = examples
        quiet = click.Option(
            ["-q", "--quiet"], is_flag=True, expose_value=False, callback=_keep, help="No progress, no notes."
        )
        debug = click.Option(
            ["--debug"], is_flag=True, expose_value=False, callback=_keep, help="Show where in the code an error arose."
        )
        self.params += [quiet, debug]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples, line by line."""
        write_examples(formatter, self.examples)

    def invoke(self, ctx: click.Context) -> Any:
        """Run it."""
        with _speaking(debug=ctx.meta.get("debug", False), quiet=is_quiet(ctx)):
            return super().invoke(ctx)


def command(name: str, short: str, examples: str) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function: its docstring is the help, ``short`` a line of the list of all commands.

    ``examples`` are lines of the shell.
    """
    return click.command(name, cls=Command, short_help=short, examples=examples)


def _keep(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.meta[str(parameter.name)] = value


def is_quiet(ctx: click.Context | None = None) -> bool:
    """Whether progress and notes are unwanted."""
    ctx = ctx or click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get("quiet"))


def note(sentence: str) -> None:
    """Say something beside the result."""
    if not is_quiet():
        click.echo(f"suffice: note: {sentence}", err=True)


def tell_faults(source: Any) -> None:
    """Say which rows were left out because they are bad: the first, and how many."""
    for sentence in source.faults:
        note(sentence)
    if source.skipped:
        many = f"{source.skipped:,} bad rows were" if source.skipped > 1 else "1 bad row was"
        note(f"{many} left out.")


# ---------------------------------------------------------------------- errors and warnings


@contextlib.contextmanager
def _speaking(*, debug: bool, quiet: bool) -> Iterator[None]:
    """Errors and warnings of the library as sentences on standard error."""
    with _notes(debug=debug, quiet=quiet):
        try:
            yield
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                _drop_output()
                raise click.exceptions.Exit(BROKEN_PIPE) from None
            if debug:
                traceback.print_exc()
            raise Failure(_sentence(error)) from error


@contextlib.contextmanager
def _notes(*, debug: bool, quiet: bool) -> Iterator[None]:
    """Each warning of the library once, as a note; those of other libraries if they are wanted."""
    said: set[str] = set()

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        from suffice.exceptions import SufficeWarning

        text = str(message)
        if (issubclass(category, SufficeWarning) or debug) and not quiet and text not in said:
            said.add(text)
            click.echo(f"suffice: note: {text}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


def _sentence(error: Exception) -> str:
    """What is wrong, for who called the command."""
    from suffice.exceptions import SufficeError

    said = _as_options(str(error).strip())
    if isinstance(error, SufficeError):
        return said
    if isinstance(error, MemoryError):
        return "There is not enough memory. Read fewer columns (--columns, --ignore), or fewer words (--slots)."
    if isinstance(error, ModuleNotFoundError):
        extra = "files" if error.name == "pyarrow" else "cli"
        return f"This needs {error.name}: pip install 'suffice[{extra}]'"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename!r}: " if error.filename is not None else ""
        return f"{where}{error.strerror.lower()}."
    if isinstance(error, ValueError) and said:
        return said.splitlines()[0]  # the checks of scikit-learn go on with advice on its own classes
    what = f"{type(error).__name__}: {said.splitlines()[0]}" if said else type(error).__name__
    return (
        f"This is a bug in Suffice, and not your doing ({what.rstrip('.')}). "
        "Run the command again with --debug, and report what it shows."
    )


def _as_options(text: str) -> str:
    """A sentence of the library, with its arguments as the command has them.

    >>> _as_options("Leave such rows out with bad_rows='skip'; give encoding='latin-1', names= or slots=0.")
    'Leave such rows out with --bad-rows skip; give --encoding latin-1, --names or --slots 0.'
    >>> _as_options("Leave it out: ignore=['a b']. Choose the column (columns).")
    "Leave it out: --ignore 'a b'. Choose the column (--columns)."
    """

    def option(found: re.Match[str]) -> str:
        if found[8]:
            return f"(--{found[8]})"
        value = shlex.quote(found[7]) if found[5] else found[3] or found[4] or ""
        return f"--{(found[1] or found[5]).replace('_', '-')} {value}".strip()

    return ARGUMENT.sub(option, text)


@contextlib.contextmanager
def telling_of_output() -> Iterator[None]:
    """Leave with a sentence where there is no room for what is printed: a help page, or the sentence of an error."""
    try:
        yield
    except OSError as error:
        _drop_output()
        sys.exit(f"suffice: {_sentence(error)}")
    except SystemExit as leaving:
        unwritten = _not_written()
        if unwritten is None or leaving.code:  # what was said before is the reason
            raise
        sys.exit(BROKEN_PIPE if unwritten.errno == errno.EPIPE else f"suffice: {_sentence(unwritten)}")


def _not_written() -> OSError | None:
    """Why what was printed, and waits to be written, cannot be; Python would find out too late to say it well."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _drop_output()
        return error
    except ValueError:  # it is closed
        pass
    return None


def _drop_output() -> None:
    """Let nothing more be written to an output that nobody reads."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""Shared code of all commands: examples in the help, errors and warnings as sentences, ``--quiet``, ``--debug``."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

import click

from suffice.cli.spelling import shell_spelling

if TYPE_CHECKING:
    from suffice.exceptions import Argument, SufficeError, SufficeWarning
    from suffice.sources.files import Source

__all__ = [
    "MISSING_DATA",
    "Choice",
    "Command",
    "HelpContext",
    "SkipCounts",
    "command",
    "is_quiet",
    "listed_with_and",
    "mark_written",
    "note",
    "note_reading",
    "note_skipped_rows",
    "output_errors",
    "section",
    "stopped",
    "worded",
    "write_examples",
]

F = TypeVar("F", bound=Callable[..., object])
_heading_of: WeakKeyDictionary[click.Parameter, str] = WeakKeyDictionary()
MISSING_DATA = "Missing argument 'DATA...'. Give - to read standard input."
SETTINGS = "Settings of"  # headings of options that a model keeps when it is updated
SENTENCE_END = re.compile(r"(?<=[.?]) +(?=[A-Z\0])")
PLACEHOLDER = re.compile("\0([0-9]+)\0")
OPTIONS, GENERAL = "Options", {"--quiet", "--debug", "--help"}
CLICK_WIDTH, LEAST_WIDTH = 50, 20  # characters of a line of help, at least: click's, and on a narrower terminal
EXTRAS = {"pyarrow": "files"} | dict.fromkeys(["httptools", "prometheus_client", "starlette", "uvicorn"], "server")
BROKEN_PIPE, INTERRUPTED = 141, 130  # exit codes that a shell gives a process ended by SIGPIPE or SIGINT


class Choice(click.Choice):  # type: ignore[type-arg]  # generic since 8.2 only
    """One of several words; the error suggests a similar one, or the one that another word means.

    ``synonyms`` are suggested; ``aliases`` are accepted.
    """

    def __init__(
        self,
        choices: Sequence[str],
        case_sensitive: bool = True,
        *,
        synonyms: Mapping[str, str] | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(choices, case_sensitive)
        self.synonyms, self.aliases = synonyms or {}, aliases or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the text of an option."""
        try:
            return super().convert(self.aliases.get(str(value).lower(), value), param, ctx)
        except click.BadParameter as error:
            from suffice.exceptions import did_you_mean

            meant = self.synonyms.get(str(value).lower())
            hint = did_you_mean(value, self.choices) if meant is None else f" Did you mean {meant!r}?"
            raise click.BadParameter(f"{error.message}{hint}", ctx, param) from None


class Failure(click.ClickException):
    """An error in the data or the system, not in the usage of the command."""

    exit_code = 1

    def __init__(self, message: str, page: str | None = None) -> None:
        super().__init__(message)
        self.page = page

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence on standard error, and a line with the page of the documentation about it."""
        click.echo(f"suffice: {self.format_message()}", file=file, err=file is None)
        if self.page is not None:
            click.echo(f"See {self.page}.", file=file, err=file is None)


def write_examples(formatter: click.HelpFormatter, examples: str) -> None:
    """Write shell commands to a help page as they are; long ones have a backslash at the end of each line."""
    formatter.write_paragraph()
    with formatter.section("Examples"):
        for line in examples.strip().splitlines():
            formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def section(heading: str, *options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Add options to a command, under a heading of its help page.

    Parameters
    ----------
    heading : str
    *options : callable
        Decorators that add options.
    """

    def add(function: F) -> F:
        decorated: Any = function
        before = len(getattr(decorated, "__click_params__", ()))
        for option in reversed(options):
            decorated = option(decorated)
        for parameter in decorated.__click_params__[before:]:
            _heading_of.setdefault(parameter, heading)
        return decorated  # type: ignore[no-any-return]

    return add


class HelpContext(click.Context):
    """A context whose help fits a terminal of less than 52 columns, too; click's has 50 at least."""

    def make_formatter(self) -> click.HelpFormatter:
        """Return a formatter for the width of the terminal."""
        columns = shutil.get_terminal_size().columns
        if self.terminal_width is not None or columns - 2 >= CLICK_WIDTH:
            return super().make_formatter()
        return self.formatter_class(width=max(columns - 2, LEAST_WIDTH))


class Command(click.Command):
    """A command whose help has its options under headings, ends in examples, and whose errors are sentences."""

    context_class = HelpContext
    examples: str = ""

    def __init__(self, *args: Any, examples: str = "", **options: Any) -> None:
        super().__init__(*args, **options)
        self.examples = examples
        quiet = click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            callback=_store_in_context,
            help="Show no progress and no notes.",
        )
        debug = click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            callback=_store_in_context,
            help="Show the Python traceback of an error.",
        )
        self.params += [quiet, debug]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an option with a single value may not be given twice, because one would be lost."""
        try:
            _, _, order = self.make_parser(ctx).parse_args(list(args))
        except click.NoSuchOption as error:
            others = _commands_with(error.option_name, ctx)
            if not others:
                raise
            raise click.UsageError(f"No such option '{error.option_name}'. {others}", ctx) from None
        for at, parameter in enumerate(order):
            single = isinstance(parameter, click.Option) and not (parameter.multiple or parameter.is_flag)
            if single and parameter in order[:at]:
                raise click.UsageError(f"{parameter.opts[-1]} is given twice. Give it once.", ctx)
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            if error.param is None or error.param.name != "data":
                raise
            raise click.UsageError(MISSING_DATA, ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by their headings; those without one come first, and those of all commands last."""
        records: dict[str, list[tuple[str, str]]] = {OPTIONS: []}
        general: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = None if isinstance(parameter, click.Argument) else parameter.get_help_record(ctx)
            if record is not None and GENERAL.intersection(parameter.opts):
                general.append(record)
            elif record is not None:
                records.setdefault(_heading_of.get(parameter, OPTIONS), []).append(record)
        records.setdefault("Other" if len(records) > 1 else OPTIONS, []).extend(general)
        for heading, lines in records.items():
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(lines, col_max=min(26, formatter.width // 2))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        write_examples(formatter, self.examples)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; ``ctx.obj``, if there is one, prepares the process before."""
        if ctx.obj is not None:
            ctx.obj()
        with _errors_as_sentences(debug=ctx.meta.get("debug", False), quiet=is_quiet(ctx)):
            return super().invoke(ctx)


def command(name: str, summary: str, examples: str) -> Callable[[Callable[..., object]], Command]:
    """Turn a function into a command.

    Parameters
    ----------
    name : str
    summary : str
        Line in the list of all commands. The function's docstring is the help.
    examples : str
        Shell commands, one per line.
    """
    return click.command(name, cls=Command, short_help=summary, examples=examples)


def _commands_with(option: str, ctx: click.Context) -> str:
    """A sentence with the other commands that have an option; empty if there is none."""
    group = None if ctx.parent is None else ctx.parent.command
    if not isinstance(group, click.Group):
        return ""
    found = [
        name
        for name in group.list_commands(ctx)
        if (other := group.get_command(ctx, name)) is not None
        if any(option in (*each.opts, *each.secondary_opts) for each in other.params)
    ]
    if len(found) < 2:
        return f"The command {found[0]} has it." if found else ""
    return f"The commands {listed_with_and(found)} have it."


def listed_with_and(words: Sequence[str]) -> str:
    """Several words as a sentence lists them.

    >>> listed_with_and(["fit", "predict", "explain"])
    'fit, predict and explain'
    """
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _store_in_context(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.meta[str(parameter.name)] = value


def is_quiet(ctx: click.Context | None = None) -> bool:
    """Whether the user asked for no progress and no notes."""
    ctx = ctx or click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get("quiet"))


def note(sentence: str) -> None:
    """Print a remark on standard error, once in a command, unless the user asked for none."""
    ctx = click.get_current_context(silent=True)
    given: set[str] = set() if ctx is None else ctx.meta.setdefault("notes", set())
    if not is_quiet() and sentence not in given:
        click.echo(f"suffice: note: {sentence}", err=True)
    given.add(sentence)


def worded(facts: SufficeError | SufficeWarning) -> str:
    """The sentences of an error or a warning with options in place of arguments.

    A sentence that advises only options that the command does not have, or does not allow with ``--update``, is
    dropped.
    """
    pieces = [piece if isinstance(piece, str) else f"\0{at}\0" for at, piece in enumerate(facts.sentence)]
    first, *others = SENTENCE_END.split("".join(pieces))
    arguments = {at: piece for at, piece in enumerate(facts.sentence) if not isinstance(piece, str)}
    found = [(each, [arguments[int(at)] for at in PLACEHOLDER.findall(each)]) for each in others]
    kept = [first, *(each for each, advised in found if not advised or any(map(_is_available, advised)))]
    return PLACEHOLDER.sub(lambda at: shell_spelling(arguments[int(at[1])]), " ".join(kept))


def _is_available(argument: Argument) -> bool:
    """Whether the current command has the option of an argument."""
    from suffice.exceptions import Estimator

    ctx = click.get_current_context(silent=True)
    flag = shell_spelling(argument).split()[0]
    if ctx is None or isinstance(argument, Estimator) or not flag.startswith("--"):
        return True
    if ctx.command.name in ("merge", "export"):
        return True  # their models come from fit, which has the options
    options = [each for each in ctx.command.params if flag in (*each.opts, *each.secondary_opts)]
    updates = ctx.params.get("update") is not None
    return any(not (updates and _heading_of.get(each, "").startswith(SETTINGS)) for each in options)


def note_reading(source: Source) -> None:
    """Print how a source is read."""
    for remark in source.remarks:
        note(worded(remark))


def mark_written(what: str) -> None:
    """Remember what a command has written so far, for the case that it is stopped."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None:
        ctx.meta["written"] = what


def stopped() -> click.exceptions.Exit:
    """Print what an interrupted command has written, and return the exception that ends it."""
    ctx = click.get_current_context(silent=True)
    written = "nothing was written" if ctx is None else ctx.meta.get("written", "nothing was written")
    click.echo(f"suffice: stopped; {written}.", err=True)
    return click.exceptions.Exit(INTERRUPTED)


class SkipCounts(Protocol):
    """A source, or the report of a fit: how many bad rows were skipped, and the errors of the first."""

    @property
    def skipped(self) -> int: ...  # noqa: D102

    @property
    def problems(self) -> Sequence[SufficeError]: ...  # noqa: D102


def note_skipped_rows(source: SkipCounts) -> None:
    """Print which bad rows were skipped: a sentence for each of the first, and how many there were."""
    for problem in source.problems:
        note(worded(problem))
    if source.skipped:
        note("1 bad row was skipped." if source.skipped == 1 else f"{source.skipped:,} bad rows were skipped.")


# ---------------------------------------------------------------------- errors and warnings


@contextlib.contextmanager
def _errors_as_sentences(*, debug: bool, quiet: bool) -> Iterator[None]:
    """Print errors and warnings of the library as sentences on standard error."""
    with _warnings_as_notes(debug=debug, quiet=quiet):
        try:
            yield
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            raise stopped() from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                _discard_output()
                raise click.exceptions.Exit(BROKEN_PIPE) from None
            if debug:
                traceback.print_exc()
            raise Failure(_sentence(error), None if debug else _page(error)) from error


@contextlib.contextmanager
def _warnings_as_notes(*, debug: bool, quiet: bool) -> Iterator[None]:
    """Print each warning of the library once, as a note; with ``--debug`` also those of other libraries."""
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        from suffice.exceptions import SufficeWarning

        ours = isinstance(message, SufficeWarning)
        text = worded(message) if isinstance(message, SufficeWarning) else str(message)
        if (ours or debug) and not quiet and text not in printed:
            printed.add(text)
            click.echo(f"suffice: note: {text}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


def _sentence(error: Exception) -> str:
    """Describe an error to the user of the shell."""
    from suffice.exceptions import SufficeError

    if isinstance(error, SufficeError):
        return worded(error).strip()
    if isinstance(error, MemoryError):
        return "There is not enough memory. Read fewer columns (--columns, --ignore), or use fewer words (--slots)."
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        return f"This needs {package}: pip install 'suffice[{EXTRAS.get(package, 'cli')}]'"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename!r}: " if error.filename is not None else ""
        return f"{where}{error.strerror.lower()}."
    text = str(error).strip()
    first_line = text.splitlines()[0] if text else ""
    if isinstance(error, ValueError) and first_line:
        return first_line  # scikit-learn's checks continue with advice about its own classes
    what = f"{type(error).__name__}: {first_line}" if first_line else type(error).__name__
    return (
        f"This is a bug in Suffice ({what.rstrip('.')}). Please run the command again with --debug and report what it "
        "prints."
    )


def _page(error: Exception) -> str | None:
    """The page of the documentation about an error of the library."""
    from suffice.cli.pages import page_of
    from suffice.exceptions import SufficeError

    return page_of(error) if isinstance(error, SufficeError) else None


@contextlib.contextmanager
def output_errors() -> Iterator[None]:
    """Exit with a sentence if standard output cannot be written, for example to a full disk."""
    try:
        yield
    except OSError as error:
        _discard_output()
        sys.exit(f"suffice: {_sentence(error)}")
    except SystemExit as leaving:
        failed = _flush_output()
        if failed is None or leaving.code:  # an earlier error has already been printed
            raise
        sys.exit(BROKEN_PIPE if failed.errno == errno.EPIPE else f"suffice: {_sentence(failed)}")


def _flush_output() -> OSError | None:
    """Write what standard output has buffered, and return the error if that fails.

    Python would flush it at exit, too late to print a sentence about the error.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        _discard_output()
        return error
    except ValueError:  # the stream is closed
        pass
    return None


def _discard_output() -> None:
    """Send what is still written to standard output to the null device."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""The list of commands, each imported when it is asked for."""

from __future__ import annotations

import importlib
from difflib import get_close_matches
from typing import Any

import click

from suffice import __version__
from suffice.cli.command import write_examples

__all__ = ["suffice"]

COMMANDS = (
    "fit",
    "predict",
    "evaluate",
    "inspect",
    "explain",
    "sample",
    "merge",
    "remove",
    "compare",
    "demo",
    "completion",
)
EXAMPLES = """
suffice fit train.csv --target species -o flowers.suffice
suffice evaluate flowers.suffice test.csv --target species
suffice predict flowers.suffice new.parquet -o answers.csv
suffice explain flowers.suffice new.parquet --row 0
"""


class CommandGroup(click.Group):
    """Commands that are modules of this package with a ``command``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"suffice.cli.{cmd_name}").command
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command that the arguments begin with, or the one that was probably meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            meant = get_close_matches(args[0], self.list_commands(ctx), 1) if args else []
            if not meant:
                raise
            ctx.fail(f"{error.message.rstrip('.')}. Did you mean {meant[0]!r}?")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples, line by line."""
        write_examples(formatter, EXAMPLES)


@click.group(
    cls=CommandGroup,
    name="suffice",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="suffice", message="%(prog)s %(version)s")
def suffice() -> None:
    """Learn, use and understand classifiers of files: naive Bayes, Gaussian discriminant analysis, text.

    DATA is one or more CSV, JSON lines, Parquet or Arrow files, compressed or not, globs or folders of them, or - for
    standard input. It is streamed, and may be larger than memory. Exit codes: 0, 1 for bad data, 2 for bad usage.
    """

"""The list of commands. Each is imported only when it is used."""

from __future__ import annotations

import importlib

import click

from suffice import __version__
from suffice.cli.command import HelpContext, listed_with_and, stopped, write_examples

__all__ = ["suffice"]

SECTIONS = {
    "Learn": ("fit", "merge", "remove"),
    "Use": ("predict", "explain", "sample", "serve", "export"),
    "Score": ("evaluate", "monitor", "compare"),
    "Describe": ("inspect", "report"),
    "Other": ("demo", "completion"),
}
"""The commands by what a user wants to do."""
COMMANDS = tuple(name for names in SECTIONS.values() for name in names)
EXAMPLES = """
suffice fit train.csv --target species -o flowers.suffice
suffice fit inbox -o filter.suffice
suffice evaluate flowers.suffice test.csv --target species
suffice predict flowers.suffice new.parquet -o answers.csv
suffice explain flowers.suffice new.parquet --row 0
"""
DOCUMENTATION = "Documentation: docs/command.md in the repository, or `make docs`."


class CommandGroup(click.Group):
    """Commands that are modules of this package with an attribute ``command``."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order in which a user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"suffice.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, or fail and suggest a similar one, or all."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from suffice.exceptions import did_you_mean

            commands = self.list_commands(ctx)
            hint = did_you_mean(args[0], commands) if args else ""
            hint = hint or f" The commands are {listed_with_and(commands)}."
            ctx.fail(f"{error.message.rstrip('.')}.{hint}")

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # while a command is imported, or its options are read
            raise stopped() from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under headings; one column of names for all of them."""
        width = max(map(len, COMMANDS))
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                found = ((name, self.get_command(ctx, name)) for name in names)
                lines = [(name.ljust(width), each.short_help or "") for name, each in found if each is not None]
                formatter.write_dl(lines)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and where the documentation is."""
        write_examples(formatter, EXAMPLES)
        formatter.write_paragraph()
        formatter.write_text(DOCUMENTATION)


@click.group(
    cls=CommandGroup,
    name="suffice",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="suffice", message="%(prog)s %(version)s")
def suffice() -> None:
    """Fit and use generative classifiers: ensembles, naive Bayes, Gaussian discriminant analysis, text.

    DATA is one or more files, folders or globs, or - for standard input: tables (CSV, JSON lines, Parquet, Arrow; CSV
    and JSON lines may be compressed), or mails (.eml, mbox, Maildir) with a folder or mbox for each class. Files are
    streamed and may be larger than memory.

    Exit codes: 0 for success, 1 for bad data, 2 for wrong usage, 3 for drift (monitor).
    """

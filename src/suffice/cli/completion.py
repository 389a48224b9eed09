"""``suffice completion``: print a completion script for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from suffice.cli.command import Choice
from suffice.cli.command import command as _command

__all__ = ["command"]

EXAMPLES = """
suffice completion bash > suffice.bash
suffice completion zsh > suffice.zsh
suffice completion fish > suffice.fish
"""


@_command("completion", "Print a completion script for a shell.", EXAMPLES)
@click.argument("shell", type=Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that makes a shell complete commands, options and file names.

    To load it at every start, add `eval "$(suffice completion bash)"` to ~/.bashrc, or the same with zsh to ~/.zshrc.
    For fish, save it as ~/.config/fish/completions/suffice.fish.
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    click.echo(completion_class(ctx.find_root().command, {}, "suffice", "_SUFFICE_COMPLETE").source())

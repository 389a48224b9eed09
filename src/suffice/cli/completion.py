"""``suffice completion``: what a shell needs to complete the command."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from suffice.cli.command import command as _command

__all__ = ["command"]

EXAMPLES = """
suffice completion bash > suffice.bash
suffice completion zsh > suffice.zsh
suffice completion fish > suffice.fish
"""


@_command("completion", "Print a script that completes the command in a shell.", EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and files in a shell.

    Source it from the shell's own start: `eval "$(suffice completion bash)"` in ~/.bashrc, the same with zsh in
    ~/.zshrc; for fish, save it as ~/.config/fish/completions/suffice.fish.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "suffice", "_SUFFICE_COMPLETE").source())

"""Wrong usage in one line, as all other errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from s2mam.cli.console import INTERRUPTED

__all__ = ["Commands"]

# typer has brought its own click for a while; this is the class of either.
_UsageError: Any = typer.BadParameter.__base__


class Commands(TyperGroup):
    """Commands whose wrong usage is told in one line, with exit code 2."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; see click's ``Command.main``."""
        given = sys.argv[1:] if args is None else args
        try:
            code = super().main(
                args,
                prog_name,
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
        except _UsageError as error:
            if not standalone_mode:
                raise
            _tell(error, as_json="--json" in given)
            sys.exit(error.exit_code)
        except typer.Abort:  # how older versions tell of Ctrl-C
            sys.exit(INTERRUPTED)
        return sys.exit(code if isinstance(code, int) else 0) if standalone_mode else code


def _tell(error: Any, *, as_json: bool) -> None:
    if type(error).__name__ == "NoArgsIsHelpError":  # no error to speak of
        error.show()
        return
    text = " ".join(str(error.format_message()).split())
    if as_json:
        typer.echo(json.dumps({"error": text}))
    command = "s2mam" if error.ctx is None else error.ctx.command_path
    typer.echo(f"s2mam: error: {text} See {command} -h.", err=True)

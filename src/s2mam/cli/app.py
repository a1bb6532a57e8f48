"""The command line put together from its commands."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from s2mam._version import __version__
from s2mam.cli.bench import bench
from s2mam.cli.console import INTERRUPTED, PIPE_CLOSED, drop_output
from s2mam.cli.demo import demo
from s2mam.cli.experiments import experiments
from s2mam.cli.fit import fit
from s2mam.cli.info import info
from s2mam.cli.paper import paper
from s2mam.cli.predict import predict
from s2mam.cli.report import report
from s2mam.cli.usage import Commands

__all__ = ["app", "main"]

app = typer.Typer(
    name="s2mam",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line.

    A reader that closes the pipe early (``s2mam predict ... | head``) is no error to speak of.
    """
    try:
        try:
            app(prog_name="s2mam")
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
        sys.exit(PIPE_CLOSED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"s2mam {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Few labels, many unlabelled rows, many junk columns: find the columns that matter.

    \b
    Examples:
      s2mam demo
      s2mam fit table.csv --target y --output model.s2mam
      s2mam predict model.s2mam new.csv --output predictions.csv
      s2mam info model.s2mam

    Exit codes: 0 well, 1 an error, 2 wrong usage (one line says which), 130 stopped.
    """


# The commands import what they need when they run, so that mounting them costs nothing.
for _command in (fit, predict, report, info, demo, bench, paper):
    app.command()(_command)
app.add_typer(experiments, name="experiments")

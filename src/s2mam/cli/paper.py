"""``s2mam paper``: the tables and figures of the paper, run again beside its claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from s2mam.cli.console import Debug, Jobs, Json, Quiet, session
from s2mam.exceptions import InvalidInputError

if TYPE_CHECKING:
    from s2mam.experiments.protocol import Protocol
    from s2mam.experiments.summary import Line

__all__ = ["Quick", "paper"]

Quick = Annotated[bool, typer.Option("--quick", help="A small form, to see that it works.")]


def paper(
    name: Annotated[str, typer.Argument(help="Study; without a name the studies are listed.")] = "",
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Repeats; the default is the paper's number.")
    ] = None,
    quick: Quick = False,
    systems: Annotated[
        str | None, typer.Option(help="Systems to run, with commas between them.")
    ] = None,
    settings: Annotated[
        str | None, typer.Option(help="Only settings that match, such as 'code_*'.")
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Columns as they are, not scaled, in tables of their own.")
    ] = False,
    n_jobs: Jobs = 1,
    output: Annotated[
        Path, typer.Option("--output", "-o", file_okay=False, help="Folder to write.")
    ] = Path("s2mam_paper"),
    data_home: Annotated[
        Path | None,
        typer.Option("--data-home", file_okay=False, help="Folder of data sets."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0.0, help="Most CPU seconds of a cell.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run cells again that failed.")
    ] = False,
    rerun: Annotated[
        str | None,
        typer.Option(help="Systems to run again where other code computed them."),
    ] = None,
    device: Annotated[
        Literal["cpu", "cuda", "auto"], typer.Option(help="Where networks are trained.")
    ] = "cpu",
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run a study of the paper and print its table beside the paper's claims.

    Finished cells are kept in the output folder: the same command again goes on where it was
    stopped, and more repeats, settings and systems are added to those that are there. --rerun names
    systems whose code has changed since.

    \b
    Examples:
      s2mam paper
      s2mam paper table2 --quick
      s2mam paper table2 --settings 'code_*' --systems S2MAM,LapSVM,null --n-jobs 2
      s2mam paper table2 --raw --settings 'code_*' --repeats 10
      s2mam paper coil20 --systems SSNP,FlexMatch --device cuda --n-jobs 4
      s2mam paper adni --data-home ~/data
    """
    with session(as_json=as_json, quiet=quiet, debug=debug) as console:
        from s2mam.experiments.progress import silent, watch
        from s2mam.experiments.report import run_study
        from s2mam.experiments.studies import PROTOCOLS, make_protocol, shorten, unscaled
        from s2mam.experiments.tables import line_rows

        if not name:
            known = {key: str(make.__doc__).splitlines()[0] for key, make in PROTOCOLS.items()}
            lines = [f"{key:10} {title}" for key, title in known.items()]
            console.result(lines, command="paper", studies=known)
            return
        whole = unscaled(make_protocol(name)) if raw else make_protocol(name)
        protocol = shorten(
            whole,
            quick=quick,
            repeats=repeats,
            systems=None if systems is None else _names(systems),
            settings=settings,
            time_limit=time_limit,
        )
        study = run_study(
            protocol,
            output,
            n_jobs=n_jobs,
            data_home=data_home,
            retry_failed=retry_failed,
            rerun=() if rerun is None else _names(rerun, "--rerun"),
            device=None if device == "cpu" else device,
            whole=whole,
            progress=watch if console.talks else silent,
        )
        # Of the whole study: a run of one system must not take the others out of the picture.
        paths = [*study.paths, *_pictures(name, whole, output)]
        useless = _useless(study.lines, protocol)
        if useless:
            console.warn(useless)
        console.result(
            [study.text, f"Wrote {', '.join(map(str, paths))}."],
            command="paper",
            study=name,
            table=line_rows(study.lines),
            files=paths,
        )
        if useless:
            raise typer.Exit(1)


def _useless(lines: list[Line], protocol: Protocol) -> str:
    """One sentence on systems of this run none of whose cells was any good."""
    settings = {setting.name for setting in protocol.settings}
    failed: dict[str, str] = {}
    worked = set()
    for line in lines:
        if line.setting in settings and line.system in protocol.systems:
            if line.failed:
                failed.setdefault(line.system, line.error)
            if "test" in line.scores:
                worked.add(line.system)
    reasons = [f"{name} ({error})" for name, error in failed.items() if name not in worked]
    return f"Every cell failed of {', '.join(reasons)}." if reasons else ""


def _pictures(name: str, protocol: Any, output: Path) -> list[Path]:
    if name != "figure1":
        return []
    from s2mam.experiments.figure1 import draw_curves, draw_surfaces

    curves = draw_curves(protocol, output / f"{protocol.name}.png")
    surfaces = draw_surfaces(protocol, output / f"{protocol.name}_surfaces.png")
    return [curves] if surfaces is None else [curves, surfaces]


def _names(text: str, option: str = "--systems") -> list[str]:
    """The names of a list; some hold commas themselves, and the longest known one counts."""
    from s2mam.experiments.systems import all_systems

    known = all_systems()
    parts = [part for part in map(str.strip, text.split(",")) if part]
    if not parts:
        raise InvalidInputError(f"{option} names no system; put commas between the names.")
    names = []
    while parts:
        sizes = range(len(parts), 0, -1)
        size = next((k for k in sizes if ", ".join(parts[:k]) in known), 1)
        names.append(", ".join(parts[:size]))
        del parts[:size]
    return list(dict.fromkeys(names))

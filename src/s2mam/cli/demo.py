"""``s2mam demo``: methods compared on a real table, and a picture."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from s2mam.cli.console import Debug, Json, Quiet, session
from s2mam.cli.files import check_output, replacing
from s2mam.cli.progress import watch_steps
from s2mam.exceptions import DegenerateGraphWarning

__all__ = ["demo"]


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture to write.")] = Path(
        "s2mam_demo.png"
    ),
    seed: Annotated[
        int, typer.Option(min=0, max=2**31 - 1, help="Draws the junk, the split and the labels.")
    ] = 0,
    paper_iterations: Annotated[
        int, typer.Option(min=1, help="Iterations of the paper's algorithm.")
    ] = 300,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare methods on a real table and draw a picture.

    15 labelled wines among 118, 13 measurements and 20 columns of junk; takes well under a minute.

    \b
    Examples:
      s2mam demo
      s2mam demo --seed 3 --output wines.png
    """
    with session(as_json=as_json, quiet=quiet, debug=debug) as console:
        from s2mam._demo.contenders import compare
        from s2mam._demo.example import make_example
        from s2mam._demo.picture import draw
        from s2mam._demo.report import EXPLANATION, show_scores

        check_output(output)
        example = make_example(seed)
        n_real, n_labeled = int(example.real.sum()), int(example.labeled.sum())
        if console.talks:
            typer.echo(
                f"{len(example.y)} wines of 3 cultivars, {n_labeled} of them labelled; {n_real} "
                f"measurements and {example.real.size - n_real} columns of junk."
            )
        scores = []
        with warnings.catch_warnings(), watch_steps(shown=console.talks) as say:
            # The paper preset's, which the explanation below names.
            warnings.simplefilter("ignore", DegenerateGraphWarning)
            for score in compare(example, seed=seed, paper_iterations=paper_iterations):
                scores.append(score)
                say(f"{score.name}: {score.seconds:.1f} s")
        if console.talks:
            show_scores(scores)
        best = scores[0].model
        with replacing(output) as temporary:
            shown = draw(best, example, temporary)
        chosen = [name for name, on in zip(example.names, best.support_, strict=True) if on]
        names = ("name", "unlabeled", "test", "n_real", "n_junk", "seconds")
        console.result(
            [
                EXPLANATION.format(n_test=len(example.y_test)),
                f"Columns that S2MAM chose: {', '.join(chosen)}.",
                f"Wrote {output}: the effects of {', '.join(shown)}.",
            ],
            command="demo",
            seed=seed,
            picture=output,
            selected=chosen,
            scores=[{name: getattr(score, name) for name in names} for score in scores],
        )

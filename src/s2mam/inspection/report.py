"""One HTML file that tells a colleague what was learned, from what, and how sure that is."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from s2mam.exceptions import InvalidInputError
from s2mam.inspection.report_parts.contents import build_page
from s2mam.inspection.report_parts.findings import gather
from s2mam.inspection.report_parts.held_out import Refits
from s2mam.inspection.report_parts.page import plotly_bundle
from s2mam.persistence.atomic import atomic_writer

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["report"]


def report(
    estimator: AdditiveEstimator,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    test: tuple[Any, Any] | None = None,
    n_resamples: int = 10,
    folds: int = 5,
    level: float = 0.9,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    model_path: str | os.PathLike[str] | None = None,
    show_rows: bool = True,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write one self-contained HTML file about a fitted model.

    It says what the data was, which columns were kept and how sure that is, shows the curves with
    bands, scores the model on held-out labels against the null model and against itself without the
    unlabelled rows, warns about the data, and lists settings and versions. It needs no network and
    no server; pictures are interactive, and every number is in a plain table too.

    The model itself is not changed. Copies are fitted ``n_resamples`` times for the bands and twice
    ``folds`` times for the scores.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model.
    X, y
        The rows and the target it was fitted to, unlabelled rows included.
    path : str or path-like
        The file; an existing one is replaced when the new one is complete.
    title : str, optional
        Heading of the page.
    test : tuple (X, y), optional
        Rows to score the model on, instead of folds of the labelled rows.
    n_resamples : int, default=10
        Refits for bands and selection frequencies; 0 leaves both out. Take 100 to publish.
    folds : int, default=5
        Folds over the labelled rows; 0 leaves the scores out.
    level : float, default=0.9
        Level of bands and intervals.
    sample_weight : array-like of shape (n,), optional
        The weights of the fit.
    feature_names : sequence of str, optional
        Names for a table without any.
    model_path : str or path-like, optional
        Where the model file is, to be named in the page.
    show_rows : bool, default=True
        Whether values of single rows (marks under the curves, held-out predictions) and the
        contents of the columns may be in the file.
    random_state : int, default=0
        Seed of folds, resamples and refits.
    n_jobs : int or None
        Refits side by side; the result does not depend on it.
    progress : callable, optional
        Called with a line of text before each step.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = report(model, data.X, data.y, f"{folder}/a.html", n_resamples=0, folds=0)
    ...     file.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    check_is_fitted(estimator, "mask_probabilities_")
    target = _check(path, n_resamples, folds, level)
    plotly = plotly_bundle()  # before the work, which may take minutes
    tell = progress or (lambda _: None)
    findings = gather(
        estimator,
        X,
        y,
        Refits(random_state, sample_weight, n_jobs, level),
        test=test,
        n_resamples=n_resamples,
        folds=folds,
        feature_names=feature_names,
        progress=tell,
    )
    page = build_page(
        estimator,
        findings,
        title=title,
        model_path=None if model_path is None else os.fspath(model_path),
        show_rows=show_rows,
    )
    tell(f"writing {target}")
    html = page.to_html(plotly).encode("utf-8", errors="replace")
    with atomic_writer(target) as stream:
        stream.write(html)
    return target


def _check(path: str | os.PathLike[str], n_resamples: int, folds: int, level: float) -> Path:
    """Refuse what cannot work before the work is done."""
    target = Path(path)
    if target.is_dir():
        raise InvalidInputError(f"path={str(target)!r} is a folder; name a file in it.")
    if not target.absolute().parent.is_dir():
        raise InvalidInputError(f"There is no folder {str(target.parent)!r} to write into.")
    if n_resamples < 0 or n_resamples == 1:
        raise InvalidInputError(f"n_resamples={n_resamples} must be 0, or 2 and more.")
    if folds < 0 or folds == 1:
        raise InvalidInputError(f"folds={folds} must be 0, or 2 and more.")
    if not 0.0 < level < 1.0:
        raise InvalidInputError(f"level={level} must lie between 0 and 1, both left out.")
    return target

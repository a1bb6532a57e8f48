"""``s2mam info``: the installation, a model file, or a data set."""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from s2mam._version import __version__
from s2mam.cli.columns import model_columns
from s2mam.cli.console import Debug, Json, session
from s2mam.cli.models import load_model
from s2mam.cli.names import near, shown, some
from s2mam.exceptions import InvalidInputError

__all__ = ["info"]

_NEEDED = ("numpy", "scipy", "scikit-learn", "narwhals", "typer")
_OPTIONAL = {
    "pandas": "tables on the command line",
    "pyarrow": "parquet tables",
    "openpyxl": "Excel tables",
    "matplotlib": "pictures",
    "plotly": "reports",
    "rich": "progress bars",
    "onnx": "ONNX files",
    "polars": "tables of polars, parquet without pyarrow",
    "pillow": "image data sets",
}


def info(
    name: Annotated[
        str, typer.Argument(help="Model file, data set, or 'datasets' for a list of them.")
    ] = "",
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Describe this installation, a model file or a data set.

    \b
    Examples:
      s2mam info
      s2mam info wines.s2mam
      s2mam info datasets
      s2mam info ionosphere
    """
    with session(as_json=as_json, debug=debug) as console:
        if not name:
            values, lines = _installation()
        elif Path(name).is_file():
            values, lines = _model(Path(name))
        elif name == "datasets":
            values, lines = _data_sets()
        else:
            values, lines = _data_set(name)
        console.result(lines, command="info", **values)


def _installation() -> tuple[dict[str, Any], list[str]]:
    needed = {name: _version(name) for name in _NEEDED}
    optional = {name: _version(name) for name in _OPTIONAL}
    python = platform.python_version()
    lines = [f"s2mam {__version__}, Python {python}, {platform.platform()}", sys.executable, ""]
    lines += [f"{name:13} {number}" for name, number in needed.items()]
    lines += ["", "Optional:"]
    for name, number in optional.items():
        absent = f"absent; for {_OPTIONAL[name]}: pip install {name}"
        lines.append(f"{name:13} {absent if number is None else number}")
    return {"s2mam": __version__, "python": python, "packages": {**needed, **optional}}, lines


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _model(path: Path) -> tuple[dict[str, Any], list[str]]:
    model = load_model(path)
    columns = model_columns(model)
    p = int(model.n_features_in_)
    names = columns.names or [f"x{j}" for j in range(p)]
    probabilities = np.asarray(model.mask_probabilities_)
    order = [int(j) for j in np.argsort(-probabilities, kind="stable")]
    chosen = [j for j in order if model.support_[j]]
    kind = type(model).__name__
    classes = [str(label) for label in getattr(model, "classes_", [])]
    defaults = type(model)().get_params()
    settings = {k: v for k, v in model.get_params().items() if repr(v) != repr(defaults[k])}
    values = {
        "model": path,
        "kind": kind,
        "bytes": path.stat().st_size,
        "rows": len(model.transduction_),
        "labeled": int(model.n_labeled_),
        "target": getattr(model, "target_name_", None),
        "classes": classes or None,
        "columns": [
            {
                "name": names[j],
                "probability": float(probabilities[j]),
                "selected": bool(model.support_[j]),
            }
            for j in order
        ],
        "settings": settings,
        "stop_reason": model.stop_reason_,
    }
    lines = [
        f"{path}: {kind}, {values['bytes'] / 1024:.0f} KiB",
        f"fitted to {values['rows']} rows, {values['labeled']} of them labelled",
    ]
    lines += [f"target: {shown(values['target'])}"] if values["target"] else []
    lines += [f"classes: {some(classes, 20)}"] if classes else []
    lines += [f"{p} columns: {some(names)}", f"selected: {len(chosen)}"]
    lines += [f"  {probabilities[j]:.2f}  {shown(names[j])}" for j in chosen]
    if settings:
        lines.append("settings: " + ", ".join(f"{k}={v!r}" for k, v in settings.items()))
    return values, lines


def _data_sets() -> tuple[dict[str, Any], list[str]]:
    from s2mam.datasets import info as facts
    from s2mam.datasets import list_datasets

    known = [facts(name) for name in list_datasets()]
    lines = [f"{f.name:28} {f.task:15} {f.n_rows:>7} rows {f.n_columns:>5} columns" for f in known]
    return {"datasets": [f.name for f in known]}, lines


def _data_set(name: str) -> tuple[dict[str, Any], list[str]]:
    from s2mam.datasets import info as facts
    from s2mam.datasets import list_datasets

    if name not in list_datasets():
        hint = near(name, list_datasets(), what="data sets are")
        raise InvalidInputError(f"{name!r} is neither a model file nor a data set; {hint}")
    found = facts(name)
    target = (
        found.target if found.n_classes is None else f"{found.target}, {found.n_classes} classes"
    )
    lines = [
        f"{name}: {found.task}, {found.n_rows} rows, {found.n_columns} columns; target {target}",
        f"source:  {found.source}",
        f"licence: {found.licence}; {found.terms}",
        f"origin:  {found.origin}",
    ]
    lines += [f"note:    {found.note}"] if found.note else []
    lines.append(f"in Python: s2mam.datasets.load({name!r})")
    return {"dataset": asdict(found)}, lines

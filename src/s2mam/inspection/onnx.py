"""A fitted model as an ONNX file: one small graph of plain operators per column."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from s2mam._typing import AnyArray, FloatArray
from s2mam.exceptions import InvalidInputError, MissingDependencyError
from s2mam.inspection.lookup import ComponentTable, component_table

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["export_onnx"]

# Operators of these versions are in every runtime of the last years.
_OPSETS = {"": 13, "ai.onnx.ml": 2}
_FORMAT = 7


def export_onnx(
    estimator: AdditiveEstimator,
    X: Any,
    path: str | os.PathLike[str],
    *,
    grid: int = 2000,
    feature_names: Sequence[str] | None = None,
) -> ComponentTable:
    """Write a model as an ONNX file, for runtimes without Python.

    Every column is read from a table of nodes with straight lines between them, see
    :func:`s2mam.inspection.component_table`; beyond its outermost nodes, a quarter of the range
    outside the values of X, a component is held constant. Numbers are computed in double precision.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model.
    X : array-like or dataframe of shape (n, p)
        Rows that say which values and categories to list, for example the training rows.
    path : path
        The file, by custom with the ending ``.onnx``.
    grid : int, default=2000
        Nodes of a numeric column.
    feature_names : sequence of str, optional
        Names for a table without any.

    Returns
    -------
    ComponentTable
        What the file holds; its ``interpolation_error`` bounds the distance to the model.

    Raises
    ------
    MissingDependencyError
        Where the package ``onnx`` is not installed.

    Notes
    -----
    The file has one input of shape (rows, 1) for every column that adds something, by its name:
    doubles, NaN where missing, or strings for categories of text, where any unknown string is
    missing. A regressor has the output ``prediction`` of shape (rows, 1). A classifier has the
    outputs ``label`` of shape (rows,) and ``probabilities`` of shape (rows, n_classes), in the
    order of ``classes_``. A column without a name, with the name of an output or with a name that
    another column has is the input ``column_3``, by its position in the table.

    A runtime compares every value with all nodes of its column, about 20 kB a row with 2,000 nodes:
    feed long tables in blocks of some thousand rows.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from s2mam import ManifoldAdditiveRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=0, random_state=0)
    >>> model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.0).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = export_onnx(model, data.X, Path(folder) / "friedman.onnx")
    >>> table.link
    'identity'
    """
    onnx = _require_onnx()
    table = component_table(estimator, X, grid=grid, feature_names=feature_names)
    draft = _Draft(onnx, table)
    start = _numbers(table, -1, "intercept")
    total = draft.constant("intercept", start)
    for position in sorted({row["position"] for row in table.rows} - {-1}):
        part = draft.component(table, position)
        total = draft.node("Add", [total, part])
    if len(draft.inputs) == 0:
        raise InvalidInputError("No column adds anything, so an ONNX file would have no inputs.")
    outputs = _finish(draft, total, table)
    graph = onnx.helper.make_graph(
        draft.nodes, "s2mam", draft.inputs, outputs, initializer=draft.constants
    )
    opsets = [onnx.helper.make_opsetid(domain, number) for domain, number in _OPSETS.items()]
    model = onnx.helper.make_model(
        graph, opset_imports=opsets, ir_version=_FORMAT, producer_name="s2mam"
    )
    onnx.checker.check_model(model)
    onnx.save_model(model, os.fspath(path))
    return table


def _require_onnx() -> Any:
    try:
        import_module("onnx.checker")
        return import_module("onnx")
    except ImportError as error:
        raise MissingDependencyError(
            "export_onnx needs onnx; install it with: pip install 's2mam[onnx]'."
        ) from error


class _Draft:
    """Nodes, constants and inputs of a graph that is being written."""

    def __init__(self, onnx: Any, table: ComponentTable) -> None:
        self.onnx = onnx
        self.names = _input_names(table)
        # Columns may have any name, also one that looks like a name made here.
        self.prefix = "_"
        while any(name.startswith(self.prefix) for name in self.names.values()):
            self.prefix += "_"
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def node(self, kind: str, inputs: list[str], output: str = "", **options: Any) -> str:
        name = output or f"{self.prefix}{kind}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [name], **options))
        return name

    def constant(self, name: str, values: AnyArray) -> str:
        unique = f"{self.prefix}{name}_{len(self.constants)}"
        self.constants.append(_tensor(self.onnx, unique, values))
        return unique

    def input(self, name: str, text: bool) -> str:
        kind = self.onnx.TensorProto.STRING if text else self.onnx.TensorProto.DOUBLE
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["rows", 1]))
        return name

    def component(self, table: ComponentTable, position: int) -> str:
        """What one column adds, (rows, outputs)."""
        rows = [row for row in table.rows if row["position"] == position]
        name, kinds = self.names[position], {row["kind"] for row in rows}
        missing = _numbers(table, position, "missing")
        if "number" in kinds:
            nodes = np.array([row["value"] for row in rows if row["kind"] == "number"], dtype=float)
            return self._line(name, nodes, _numbers(table, position, "number"), missing)
        keys = [row["value"] for row in rows if row["kind"] == "category"]
        added = np.vstack([_numbers(table, position, "category"), missing])
        return self._category(name, keys, added)

    def _line(self, name: str, nodes: FloatArray, values: FloatArray, missing: FloatArray) -> str:
        """Straight lines between nodes; the number of nodes that are passed says which line."""
        x = self.input(name, text=False)
        gaps = np.diff(nodes)[:, None]
        level = np.zeros((1, values.shape[1]))
        slopes = np.vstack([level, np.diff(values, axis=0) / np.maximum(gaps, 1e-300), level])
        starts = np.concatenate([nodes[:1], nodes])[:, None]
        values = np.vstack([values[:1], values])
        passed = self.node("GreaterOrEqual", [x, self.constant("nodes", nodes[None, :])])
        axis = self.constant("axis", np.array([1]))
        count = self.node("Cast", [passed], to=self.onnx.TensorProto.INT64)
        at = self.node("ReduceSum", [count, axis], keepdims=0)
        part = [
            self.node("Gather", [self.constant(what, numbers), at])
            for what, numbers in (("starts", starts), ("slopes", slopes), ("values", values))
        ]
        # A missing value passes no node, and must not be multiplied.
        gone = self.node("IsNaN", [x])
        there = self.node("Where", [gone, self.constant("zero", nodes[:1, None]), x])
        rise = self.node("Mul", [self.node("Sub", [there, part[0]]), part[1]])
        line = self.node("Add", [part[2], rise])
        return self.node("Where", [gone, self.constant("missing", missing), line])

    def _category(self, name: str, keys: list[Any], added: FloatArray) -> str:
        """A row of a table; the last one is for missing and unknown values."""
        text = all(isinstance(key, str) for key in keys)
        x = self.input(name, text=text)
        if text:
            at = self.node(
                "LabelEncoder",
                [x],
                domain="ai.onnx.ml",
                keys_strings=keys,
                values_int64s=list(range(len(keys))),
                default_int64=len(keys),
            )
            flat = self.node("Reshape", [at, self.constant("flat", np.array([-1]))])
            return self.node("Gather", [self.constant("table", added), flat])
        if any(isinstance(key, str) for key in keys):
            raise InvalidInputError(
                f"Column {name!r} has categories of text and of numbers, which ONNX cannot mix."
            )
        numbers = np.array([float(key) for key in keys])[None, :]
        same = self.node("Equal", [x, self.constant("keys", numbers)])
        chosen = self.node("Cast", [same], to=self.onnx.TensorProto.DOUBLE)
        # Differences from the missing level, so that a row without a match has that level.
        above = self.constant("table", added[:-1] - added[-1:])
        return self.node(
            "Add", [self.node("MatMul", [chosen, above]), self.constant("missing", added[-1:])]
        )


def _input_names(table: ComponentTable) -> dict[int, str]:
    """A name for every column, by position, that no output and no other column has."""
    columns = {row["position"]: str(row["column"]) for row in table.rows if row["position"] >= 0}
    given = ["", "prediction", "label", "probabilities", *columns.values()]
    names = {}
    for position, name in columns.items():
        names[position] = name
        if given.count(name) > 1:
            names[position] = f"column_{position}"
            while names[position] in given:
                names[position] += "_"
    return names


def _finish(draft: _Draft, total: str, table: ComponentTable) -> list[Any]:
    """From the decision to the outputs of the model."""
    info, proto = draft.onnx.helper.make_tensor_value_info, draft.onnx.TensorProto
    if table.classes is None:
        draft.node("Identity", [total], "prediction")
        return [info("prediction", proto.DOUBLE, ["rows", 1])]
    if table.link == "logistic":
        other = draft.constant("other", np.array([[-1.0, 1.0]]))
        # The softmax of (-f/2, f/2) is the logistic function of -f and f.
        halves = draft.node("Mul", [total, draft.constant("half", np.array([[0.5]]))])
        total = draft.node("MatMul", [halves, other])
    draft.node("Softmax", [total], "probabilities", axis=1)
    best = draft.node("ArgMax", [total], axis=1, keepdims=0)
    classes = np.asarray(table.classes)
    if classes.dtype.kind in "iub":
        names, kind = classes.astype(np.int64), proto.INT64
    elif classes.dtype.kind == "f":
        names, kind = classes.astype(np.float64), proto.DOUBLE
    else:
        names = np.array([str(label) for label in table.classes], dtype=object)
        kind = proto.STRING
    draft.node("Gather", [draft.constant("classes", names), best], "label")
    shape = ["rows", len(table.classes)]
    return [info("label", kind, ["rows"]), info("probabilities", proto.DOUBLE, shape)]


def _tensor(onnx: Any, name: str, values: AnyArray) -> Any:
    if values.dtype.kind == "O":
        encoded = [str(value).encode("utf-8") for value in values]
        return onnx.helper.make_tensor(name, onnx.TensorProto.STRING, values.shape, encoded)
    return onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)


def _numbers(table: ComponentTable, position: int, kind: str) -> FloatArray:
    rows = [row for row in table.rows if (row["position"], row["kind"]) == (position, kind)]
    return np.array([[row[name] for name in table.outputs] for row in rows], dtype=np.float64)

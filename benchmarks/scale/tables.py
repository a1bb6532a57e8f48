"""The page of results."""

from __future__ import annotations

from typing import Any

from benchmarks.scale.wide_table import wide_lines

TITLES = {
    "s2mam": "s2mam, streamed from the file",
    "base": "s2mam base model, graph over all rows",
    "label_spreading": "label spreading (knn), scikit-learn",
    "ebm": "explainable boosting machine on the labels",
    "hist_boosting": "gradient boosting on the labels, scikit-learn",
}


# More processes than this want to run on the two cores of the machine.
_BUSY = 2.0


def page(results: dict[str, Any], protocol: str) -> str:
    """Markdown of everything that was measured."""
    lines = ["# Time and memory at any number of rows", ""]
    if "cpu" in results:
        lines += _cpu(results["cpu"])
    if "dask" in results:
        lines += _dask(results["dask"]["rows"])
    if "limits" in results:
        lines += _limits(results["limits"])
    if "wide" in results:
        lines += wide_lines(results["wide"]["rows"])
    if "accuracy" in results:
        lines += _accuracy(results["accuracy"]["rows"])
    if "gpu" in results:
        lines += _gpu(results["gpu"])
    lines += ["## Protocol", "", protocol.strip(), ""]
    for part in ("cpu", "dask", "limits", "wide", "accuracy", "gpu"):
        if part in results:
            facts = results[part]["facts"]
            versions = ", ".join(f"{name} {value}" for name, value in facts["versions"].items())
            lines.append(
                f"- {part}: commit {facts['commit']}, source {facts['source']}; {versions}; "
                f"{facts['machine']}{'; **' + facts['note'] + '**' if 'note' in facts else ''}"
            )
    return "\n".join(lines) + "\n"


def _cpu(found: dict[str, Any]) -> list[str]:
    lines = ["## Rows", ""]
    lines += _table(found["rows"], "rows", "n")
    largest = [row for row in found["rows"] if row["method"] == "s2mam" and "peak_mb" in row]
    if largest:
        row = max(largest, key=lambda row: row["n"])
        lines += [
            "",
            f"The file of {row['n']:,} rows has {found['file_mb']:.0f} MB; the fit from it adds "
            f"{row['fit_mb']:.0f} MB to the process and the whole process peaks at "
            f"{row['peak_mb']:.0f} MB.",
        ]
    lines += ["", "## Columns", ""]
    lines += _table(found["columns"], "columns", "p")
    lines += ["", "## Exponents", "", "| | seconds | CPU seconds |", "| :-- | --: | --: |"]
    for name, both in found["exponents"].items():
        if None not in both:
            lines.append(f"| {name} | {both[0]:.2f} | {both[1]:.2f} |")
    if "us_per_row" in found.get("passes", {}):
        lines += _forecast(found["passes"], found["rows"])
    return [*lines, ""]


def _dask(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "## Dask workers",
        "",
        "| rows | workers | fit s | first pass s | pass over graph s | gain | CPU s of the workers "
        "| gain at most | load before |",
        "| --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    alone = next((row for row in rows if row["workers"] == 1 and "seconds" in row), None)
    for row in rows:
        if "seconds" not in row:
            lines.append(f"| {row['n']:,} | {row['workers']} | {row['failure']} | | | | | | |")
            continue
        gain = alone["pass_seconds"] / row["pass_seconds"] if alone else float("nan")
        most = sum(alone["pass_cpu"]) / max(row["pass_cpu"]) if alone else float("nan")
        lines.append(
            f"| {row['n']:,} | {row['workers']} | {row['seconds']:.1f} "
            f"| {row['survey_seconds']:.2f} | {row['pass_seconds']:.2f} | {gain:.2f} "
            f"| {' + '.join(f'{one:.2f}' for one in row['pass_cpu'])} | {most:.2f} "
            f"| {row['load']:.1f} |"
        )
    if any(row.get("load", 0.0) > _BUSY for row in rows):
        lines += [
            "",
            "Other work held the processors (the load says how much), so that the seconds, and the "
            "gain by them, say nothing here; the processor seconds do.",
        ]
    return [*lines, ""]


def _limits(found: dict[str, Any]) -> list[str]:
    lines = [
        "## A file larger than the memory",
        "",
        f"{found['file_mb']:.0f} MB of rows.",
        "",
        "| how | limit MB | s | most memory MB | accuracy | |",
        "| :-- | --: | --: | --: | --: | :-- |",
    ]
    for row in found["rows"]:
        alone = row["method"] == "limited"
        how = "one process" if alone else f"{row['workers']} Dask workers"
        limit = f"{row['limit_mb']:,}" + ("" if alone else " each")
        if "failure" in row:
            lines.append(f"| {how} | {limit} | | | | {row['failure']} |")
            continue
        peaks = [row["peak_mb"]] if alone else row["peaks_mb"]
        note = f"`numpy.load` of the file: {row['whole']}" if alone else ""
        note = note or f"{row['lost_workers']} workers were killed"
        lines.append(
            f"| {how} | {limit} | {row['seconds']:.1f} "
            f"| {' + '.join(f'{one:.0f}' for one in peaks)} | {row['accuracy']:.3f} | {note} |"
        )
    return [*lines, ""]


def _forecast(passes: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    """What a thousand million rows would take, from the time of one row."""
    micro, p = passes["us_per_row"], passes["p"]
    lines = [
        "",
        "## One row, one core, and a thousand million rows",
        "",
        f"{p} columns of single precision; graph: the {passes['features']:,} features of the base "
        "model and 200 anchors. Hours are of the passes alone; the search on the sample comes on "
        "top, once. The network carries at most one sum a block of 131,072 rows, and one more for "
        "every eight of these.",
        "",
        "| pass | µs a row | MB a sum | h, 10^9 rows, 1 core | 16 cores | 256 cores "
        "| GB on the network |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
    ]
    for name, value in micro.items():
        hours = value * 1e9 / 1e6 / 3600
        size = passes.get("sum_bytes", {}).get(name)
        told = ["–", "–"]
        if size is not None:
            told = [f"{size / 2**20:.2f}", f"{size * 8 / 7 * 1e9 / 131_072 / 2**30:,.0f}"]
        lines.append(
            f"| {name} | {value:.2f} | {told[0]} | {hours:.1f} | {hours / 16:.2f} "
            f"| {hours / 256:.3f} | {told[1]} |"
        )
    ends = [row for row in rows if row["method"] == "base" and "cpu_seconds" in row][-2:]
    if len(ends) == 2:
        few, many = ends
        each = 1e6 * (many["cpu_seconds"] - few["cpu_seconds"]) / (many["n"] - few["n"])
        lines += [
            "",
            f"Against the whole fits: from {few['n']:,} to {many['n']:,} rows the processor "
            f"seconds of the base model grow by {each:.1f} µs a row, of which the passes above "
            f"explain {micro['survey'] + micro['graph']:.1f}.",
        ]
    return lines


def _table(rows: list[dict[str, Any]], title: str, key: str) -> list[str]:
    lines = [
        f"| {title} | method | labels | s | CPU s | MB of the fit | accuracy | s, s2mam = 1 |",
        "| --: | :-- | --: | --: | --: | --: | --: | --: |",
    ]
    ours = {
        row[key]: row["seconds"] for row in rows if row["method"] == "s2mam" and "seconds" in row
    }
    for row in rows:
        name = TITLES[row["method"]]
        if "failure" in row:
            lines.append(f"| {row[key]:,} | {name} | | {row['failure']} | | | | |")
            continue
        ratio = f"{row['seconds'] / ours[row[key]]:.2f}" if row[key] in ours else "–"
        memory = "–" if row["fit_mb"] is None else f"{row['fit_mb']:.0f}"
        lines.append(
            f"| {row[key]:,} | {name} | {row['labeled']:,} | {row['seconds']:.1f} "
            f"| {row['cpu_seconds']:.1f} | {memory} | {row['accuracy']:.3f} | {ratio} |"
        )
    return lines


def _accuracy(rows: list[dict[str, Any]]) -> list[str]:
    """Means over seeds, one line per problem and number of labels."""
    lines = [
        "## Streamed against in memory",
        "",
        "| data | rows | labels | seeds | memory | streamed | CPU s, memory | CPU s, streamed |",
        "| :-- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["data"], row["n"], row["labels"]), []).append(row)
    for (name, n, labels), group in groups.items():
        means = {
            key: sum(row[key] for row in group) / len(group)
            for key in ("memory", "streamed", "memory_cpu", "streamed_cpu")
        }
        lines.append(
            f"| {name} | {n:,} | {labels:,} | {len(group)} | {means['memory']:.3f} "
            f"| {means['streamed']:.3f} | {means['memory_cpu']:.1f} "
            f"| {means['streamed_cpu']:.1f} |"
        )
    return [*lines, ""]


def _gpu(found: dict[str, Any]) -> list[str]:
    lines = [f"## Accelerator: {found['device']}", ""]
    lines += ["| what | rows | s | detail |", "| :-- | --: | --: | :-- |"]
    for row in found["fits"]:
        lines.append(f"| {row['what']} | {row['n']:,} | {row['seconds']:.2f} | {row['detail']} |")
    lines += [
        "",
        "The hot loop (features, weights to anchors and their sums; rows on the device):",
        "",
        "| precision | rows/s | TFLOP/s | of the matrix product | GB/s | of the copy "
        "| of the roofline |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
    ]
    for row in found["loop"]:
        lines.append(
            f"| {row['dtype']} | {row['rows_per_second']:,.0f} | {row['tflops']:.1f} "
            f"| {row['of_matmul']:.0%} | {row['gbs']:.0f} | {row['of_copy']:.0%} "
            f"| {row['of_roofline']:.0%} |"
        )
    lines += [
        "",
        f"Largest difference of the form F'LF in single precision, over its largest entry: "
        f"{found['single_error']:.1e}.",
        "",
    ]
    return lines

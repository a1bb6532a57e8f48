"""Tables and archives made in memory."""

from __future__ import annotations

import io
import tarfile
import zipfile


def zipped(files):
    """A zip file of the given names and contents."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(name, content):
    """A tar.gz file with one file in it."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def rows(n_rows, n_columns, last, *, first=None, delimiter=",", header=None):
    """Text of a table: numbers, then the given last column."""
    lines = [header] if header else []
    for i in range(n_rows):
        cells = [] if first is None else [first[i]]
        cells += [f"{(i + 1) * 10 + j * 0.5:g}" for j in range(n_columns)]
        lines.append(delimiter.join([*cells, str(last[i])]))
    return ("\n".join(lines) + "\n").encode()

"""One file from the internet: time and size limits, checksum, resumed where it broke off."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from s2mam._version import __version__
from s2mam.exceptions import S2MAMError

MAX_BYTES = 256 * 2**20
_TIMEOUT = 30.0
_CHUNK = 2**18


class NoConnectionError(S2MAMError):
    """A site that was not reached at all.

    Parameters
    ----------
    url : str
        What was asked for.
    reason : str
        What stood in the way.
    """

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)
        self.url, self.reason = url, reason

    def __str__(self) -> str:
        return f"{self.url} did not answer as expected: {self.reason}"


def download(
    url: str,
    target: Path,
    *,
    checksum: str | None = None,
    max_bytes: int = MAX_BYTES,
    timeout: float = _TIMEOUT,
) -> Path:
    """Fetch a file unless it is there already; one put there by hand is checked as well.

    Bytes go to ``<target>.part``, which takes the name of the target when it is complete and its
    checksum is right. A transfer that broke off is taken up where it ended.

    Parameters
    ----------
    url : str
        An http or https address.
    target : Path
        Where the file belongs; folders are made.
    checksum : str, optional
        Expected sha256 (64 digits) or md5 (32 digits).
    max_bytes : int
        Refuse larger files.
    timeout : float, default=30.0
        Seconds without an answer before giving up.

    Returns
    -------
    Path
        The target.
    """
    if target.is_file():
        _compare(str(target), target, checksum)
        return target
    if not url.startswith(("http://", "https://")):
        raise S2MAMError(f"{url!r} is not an http or https address.")
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _transfer(url, part, max_bytes, timeout)
        try:
            _compare(url, part, checksum)
        except S2MAMError:
            part.unlink()
            raise
        os.replace(part, target)
    except PermissionError as error:
        raise S2MAMError(
            f"cannot write to {target.parent}; pass data_home=<a folder you may write to>"
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise _no_answer(url, error) from error
    return target


def _no_answer(url: str, error: Exception) -> S2MAMError:
    answered = isinstance(error, urllib.error.HTTPError)
    if isinstance(error, urllib.error.URLError) and not answered:
        reason = getattr(error.reason, "strerror", None) or str(error.reason)
        return NoConnectionError(url, reason)
    return S2MAMError(f"{url} did not answer as expected: {error}")


def _transfer(url: str, part: Path, max_bytes: int, timeout: float) -> None:
    have = part.stat().st_size if part.exists() else 0
    with _open(url, have, timeout) as answer:
        # A server that ignores the range sends the whole file again (200, not 206).
        start = have if answer.status == 206 else 0
        expected = _expected_size(answer, start)
        if expected is not None and expected > max_bytes:
            raise S2MAMError(f"{url} has {expected} bytes, more than the limit of {max_bytes}.")
        with part.open("ab" if start else "wb") as file:
            total = _copy(answer, file, start, max_bytes, url)
    if expected is not None and total != expected:
        raise S2MAMError(f"{url} broke off after {total} of {expected} bytes; try again.")


def _open(url: str, have: int, timeout: float) -> Any:
    request = urllib.request.Request(url, headers={"User-Agent": f"s2mam/{__version__}"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        return urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        # The part is as long as the file, or longer: it cannot be continued.
        if not have or error.code != 416:
            raise
        return _open(url, 0, timeout)


def _expected_size(answer: Any, start: int) -> int | None:
    length = answer.headers.get("Content-Length")
    return None if length is None else start + int(length)


def _copy(answer: Any, file: Any, total: int, max_bytes: int, url: str) -> int:
    while chunk := answer.read(_CHUNK):
        total += len(chunk)
        if total > max_bytes:
            raise S2MAMError(f"{url} has more than the limit of {max_bytes} bytes.")
        file.write(chunk)
    return total


def _compare(source: str, path: Path, checksum: str | None) -> None:
    if checksum is None:
        return
    method = "sha256" if len(checksum) == 64 else "md5"
    with path.open("rb") as file:
        found = hashlib.file_digest(file, method).hexdigest()
    if found != checksum:
        raise S2MAMError(
            f"{source} is not the known file ({method} {found[:12]}..., not {checksum[:12]}...)"
        )

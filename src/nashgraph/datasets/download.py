"""Downloading so that a file arrives whole: carried on where it broke off, tried again where that may help."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Sequence
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, TypeVar
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from .dataset import DatasetError

TIMEOUT = 30.0  # seconds of silence
WAITS = (0.5, 1.0, 2.0, 4.0)  # seconds before each further try
LARGEST_DOWNLOAD = 2_000_000_000
_CHUNK = 1 << 16

Answer = TypeVar("Answer")


class BrokenOffError(OSError):
    """The connection ended before the file did."""


def download_file(address: str, path: str | Path, *, timeout: float = TIMEOUT, waits: Sequence[float] = WAITS) -> None:
    """Download a file; until it is whole it is kept beside as ``.part``, from which a later try carries on.

    Parameters
    ----------
    address : str, http or https
    path : path
    timeout : float
        Seconds without a byte after which a try is given up.
    waits : list of float
        Seconds to wait before each further try, after a failure that may pass.

    Examples
    --------
    >>> download_file("ftp://example.org/edges.csv", "edges.csv")
    Traceback (most recent call last):
    nashgraph.datasets.dataset.DatasetError: ftp://example.org/edges.csv: only http and https are fetched
    """
    path = Path(path)
    part = path.with_name(path.name + ".part")
    console = Console(stderr=True)
    console.quiet = not console.is_terminal
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(path.name, total=None)

        def show(done: int, total: int | None) -> None:
            progress.update(task, completed=done, total=total)

        _persist(address, lambda: _carry_on(address, part, timeout, show), waits)
    part.replace(path)


def read_address(address: str, *, timeout: float = TIMEOUT, waits: Sequence[float] = WAITS) -> bytes:
    """Return a short answer, such as a listing, without keeping it.

    Examples
    --------
    >>> read_address("file:///etc/hosts")
    Traceback (most recent call last):
    nashgraph.datasets.dataset.DatasetError: file:///etc/hosts: only http and https are fetched
    """

    def ask() -> bytes:
        with _open(address, {}, timeout) as response:
            return response.read(_CHUNK * 256)

    return _persist(address, ask, waits)


def _persist(address: str, act: Callable[[], Answer], waits: Sequence[float]) -> Answer:
    """Act until it succeeds or fails for good; say of every failure which address it was."""
    if urlsplit(address).scheme not in ("http", "https"):
        raise DatasetError(f"{address}: only http and https are fetched")
    try:
        for wait in waits:
            try:
                return act()
            except (OSError, HTTPException) as error:
                if not _may_pass(error):
                    raise
            time.sleep(wait)
        return act()
    except HTTPError as error:
        error.close()
        raise DatasetError(f"{address}: the server answers {error.code} {error.reason}") from error
    except URLError as error:
        raise DatasetError(f"{address}: {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise DatasetError(f"{address}: {error or type(error).__name__}") from error


def _may_pass(error: Exception) -> bool:
    """Tell whether trying again may help: the server is busy, or the way to it was cut."""
    if isinstance(error, HTTPError):
        error.close()
        return error.code in (408, 429) or error.code >= 500
    if isinstance(error, URLError):
        return isinstance(error.reason, OSError) and not isinstance(error.reason, ssl.SSLCertVerificationError)
    return isinstance(error, BrokenOffError | ConnectionError | TimeoutError | HTTPException)


def _carry_on(address: str, part: Path, timeout: float, show: Callable[[int, int | None], None]) -> None:
    """Fetch what is missing after the bytes already kept, or everything where the server sends from the start."""
    part.parent.mkdir(parents=True, exist_ok=True)
    kept = part.stat().st_size if part.exists() else 0
    try:
        response = _open(address, {"Range": f"bytes={kept}-"} if kept else {}, timeout)
    except HTTPError as error:
        if error.code != 416:
            raise
        part.unlink()  # what is kept is no beginning of the file that is there now
        error.close()
        raise BrokenOffError("the file there has changed") from error
    with response:
        continued = response.status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {kept}-")
        done = kept if continued else 0
        length = response.headers.get("Content-Length")
        total = done + int(length) if length else None
        with part.open("ab" if continued else "wb") as file:
            while chunk := response.read(_CHUNK):
                done += len(chunk)
                if done > LARGEST_DOWNLOAD:
                    raise DatasetError(f"more than {LARGEST_DOWNLOAD:,} bytes: given up")
                file.write(chunk)
                show(done, total)
    if total is not None and done < total:
        raise BrokenOffError(f"broken off after {done:,} of {total:,} bytes")


def _open(address: str, headers: dict[str, str], timeout: float) -> HTTPResponse:
    """Open an address with http and https alone, also where it redirects."""
    opener = request.OpenerDirector()
    handlers: list[Any] = [
        request.ProxyHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.HTTPRedirectHandler(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPErrorProcessor(),
        request.UnknownHandler(),
    ]
    for handler in handlers:
        opener.add_handler(handler)
    response: HTTPResponse = opener.open(
        request.Request(address, headers={"User-Agent": "nashgraph", **headers}), timeout=timeout
    )
    return response

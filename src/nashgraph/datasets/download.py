"""Downloading with pooch, which tries again and leaves a whole file or none; with a limit of size and plain errors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pooch

from ..certificate import LOG
from .dataset import DatasetError

RETRIES = 3
LARGEST_DOWNLOAD = 2_000_000_000
CHUNK = 1 << 16

Progress = Callable[[int, int], object]  # bytes that came, and of how many; 0 where the server does not say


def download_file(address: str, path: Path, progress: Progress | None = None) -> None:
    """Download a file over http or https, or say in one line why not."""
    files = pooch.create(
        path.parent, base_url="", registry={path.name: None}, urls={path.name: address}, retry_if_failed=RETRIES
    )

    def attempt(url: str, file: Any, _: object) -> None:
        answers: list[Any] = []
        keep = {"response": lambda answer, **_: answers.append(answer)}
        try:
            pooch.HTTPDownloader(progressbar=_Meter(progress), chunk_size=CHUNK, hooks=keep)(url, file, files)
        except OSError as error:
            if _is_final(error):
                raise DatasetError(_reason(error)) from error  # pooch does not try again after an error of ours
            raise
        finally:
            for answer in answers:  # which pooch leaves open where it fails
                answer.close()

    LOG.info("downloading %s", address)
    try:
        with _silent(pooch.get_logger()):
            files.fetch(path.name, downloader=attempt)
    except OSError as error:
        raise DatasetError(f"{address}: {_reason(error)}") from error


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from writing to the screen: that is the caller's."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _is_final(error: OSError) -> bool:
    """Tell whether the server refuses for good: it is not busy, and the way to it was not cut."""
    answer = getattr(error, "response", None)
    return answer is not None and 400 <= answer.status_code < 500 and answer.status_code not in (408, 429)


def _reason(error: OSError) -> str:
    answer = getattr(error, "response", None)
    return str(error) if answer is None else f"the server answers {answer.status_code} {answer.reason}"


class _Meter:
    """What pooch takes for a progress bar: it passes the count on, and ends a download that does not end."""

    total = 0

    def __init__(self, progress: Progress | None) -> None:
        self.done, self.progress = 0, progress

    def update(self, count: int) -> None:
        self.done += count
        if self.done > LARGEST_DOWNLOAD:
            raise DatasetError(f"more than {LARGEST_DOWNLOAD:,} bytes: given up")
        if self.progress is not None:
            self.progress(min(self.done, self.total) if self.total else self.done, self.total)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        pass

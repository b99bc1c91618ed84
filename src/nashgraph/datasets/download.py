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
BUSY = (408, 429)  # and 500 and above: answers that a later try may find changed
LARGEST_DOWNLOAD = 2_000_000_000

Progress = Callable[[int, int], object] | None  # takes the bytes that came, and of how many, or 0 if that is not known


def download_file(address: str, path: Path, progress: Progress = None) -> None:
    """Download a file over http or https, or say in one line why not."""
    files = pooch.create(
        path.parent, base_url="", registry={path.name: None}, urls={path.name: address}, retry_if_failed=RETRIES
    )

    def attempt(url: str, file: Any, _: object) -> None:
        answers: list[Any] = []
        keep = {"response": lambda answer, **_: answers.append(answer)}
        try:
            pooch.HTTPDownloader(progressbar=_Meter(progress), chunk_size=1 << 16, hooks=keep)(url, file, files)
        except OSError as error:
            if (answer := getattr(error, "response", None)) is None:
                raise
            # After a ValueError pooch tries again, after an error of ours it does not.
            kind = ValueError if answer.status_code >= 500 or answer.status_code in BUSY else DatasetError
            raise kind(f"the server answers {answer.status_code} {answer.reason}") from error
        finally:
            for answer in answers:  # which pooch leaves open where it fails
                answer.close()

    LOG.info("downloading %s", address)
    try:
        with _silent(pooch.get_logger()):
            files.fetch(path.name, downloader=attempt)
    except (OSError, ValueError) as error:
        raise DatasetError(f"{address}: {error}") from error


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from writing to the screen: that is the caller's."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


class _Meter:
    """A progress bar for pooch: it passes the count on, and stops a download that is too long."""

    total = 0

    def __init__(self, progress: Progress) -> None:
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

"""How much memory a computation may take: what the machine has free, within the limit of the container it runs in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")

# The files of a control group, version 2 and 1: its limit, its use, and what of that is cache the kernel gives back.
V2 = ("memory.max", "memory.current", "inactive_file")
V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def free_memory() -> float:
    """Return the bytes of memory that can still be taken without swapping or being killed."""
    return max(0.0, min([float(psutil.virtual_memory().available), *_left_in_groups()]))


def _left_in_groups() -> Iterator[float]:
    """Yield what is left below the limit of each control group that this process is in, where it has one."""
    try:
        lines = MEMBERSHIP.read_text().splitlines()
    except OSError:  # not Linux
        return
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers and "memory" not in controllers.split(","):
            continue
        root, files = (GROUPS / "memory", V1) if controllers else (GROUPS, V2)
        group = root / path.lstrip("/")
        # A limit holds for all groups inside, and a container may see its own group as the root.
        for folder in (group, *group.parents):
            if folder.is_relative_to(root) and (left := _left(folder, *files)) is not None:
                yield left


def _left(folder: Path, limit: str, used: str, cache: str) -> float | None:
    try:
        left = float((folder / limit).read_text()) - float((folder / used).read_text())
    except (OSError, ValueError):  # no such file, or "max": no limit
        return None
    with suppress(OSError, ValueError):
        statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        left += float(statistics.get(cache, 0))
    return left

"""Free memory is the machine's, within the limits of the control groups around this process."""

from types import SimpleNamespace

import pytest

from nashgraph.pairs import memory
from nashgraph.pairs.memory import free_memory

V1_UNLIMITED = 9223372036854771712


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Return a function that writes a control group; the machine has 8,000 bytes free."""
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: SimpleNamespace(available=8000))

    def write(folder, limit, used, inactive=0, *, version=2):
        names = memory.V2 if version == 2 else memory.V1
        group = tmp_path / "groups" / ("" if version == 2 else "memory") / folder
        group.mkdir(parents=True, exist_ok=True)
        (group / names[0]).write_text(f"{limit}\n")
        (group / names[1]).write_text(f"{used}\n")
        (group / "memory.stat").write_text(f"anon 7\n{names[2]} {inactive}\n")

    write.member = (tmp_path / "membership").write_text
    return write


def test_without_control_groups_it_is_the_machines(groups):
    assert free_memory() == 8000
    groups.member("0::/some/where\n")
    assert free_memory() == 8000


def test_the_limit_of_version_2_counts_without_the_cache_that_can_be_given_back(groups):
    groups.member("0::/\n")
    groups("", 5000, 4000)
    assert free_memory() == 1000
    groups("", 5000, 4000, inactive=2500)
    assert free_memory() == 3500
    groups("", 50_000, 4000)
    assert free_memory() == 8000
    groups("", "max", 4000)
    assert free_memory() == 8000


def test_the_tightest_of_the_groups_around_counts(groups):
    groups.member("0::/user.slice/session\n")
    groups("user.slice/session", "max", 10)
    groups("user.slice", 3000, 1000)
    assert free_memory() == 2000
    groups("user.slice/session", 500, 10)
    assert free_memory() == 490


def test_the_limit_of_version_1_counts(groups):
    groups.member("5:cpu,cpuacct:/box\n4:memory:/box\n0::/\n")
    groups("box", V1_UNLIMITED, 1000, version=1)
    assert free_memory() == 8000
    groups("box", 6000, 1000, inactive=200, version=1)
    assert free_memory() == 5200


def test_a_container_that_sees_its_own_group_as_the_root(groups):
    groups.member("4:memory:/docker/0123\n")  # a path on the host that does not exist in the container
    groups("", 6000, 1000, version=1)
    assert free_memory() == 5000
    (memory.GROUPS / "memory" / "memory.stat").unlink()
    assert free_memory() == 5000


def test_above_the_limit_nothing_is_free(groups):
    groups.member("0::/\n")
    groups("", 1000, 1200)
    assert free_memory() == 0

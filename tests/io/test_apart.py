"""Binary files are read by a process that ends when it takes too long, takes too much memory, or crashes."""

import os
import signal
import threading
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest

from nashgraph.io import TableError, TableOptions
from nashgraph.io.apart import read_apart

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"


@pytest.fixture
def table(tmp_path):
    pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}).to_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def read(path, **limits):
    return read_apart(path, TableOptions(), (), **limits)


def children():
    return psutil.Process().children()


def test_a_table_comes_back_as_it_was_read(table):
    found, notes = read(table)
    pd.testing.assert_frame_equal(found, pd.read_parquet(table))
    assert notes == []


def test_what_takes_too_long_is_ended(table):
    begun = time.monotonic()
    with pytest.raises(TableError, match=r"t\.parquet was not read within 0 seconds, so it seems damaged"):
        read(table, seconds=0.0)
    assert time.monotonic() - begun < 5
    assert children() == []


def test_what_takes_too_much_memory_is_ended(table):
    with pytest.raises(TableError, match=r"t\.parquet is too large: reading it takes more than 10 MB of memory: save"):
        read(table, memory=1e7)
    assert children() == []


def test_a_stray_cell_far_out_is_named_as_a_reason(tmp_path):
    pd.DataFrame({"x": [1.0]}).to_excel(tmp_path / "t.xlsx")
    reason = r"is there a stray cell far out \(Ctrl\+End goes to it\)\? Delete it, or save it as"
    with pytest.raises(TableError, match=reason):
        read(tmp_path / "t.xlsx", memory=1e7)


def test_a_process_that_crashes_is_a_damaged_file():
    with pytest.raises(TableError, match=r"damaged\.sav is damaged and cannot be read"):
        read(CORPUS / "sav" / "damaged.sav")


def test_a_process_that_is_killed_is_a_damaged_file(table):
    killer = threading.Thread(target=kill_the_next_child)
    killer.start()
    with pytest.raises(TableError, match="is damaged"):
        read(table)
    killer.join()


def kill_the_next_child():
    while not (running := children()):
        time.sleep(0.001)
    running[0].kill()


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_an_interrupt_ends_the_process_as_well(table):
    main = threading.main_thread().ident
    interrupt = threading.Thread(target=interrupt_while_reading, args=(main,))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore interrupts
    try:
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            read(table)
    finally:
        signal.signal(signal.SIGINT, before)
    interrupt.join()
    assert children() == []


def interrupt_while_reading(thread):
    while not children():
        time.sleep(0.001)
    time.sleep(0.05)
    signal.pthread_kill(thread, signal.SIGINT)

"""What is fuzzed: one target per parser, which takes bytes and lets nothing out but the errors that are the user's."""

from contextlib import suppress
from pathlib import Path

from nashgraph.io import load_signals, read_known, read_truth
from nashgraph.io.model_record import read_record, record_to_json
from nashgraph.io.ties import ALL
from nashgraph.validation import InputError

from ..commands import run

CORPUS = Path(__file__).parent / "corpus"
NAMES = ["ann", "bob", "cat", "dan"]


def signals(file):
    """A table of signals, of any kind: what is read has values and names, each once."""
    with suppress(InputError):
        found = load_signals(file)
        assert found.table.columns.is_unique
        assert found.table.size


def truth(file):
    """A true network: its nodes are those of the signals."""
    with suppress(InputError):
        graph, notes = read_truth(file, NAMES)
        assert list(graph) == NAMES
        assert notes


def known(file):
    """Known ties: both ends are nodes of the signals, or the second stands for all."""
    with suppress(InputError):
        ties, _ = read_known(file, NAMES)
        assert {*ties["source"]} <= {*NAMES}
        assert {*ties["target"]} <= {*NAMES, ALL}


def model(file):
    """A model.json: what is taken for one can be written again, and shown."""
    with suppress(InputError):
        record, _ = read_record(file)
        assert record_to_json(record)
        assert run("show", file).exit_code in (0, 1)


TARGETS = {
    "csv": signals,
    "npy": signals,
    "npz": signals,
    "parquet": signals,
    "xlsx": signals,
    "json": signals,
    "feather": signals,
    "dta": signals,
    "sav": signals,
    "truth.csv": truth,
    "truth.npy": truth,
    "truth.gml": truth,
    "truth.net": truth,
    "truth.graphml": truth,
    "known.csv": known,
    "model.json": model,
}


SLOW = {"dta", "sav"}  # read in a process of their own first


def seeds(target):
    """Return the files of the corpus that a target starts from."""
    return sorted((CORPUS / target).iterdir())


def run_target(target, content, folder):
    """Give bytes to a target, as a file of its kind."""
    file = folder / (target if "." in target else f"table.{target}")
    file.write_bytes(content)
    TARGETS[target](file)

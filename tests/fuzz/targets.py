"""The targets of fuzzing: one per parser, which takes bytes and raises only errors of the input."""

from contextlib import suppress
from pathlib import Path

from nashgraph import read_study
from nashgraph.io import read_known, read_truth
from nashgraph.io.model_record import read_record, record_to_json
from nashgraph.io.ties import ALL
from nashgraph.validation import InputError

from ..commands import run

CORPUS = Path(__file__).parent / "corpus"
NAMES = ["ann", "bob", "cat", "dan"]
EGOS = "egoID,age,sex\n1,31,f\n2,45,m\n3,28,f\n4,60,m\n"


def signals(file):
    """A table of signals, of any kind: the result has values and unique names."""
    with suppress(InputError):
        study = read_study(file)
        assert study.signals.columns.is_unique
        assert study.signals.size or study.tells_of_ties


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
    """A model.json: an accepted one can be written again, and shown."""
    with suppress(InputError):
        record, _ = read_record(file)
        assert record_to_json(record)
        assert run("show", file).exit_code in (0, 1)


def told(file):
    """A survey with answers about ties: the names read are nodes of the table, or nobody."""
    with suppress(InputError):
        counts = {"n_weavers": "weaver", "n_smiths": "job=smith"}
        ties = read_study(file, counts=counts, n_ties="n", names=["friend1", "friend2"]).ties
        assert {*ties.reports["target"].dropna()} <= {*map(str, ties.names)}


def alters(file):
    """The alters of a survey of egos: they become counts."""
    egos = file.parent / "egos.csv"
    egos.write_text(EGOS)
    with suppress(InputError):
        assert read_study(egos, file).ties is not None


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
    "told.csv": told,
    "alters.csv": alters,
    "model.json": model,
}


SLOW = {"dta", "sav", "feather", "parquet", "xlsx", "npy", "npz", "truth.npy"}  # read in a process of their own


def seeds(target):
    """Return the files of the corpus that a target starts from."""
    return sorted((CORPUS / target).iterdir())


def run_target(target, content, folder):
    """Give bytes to a target, as a file of its kind."""
    file = folder / (target if "." in target else f"table.{target}")
    file.write_bytes(content)
    TARGETS[target](file)

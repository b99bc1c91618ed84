"""Write the tables of the two real cases: ``NASHGRAPH_DATA=... python docs/tutorial/real_cases.py FOLDER``.

The data are not part of this project (docs/cases.md says where they come from). The lawyers are read from the folder
``recovery/lazega_advice``, the village through ``load_villages``. The answers about ties are counted from the true
ties, as if every household had answered exactly.
"""

import os
import shutil
import sys
from pathlib import Path

import networkx as nx
import pandas as pd

from nashgraph.datasets import load_villages

VILLAGE = 38  # the first of those on which nothing was tuned
THREE = ["government_power", "bed"]  # with the number of ties, three questions


def write_lawyers(folder: Path) -> None:
    """Write what is known of each lawyer, and who asks whom for advice."""
    source = Path(os.environ["NASHGRAPH_DATA"]) / "recovery" / "lazega_advice"
    shutil.copy(source / "signals.csv", folder / "lawyers.csv")
    shutil.copy(source / "truth.csv", folder / "advice.csv")


def write_village(folder: Path) -> None:
    """Write the census of a village, the census with three and with eleven answers about ties, and the true ties."""
    data = load_villages([VILLAGE])[VILLAGE]
    there = data.attributes["hhSurveyed"] == 1
    census = data.attributes[there]
    names = [f"h{number}" for number in census["HHnum_in_village"]]
    truth = nx.relabel_nodes(data.graph.subgraph(list(census.index)), dict(zip(census.index, names, strict=True)))
    traits = pd.DataFrame(
        {
            "government_power": census["electricity"] == 2,
            "bed": census["bed_no"] > 0,
            "private_power": census["electricity"] == 1,
            "stone_roof": census["rooftype3"] == 1,
            "three_rooms": census["room_no"] > 2,
            "two_rooms": census["room_no"] > 1,
            "other_backward_caste": census["castesubcaste"] == "OBC",
            "two_beds": census["bed_no"] > 1,
            "own_latrine": census["latrine"] == 1,
            "scheduled_tribe": census["castesubcaste"] == "SCHEDULE TRIBE",
        }
    ).astype(int)
    traits.index = pd.Index(names, name="household")
    matrix = nx.to_pandas_adjacency(truth, nodelist=names, weight=None).astype(int)
    answers = (matrix @ traits).add_prefix("n_")
    answers.insert(0, "ties", matrix.sum(axis=1))
    traits.to_csv(folder / "census.csv")
    traits.join(answers[["ties", *(f"n_{trait}" for trait in THREE)]]).to_csv(folder / "three.csv")
    traits.join(answers).to_csv(folder / "eleven.csv")
    pd.DataFrame(list(truth.edges()), columns=["source", "target"]).to_csv(folder / "visits.csv", index=False)


if __name__ == "__main__":
    write_lawyers(Path(sys.argv[1]))
    write_village(Path(sys.argv[1]))

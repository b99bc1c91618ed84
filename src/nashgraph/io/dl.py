"""Networks as UCINET writes them: the DL format, with a full matrix, a list of edges or a list of neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import networkx as nx

from .errors import TableError

Edge = tuple[str, str, float]


def read_dl(path: Path) -> nx.Graph[str]:
    r"""Read a network in the DL format; it has no directions if every tie is there both ways with one weight.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "club.dl"
    >>> _ = file.write_text("DL n=3 format=edgelist1\nlabels:\nann,bob,cat\ndata:\n1 2 2\n2 3 1\n")
    >>> list(read_dl(file).edges(data="weight"))
    [('ann', 'bob', 2.0), ('bob', 'cat', 1.0)]
    """
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    head, mark, data = _cut(text, r"\bdata\s*:")
    size = re.search(r"\bn\s*=?\s*(\d+)", head, re.IGNORECASE)
    if not head.lstrip().lower().startswith("dl") or not mark or size is None:
        raise TableError(f"{path.name} is not a network in the DL format: it must begin with DL n=… and have data:")
    if re.search(r"\b(nm|nr|nc)\s*=\s*([2-9]|\d\d)", head, re.IGNORECASE):
        raise TableError(f"{path.name} has several matrices, or one of two kinds of nodes: save one square matrix")
    named = re.search(r"\bformat\s*=\s*(\w+)", head, re.IGNORECASE)
    form = "fullmatrix" if named is None else named[1].lower()
    rows = [cells for line in data.splitlines() if (cells := _cells(line))]
    embedded = re.search(r"\blabels\s+embedded", head, re.IGNORECASE) is not None
    _, _, listed = _cut(head, r"\blabels\s*:")
    labels = _cells(listed)
    count = int(size[1])
    if form == "fullmatrix":
        labels, rows = _of_matrix(path, rows, labels, embedded, count)
    numbers = not embedded and form != "fullmatrix"
    names = labels or [str(number + 1) for number in range(count)]

    def name(cell: str) -> str:
        return names[int(cell) - 1] if numbers else cell

    try:
        if form == "fullmatrix":
            edges = list(_edges_of_matrix(rows, names))
        elif form.startswith("edgelist1"):
            edges = [(name(row[0]), name(row[1]), float(row[2]) if len(row) > 2 else 1.0) for row in rows]
        elif form.startswith("nodelist1"):
            edges = [(name(row[0]), name(cell), 1.0) for row in rows for cell in row[1:]]
        else:
            raise TableError(f"{path.name} has the format {form}: save it as fullmatrix, edgelist1 or nodelist1")
    except (ValueError, IndexError) as error:
        raise TableError(f"{path.name}: a line of its data does not fit the format {form} of {count} nodes") from error
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from([] if embedded else names)
    graph.add_weighted_edges_from(edge for edge in edges if edge[2] != 0.0)
    mutual = all(graph.get_edge_data(target, source) == data for source, target, data in graph.edges(data=True))
    return nx.Graph(graph) if mutual else graph


def _cut(text: str, mark: str) -> tuple[str, str, str]:
    """Return the text before a heading, the heading, and the text after it."""
    heading = re.search(mark, text, re.IGNORECASE)
    if heading is None:
        return text, "", ""
    return text[: heading.start()], heading[0], text[heading.end() :]


def _cells(text: str) -> list[str]:
    """Return the words and numbers of a text, which blanks or commas part; quotation marks hold words together."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|([^\s,"]+)', text)]


def _of_matrix(
    path: Path, rows: Sequence[list[str]], labels: list[str], embedded: bool, count: int
) -> tuple[list[str], list[list[str]]]:
    """Return the labels and the rows of a full matrix, whose lines may be broken anywhere."""
    lines = list(rows)
    if embedded and lines:
        labels = lines[0]
        lines = [line[1:] for line in lines[1:]]
    cells = [cell for line in lines for cell in line]
    if len(cells) != count * count or (labels and len(labels) != count):
        what = f"{len(cells)} cells and {len(labels)} labels"
        raise TableError(f"{path.name} says that it has {count} nodes, and it has {what}")
    return labels, [cells[start : start + count] for start in range(0, len(cells), count)]


def _edges_of_matrix(rows: Sequence[Sequence[str]], names: Sequence[str]) -> Iterator[Edge]:
    for source, row in zip(names, rows, strict=True):
        for target, cell in zip(names, row, strict=True):
            if float(cell):
                yield source, target, float(cell)

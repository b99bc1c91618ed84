"""What the R package calls: data frames in, data frames out, warnings and errors as data."""

from __future__ import annotations

import warnings
from typing import Any

import networkx as nx
import pandas as pd

import nashgraph
from nashgraph import ConsensusGL, InputError, TieModel


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call one of the functions below; warnings are texts, an error has its message, parameter and remedy."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = FUNCTIONS[name](**arguments)
            error = None
        except InputError as refused:
            remedy = refused.remedy
            error = {
                "message": str(refused),
                "parameter": refused.parameter,
                "remedy": None if remedy is None else {"parameter": remedy.parameter, "value": remedy.value},
            }
            result = None
    texts = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
    return {"result": result, "error": error, "warnings": texts}


def learn_network(
    data: pd.DataFrame, id: str | None, method: str, degree: float | None, seed: int, options: dict[str, Any]
) -> dict[str, Any]:
    """Learn a network from a table with a row for each person."""
    options = dict(options or {})  # an empty list of R is a list here
    if id is not None:
        options["id"] = id
    study = nashgraph.read_study(data, **options)
    if method == "auto":
        method = "ties" if study.tells_of_ties else "consensus"
    if method == "ties":
        model = TieModel(random_state=seed).fit(study)
    elif method == "consensus":
        model = ConsensusGL(random_state=seed, missing="pairwise", degree=degree).fit(study.signals)
    else:
        model = getattr(nashgraph, method)().fit(study.signals)
    decisions = [" ".join([*decision.columns, decision.reason]) for decision in study.decisions]
    return described(model, decisions)


def tie_model(
    tables: dict[str, pd.DataFrame],
    reports: pd.DataFrame | None,
    known: pd.DataFrame | None,
    asked: list[str],
    id: str | None,
    seed: int,
) -> dict[str, Any]:
    """Estimate ties from tables whose first column (or ``id``) names the people."""
    named = {name: table.set_index(id or table.columns[0]) for name, table in tables.items()}
    if "n_ties" in named:
        named["n_ties"] = named["n_ties"].iloc[:, 0]
    answers = named.pop("answers", None)
    signals = None if answers is None else answers.T
    model = TieModel(random_state=seed).fit(signals, **named, reports=reports, known=known, asked=asked or None)
    return described(model, [])


def fit_game(
    graph: Any,
    formula: str,
    data: pd.DataFrame,
    id: str | None,
    interaction: str,
    method: str,
    normalize: bool,
    groups: str | None,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Fit the game to observed actions; a graph as a data frame has source, target and perhaps weight."""
    table = data.set_index(id or data.columns[0])
    if isinstance(graph, pd.DataFrame):
        graph = nashgraph.as_graph(graph_of(graph, table.index))
    options = dict(options or {})
    if groups is not None:
        options["groups"] = table[groups]
    fit = nashgraph.fit_game(
        graph, formula, data=table, interaction=interaction, method=method, normalize=normalize, **options
    )
    return {
        "peer_effect": fit.peer_effect,
        "standard_error": fit.standard_error,
        "interval": list(fit.interval),
        "coefficients": columns_of(fit.coefficients),
        "log_likelihood": fit.log_likelihood,
        "summary": str(fit.summary()),
        "fit": fit,
    }


def graph_of(edges: pd.DataFrame, names: pd.Index) -> Any:
    """Return a networkx graph of a table of edges with all people in it."""
    weight = [column for column in ("weight",) if column in edges]
    graph = nx.from_pandas_edgelist(edges, "source", "target", weight or None, create_using=nx.DiGraph)
    graph.add_nodes_from(names)
    return graph


def columns_of(table: pd.DataFrame) -> dict[str, list[Any]]:
    """Return a table as lists, from which R makes a data frame whatever the versions of pandas and reticulate are."""
    columns = {}
    for name in table.columns:
        values = table[name]
        if not pd.api.types.is_numeric_dtype(values):
            values = values.astype(str)
        columns[str(name)] = values.tolist()
    return columns


def described(model: Any, decisions: list[str]) -> dict[str, Any]:
    """Return a fitted model as tables."""
    graph = model.graph_
    return {
        "nodes": columns_of(graph.nodes()),
        "edges": columns_of(graph.edges() if graph.directed else graph.undirected().edges()),
        "directed": bool(graph.directed),
        "method": type(model).__name__,
        "certificate": model.certificate_.sentence,
        "decisions": decisions,
        "model": model,
    }


FUNCTIONS = {"learn_network": learn_network, "tie_model": tie_model, "fit_game": fit_game}

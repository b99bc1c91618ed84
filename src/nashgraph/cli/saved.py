"""Commands about a network that was learned: ``nashgraph show``, ``rerun`` and ``act``; act takes any network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import sparse

from .. import io
from ..estimators import LEARNERS
from ..files import claimed
from ..graph import NOT_CENTRAL, LearnedGraph
from ..interventions import Answer, Game, Questions, answer_questions
from ..interventions.driver import NO_REPLICATES, QUESTIONS, caution
from ..io import FileRecord, Job, ModelRecord, TableError, read_edges, read_nodes, read_record, sha256_of
from ..peer_effects import GameFit
from ..report.prose import read_methods
from ..validation import InputError, listing
from . import learn
from .act_options import ActArguments, RerunArguments, ShowArguments
from .commands import DONE, UNFINISHED
from .fitting import GOSSIP, MODEL, OWN, with_parameters
from .groups import FOLDER as GROUPS
from .learn import EDGES, MEMBERS, NODES, REPORT, Inputs, check_inputs_kept, code_of, json_of, say_figures, write_tables
from .messages import Voice, listed, paired, plain, records
from .reading import study_again
from .tie_options import TIES

FIT = "fit.json"


def run_show(asked: ShowArguments) -> int:
    """Print what a model.json holds, and the most influential nodes and heaviest ties from the files in its folder."""
    voice = asked.speech.voice()
    record, place = read_record(asked.model)
    if asked.methods:
        paragraph = read_methods(place.parent / REPORT)
        voice.say(paragraph)
        voice.answer({"command": "show", "methods": paragraph})
        return DONE
    voice.say(f"{record.job.title} (from {Path(record.input.path).name})")
    say_figures(record, voice)
    voice.say(paired(settings(record), "settings"))
    nodes = None
    if record.certificate.get("influence_supported") is False:
        voice.say(NOT_CENTRAL)
    elif not (file := place.parent / NODES).is_file():
        voice.note(f"there is no {NODES} next to {place.name}, so the most influential nodes are not shown")
    elif sha256_of(file) != record.nodes_sha256:
        voice.note(f"{NODES} is not as it was written, so the most influential nodes are not shown")
    else:
        nodes = read_nodes(file, 10)
        if "silent" in nodes:  # such nodes are not hubs
            nodes = read_nodes(file).query("silent == 0").head(10).drop(columns="silent")
        nodes = nodes[[name for name in nodes if name in OWN]]
        voice.say(listed(few_columns(nodes), "most influential"))
    ties = None
    if (edges := place.parent / EDGES).is_file() and sha256_of(edges) != record.edges_sha256:
        voice.note(f"{EDGES} is not as it was written: it is not the graph that this model certifies")
    elif edges.is_file():
        ties = read_edges(edges, 10)
        shown = "source target evidence weight interval frequency probability known"
        voice.say(listed(with_intervals(ties, shown.split()), "strongest ties"))
    for note in record.notes:
        voice.say(f"note: {note}")
    voice.answer(
        {
            **json_of(record),
            "command": "show",
            "title": record.job.title,
            "parameters": record.job.parameters,
            "most_influential": None if nodes is None else nodes.to_dict("records"),
            "strongest_ties": None if ties is None else records(ties),
            "versions": record.versions,
        }
    )
    return DONE


def few_columns(nodes: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of nodes that fit a terminal, an interval of ranks in one."""
    if "missing" in nodes:
        nodes = nodes.assign(missing=nodes["missing"].map("{:.0%}".format))
    shown = "name influence interval rank followers expected_ties ties action missing community"
    ends = {"interval": ("influence_", ".2f"), "rank": ("rank_", ""), "ties": ("ties_", ".1f")}
    return with_intervals(nodes, shown.split(), ends)


def with_intervals(
    table: pd.DataFrame, shown: list[str], ends: Mapping[str, tuple[str, str]] = {"interval": ("", ".2f")}
) -> pd.DataFrame:
    """Return some columns of a table, intervals in one each; ``ends`` has the beginning of their names and a format."""
    for name, (start, how) in ends.items():
        if {f"{start}low", f"{start}high"} <= {*table}:
            pairs = zip(table[f"{start}low"], table[f"{start}high"], strict=True)
            table = table.assign(**{name: [f"{low:{how}} to {high:{how}}" for low, high in pairs]})
    return table[[name for name in shown if name in table]]


def settings(record: ModelRecord) -> dict[str, str]:
    """Return what was asked for, without what was left alone."""
    given = {**vars(record.job.table), **record.job.parameters}
    return {
        name: ",".join(value) if isinstance(value, tuple) else str(value)
        for name, value in given.items()
        if value not in (None, (), False)
    }


def run_rerun(asked: RerunArguments) -> int:
    """Run a job again, on files that are the same (or given, by option), and say whether the graph is."""
    voice = asked.speech.voice(brief=True)
    out = asked.out
    earlier, place = read_record(asked.model)
    if earlier.job.method not in LEARNERS or earlier.job.command not in ("learn", "path"):
        what = f"{earlier.job.command} with the method {earlier.job.method}"
        raise TableError(f"{place.name} asks for {what!r}, which this nashgraph cannot do")
    read = {"input": earlier.input, "truth": earlier.truth, "known": earlier.known, "alters": earlier.alters}
    file, truth, known, alters = (
        None if then is None else found_again(then, getattr(asked, name), f"--{name}", place, asked.force, voice)
        for name, then in read.items()
    )
    assert file is not None
    for name, now in io.library_versions().items():
        if now != (before := earlier.versions.get(name)):
            voice.note(f"{name} is {now} here and was {before}")
    job = with_alters_at(earlier.job, alters)
    study = study_again(earlier, place, file, alters)
    record = learn.run_job(job, Inputs(file, truth, known, place), out, voice, study)
    same, difference, sentence = compared(earlier, place.parent / EDGES, record, out / EDGES)
    voice.say(sentence)
    verdict = {"same": same, "bit_identical": difference == 0.0, "largest_difference": plain(difference)}
    voice.answer({**json_of(record), "out": str(out), **verdict})
    return code_of(record) if same else UNFINISHED


def with_alters_at(job: Job, alters: Path | None) -> Job:
    """Return the job with its table of alters at another place."""
    if alters is None:
        return job
    return replace(job, table=replace(job.table, alters=str(alters.resolve())))


def compared(earlier: ModelRecord, before: Path, record: ModelRecord, now: Path) -> tuple[bool, float, str]:
    """Return whether the edges of two runs are the same, how far they differ, and both in words.

    Another processor, or another version of a library, rounds in its own way: 1e-9 of the heaviest weight is the same.
    """
    if record.edges_sha256 == earlier.edges_sha256:
        return True, 0.0, "the graph is the same, to the last digit"
    differs = "the graph is NOT the same as that of the model"
    if not before.is_file() or sha256_of(before) != earlier.edges_sha256:
        why = f"its {EDGES} is missing or was changed, so the difference is unknown"
        return False, math.nan, f"{differs}, to the last digit at least; {why}"
    one, two = (read_edges(file).set_index(["source", "target"])["weight"] for file in (before, now))
    heaviest = one.abs().max() if len(two) else 0.0
    if heaviest > 0:
        difference = float(one.sub(two, fill_value=0.0).abs().max() / heaviest)
    else:
        difference = math.inf
    by = f"its weights differ by {difference:.1e} of the heaviest at most"
    if difference <= 1e-9:
        return True, difference, f"the graph is the same within 1e-09, not bit by bit: {by}"
    return False, difference, f"{differs}: {by}"


def found_again(then: FileRecord, given: Path | None, option: str, model: Path, force: bool, voice: Voice) -> Path:
    """Return the file that a model was learned from, if it still is that file."""
    file = given or model.parent / then.path
    if not file.is_file():
        raise TableError(f"the model's file {file} is not there: give it with {option}")
    if sha256_of(file) != then.sha256:
        message = f"{file} is not the file that the model was learned from (its SHA-256 differs)"
        if not force:
            raise TableError(f"{message}: give that one with {option}, or pass --force")
        voice.note(message)
    return file


def run_act(asked: ActArguments) -> int:
    """Find interventions on a network, print the first rows of each table, and write the tables."""
    voice = asked.speech.voice()
    given = asked.network
    out = asked.out or (given if given.is_dir() else given.parent) / "act"
    check_inputs_kept(out, (given, asked.benefit), [f"{name}.csv" for name in QUESTIONS])
    with voice.noting_warnings(), claimed(out):
        rules = {"interaction": asked.interaction, "welfare": asked.welfare}
        fit = None if asked.game is None else read_fit(asked.game)
        game, columns = read_game(given, rules, directed=not asked.undirected, fit=fit)
        if not game.replicate_weights:
            voice.note(NO_REPLICATES)
        voice.say(
            f"{given.name}: {game.n_nodes} nodes, {len(game.replicate_weights)} replicates; the game on its "
            f"{game.weights.nnz:,} weights has the welfare {game.value:.4g}. {caution(game)}"
        )
        answers = answer_questions(game, questions(asked, game, columns))
        print_answers(answers, voice)
        voice.say()
        write_tables(out, {f"{answer.name}.csv": answer.table for answer in answers if len(answer.table)}, voice)
    voice.answer(as_json(game, answers, out, voice))
    return DONE


def print_answers(answers: list[Answer], voice: Voice) -> None:
    """Print every table with its sentence; questions that the signals do not support share one sentence at the end."""
    unsupported = [answer.title.split(":")[0].lower() for answer in answers if answer.sentence == NOT_CENTRAL]
    for answer in answers:
        if answer.sentence != NOT_CENTRAL:
            voice.say()
            voice.say(answer.title)
            if len(answer.table):  # without anything to choose from there is none
                voice.say(listed(columns_of_answer(answer.table.head(answer.shown))))
            voice.say(answer.sentence)
    if unsupported:
        voice.say()
        voice.say(f"{NOT_CENTRAL} Not shown for this reason: {', '.join(unsupported)}.")


def read_game(
    given: Path, rules: dict[str, str | None], *, directed: bool, fit: Any = None
) -> tuple[Game, Mapping[str, Any]]:
    """Return the game on a folder that ``learn`` wrote, its model.json, or a file of ties; and the nodes' columns.

    What is played is a game fitted to actions, or the prior that the network was learned with, with another interaction
    or welfare if one is given.
    """
    wanted = {name: value for name, value in rules.items() if value is not None}
    if not given.is_dir() and given.name != MODEL:
        return Game.on(io.read_network(given, directed=directed), **wanted, game=fit), {}
    if given.is_dir() and not (given / MODEL).is_file() and (given / GROUPS).is_dir():
        raise TableError(f"{given} has a network for each group: give one of the folders in {given / GROUPS}")
    record, place = read_record(given)
    graph, replicates = learned_graph(record, place.parent)
    if fit is not None:
        return Game.on(graph, **wanted, replicates=replicates, game=fit), {}
    graph = replace(graph, prior=prior_learned_with(record, graph.node_columns))
    learned = Game.on(graph)
    game = Game.on(graph, **wanted, replicates=replicates)
    check_same_welfare(learned, record)
    return game, graph.node_columns


def read_fit(file: Path) -> GameFit:
    """Return the fit in a file that fit-game wrote, in its folder, or in that of the network."""
    if file.is_file():
        places = [file]
    else:
        places = [file / FIT, file / "fit" / FIT, file.with_name("fit") / file.name]
    existing = [place for place in places if place.is_file()]
    if not existing:
        raise TableError(f"there is no fitted game at {file}: write one with nashgraph fit-game")
    try:
        return GameFit.from_json(existing[0].read_text(encoding="utf-8"))
    except (UnicodeError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise TableError(f"{file} is not a fitted game: give the {FIT} that nashgraph fit-game wrote") from error


def check_same_welfare(game: Game, record: ModelRecord, tolerance: float = 1e-3) -> None:
    """Check that a game has the welfare that its network was learned with; else its prior was made wrongly."""
    welfare = record.certificate.get("welfare")
    if record.job.method != "glgp" or not isinstance(welfare, float):
        return
    if abs(game.value - welfare) > tolerance * max(abs(welfare), tolerance):
        raise TableError(
            f"the prior of this network cannot be made again from its files: it has the value {game.value:.4g}, and "
            f"{welfare:.4g} when the network was learned. Use key_players(model) and the other functions in Python"
        )


def prior_learned_with(record: ModelRecord, columns: Mapping[str, Any]) -> Any:
    """Return the prior of a learned network, made again from the job's parameters and the benefits in nodes.csv."""
    if "benefit" not in columns:  # without benefits there was none
        return None
    of_prior = ("prior", "interaction", "welfare")
    parameters = {
        name: value
        for name, value in record.job.parameters.items()
        if value is not None and name.partition("__")[0] in of_prior
    }
    model = with_parameters(LEARNERS[record.job.method](), parameters)
    return model.game_with(columns["benefit"])


def learned_graph(record: ModelRecord, folder: Path) -> tuple[LearnedGraph, list[Any]]:
    """Return a learned graph with its benefits and communities, and the graphs of its replicates.

    For a consensus this is the whole graph, with directions, and not only the ties in edges.csv. The replicates of a
    tie model are draws of its network.
    """
    checked = {NODES: record.nodes_sha256, EDGES: record.edges_sha256, MEMBERS: record.members_sha256}
    for name, expected in checked.items():
        if expected and not (folder / name).is_file():
            raise TableError(f"{name} is missing in the folder of {MODEL}: learn the network again")
        if expected and sha256_of(folder / name) != expected:
            raise TableError(f"{name} was changed after {MODEL} was written: learn the network again")
    nodes = read_nodes(folder / NODES).set_index("name")
    if record.members_sha256:
        names, weights, replicates = io.read_members(folder / MEMBERS)
    else:
        names = nodes.index.tolist()
        replicates = []
        edges = read_edges(folder / EDGES)
        if unknown := {*edges["source"], *edges["target"]} - {*names}:
            raise TableError(f"{NODES} is damaged (it lacks the nodes {listing(unknown)}): learn the network again")
        weights = weights_of(edges, names, directed=record.job.directed)
    if unknown := {*names} ^ {*nodes.index}:
        raise TableError(f"{NODES} is damaged (it has other nodes, {listing(unknown)}): learn the network again")
    columns = {name: nodes[name].loc[names].to_numpy() for name in ("benefit", "community", GOSSIP) if name in nodes}
    supported = record.certificate.get("influence_supported")
    known = supported if isinstance(supported, bool) else None
    graph = LearnedGraph.of(weights, names, node_columns=columns, influence_supported=known)
    if record.job.method == TIES:
        graph = replace(graph, directed=False, edge_columns={"probability": graph.weights.data})
    return graph, replicates


def weights_of(edges: pd.DataFrame, names: list[str], *, directed: bool) -> Any:
    """Return the weights of an edge list, both ways if it has no directions."""
    places = {name: number for number, name in enumerate(names)}
    rows, columns = (edges[end].map(places).to_numpy() for end in ("target", "source"))
    found = sparse.csr_array((edges["weight"].to_numpy(dtype=float), (rows, columns)), shape=(len(names), len(names)))
    return found if directed else found + found.T


def questions(asked: ActArguments, game: Game, columns: Mapping[str, Any]) -> Questions:
    """Return the questions that the options ask."""
    if asked.cap_influence is None:
        change: dict[str, Any] = {}
    else:
        change = {"cap_influence": asked.cap_influence}
    if asked.without:  # each is one name, which may have a comma, or several with commas between
        parts = [[text] if text in game.numbers else text.split(",") for text in asked.without]
        change["without"] = [name for part in parts for name in part]
    if asked.benefit is not None:
        change["new_benefit"] = io.read_node_numbers(asked.benefit, "benefit", [str(name) for name in game.names])
    known = columns.get("community"), columns.get(GOSSIP)
    return Questions(asked.best, asked.budget, asked.cost, asked.cap, *known, change)


def columns_of_answer(table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that fit a terminal, an interval in one, shares as percent."""
    shares = [name for name in ("share", "among_best") if name in table]
    table = table.assign(**{name: table[name].map("{:.0%}".format) for name in shares})
    too_much = ("low", "high", "action_before", "action_after", "influence")  # for a terminal: they are in the files
    shown = [str(name) for name in table.columns if name not in too_much]
    if "low" in table:
        shown.insert(shown.index("among_best"), "interval")
    return with_intervals(table, shown)


def as_json(game: Game, answers: list[Answer], out: Path, voice: Voice) -> dict[str, object]:
    """Return the JSON object: the first rows of every table, and its figures; the files have all."""
    return {
        "command": "act",
        "out": str(out),
        "nodes": game.n_nodes,
        "weights": int(game.weights.nnz),
        "replicates": len(game.replicate_weights),
        "welfare": game.value,
        **{answer.name: records(answer.table.head(answer.shown)) for answer in answers},
        "figures": {
            answer.name: {str(figure): plain(value) for figure, value in answer.table.attrs.items()}
            for answer in answers
            if answer.table.attrs
        },
        "notes": voice.notes,
    }

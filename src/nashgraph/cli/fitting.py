"""From a job to a fitted model: the method with its parameters, the fit with its progress, the scores."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lazy_loader
import numpy as np
import pandas as pd
import typer

from ..consensus.members import expected_cost
from ..consensus.stability import Selection
from ..estimators import GLGP, LEARNERS, METHODS, ConsensusGL, GraphEstimator, LambdaPath, TieModel
from ..estimators.glgp import as_solver
from ..files import in_bytes
from ..graph import EVIDENCE, LearnedGraph
from ..io import Job
from ..metrics import edge_auc, edge_average_precision, edge_precision_recall, symmetrize_for
from ..pairs.memory import free_memory
from ..solvers import COST
from ..validation import Array, InputError, check_n_lams
from .commands import FLAGS, meant
from .messages import Voice, bar, converging, counting, engine_noted, plain, tallied
from .options import LearnArguments, PathArguments
from .phrases import option_of
from .reading import Signals

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = lazy_loader.load("networkx")  # it takes a tenth of a second, and learning does without

MODEL = "model.json"
# Fields of a method's prior and solver that the command line and model.json have as parameters of the method, and their
# defaults; None leaves it to the solver.
PARTS: dict[str, tuple[str, Any]] = {
    "interaction": ("prior", "log1p"),
    "welfare": ("prior", "total"),
    "tol": ("solver", 1e-6),
    "max_iter": ("solver", None),
    "n_starts": ("solver", 1),
    "storage": ("solver", "auto"),
}
GOSSIP = "gossip"
# Our columns of nodes in files, which `show` prints; a user's column with one of these names is renamed.
OWN = (
    *("name", "influence", "influence_low", "influence_high", "rank_low", "rank_high", "followers", "listens_to"),
    *("expected_ties", "ties_low", "ties_high", "benefit", "action", "missing", "silent", "community"),
    GOSSIP,
)


def check_given(*files: Path | None) -> None:
    """Refuse files that are not there, with the name that may have been meant, and a model in place of a table."""
    for file in filter(None, files):
        if not file.exists():
            if file.is_symlink():
                raise InputError(f"{file} is a link, and there is no file where it points: give the file itself")
            if file.parent.is_dir():
                beside = [other.name for other in file.parent.iterdir()]
            else:
                beside = []
            raise InputError(f"there is no file {file}{meant(file.name, beside)}")
        folder = file if file.is_dir() else file.parent
        if (file.is_dir() or file.name == MODEL) and (folder / MODEL).is_file():
            raise InputError(
                f"{file} is a network that was learned already: print it with 'nashgraph show {file}', learn it again "
                f"with 'nashgraph rerun {file}', or get interventions with 'nashgraph act {file}'"
            )


def check_engine(engine: str | None) -> None:
    """Refuse an engine that this machine does not have, before a table is read for it."""
    if engine == "cuda":
        from ..pairs.cuda.tensors import gpu  # noqa: PLC0415 (an extra: imported where used)

        gpu()


def all_parameters(method: str, given: Mapping[str, Any], settings: list[str], missing: str) -> dict[str, Any]:
    """Return all parameters of a method, its defaults and those given; refuse those it does not have.

    ``settings`` are of the form name=value. All are kept, so that a later version learns the same.
    """
    known = flat_parameters(LEARNERS[method]())
    for name in given:
        if name not in known:
            has = [option_of(each.name) for each in fields(LearnArguments) if each.name in known]
            raise typer.BadParameter(
                f"the method {method} has no {option_of(name)} ({', '.join(methods_with(name))} have): of "
                f"these options it has {', '.join(has) or 'none'}"
            )
    if missing == "pairwise" and "missing" not in known:
        raise typer.BadParameter(
            f"the method {method} needs complete signals: pass --missing impute, or take one of "
            f"{', '.join(methods_with('missing'))}"
        )
    plain_types = (str, int, float, list, tuple, dict, type(None))  # what model.json can hold
    apart = ("callback", "missing")  # set by other means
    defaults = {name: value for name, value in known.items() if name not in apart and isinstance(value, plain_types)}
    if "random_state" in known:
        defaults["random_state"] = 0  # so that the same command gives the same bytes
    if "scale" in known:
        defaults["scale"] = "none"  # the table is standardised when it is read, or not, as --set standardize says
    found = {**defaults, **given, **dict(_setting(method, defaults, item) for item in settings)}
    return found | ({"benefit": None} if found.get("benefit") == "none" else {})


def needs_complete(job: Job) -> bool:
    """Tell whether a job's method or engine cannot compare nodes over what both have, so that gaps must be filled."""
    return "missing" not in flat_parameters(LEARNERS[job.method]()) or job.parameters.get("engine") == "cuda"


def methods_with(parameter: str) -> list[str]:
    """Return the methods that have a parameter."""
    return [name for name, make in METHODS.items() if parameter in flat_parameters(make())]


def flat_parameters(model: GraphEstimator) -> dict[str, Any]:
    """Return the parameters of a method, with those of its prior and solver that the command line can set."""
    within = {name: default for name, (part, default) in PARTS.items() if part in model.parts}
    return within | model.get_params(deep=False)


def with_parameters(model: GraphEstimator, given: Mapping[str, Any]) -> GraphEstimator:
    """Set parameters, those of its prior and solver among them."""
    known = flat_parameters(model)
    changes = dict[str, Any]()
    unknown = sorted(name for name in given if name.partition("__")[0] not in known)
    if unknown:
        raise InputError(f"the method {type(model).__name__} has no parameter {', '.join(map(repr, unknown))}")
    for name, value in given.items():
        if name in model.get_params(deep=False) or "__" in name:
            changes[name] = value
        elif value != PARTS[name][1]:
            changes[f"{PARTS[name][0]}__{name}"] = value
    return model.set_params(**changes)


def _setting(method: str, known: Mapping[str, Any], item: str) -> tuple[str, Any]:
    name, mark, text = item.partition("=")
    if not mark:
        raise typer.BadParameter(f"--set {item} must read name=value, for example --set tol=1e-8")
    settable = sorted({*known} - {"benefit"})
    if name not in settable and name.partition("__")[0] not in LEARNERS[method].parts:
        raise typer.BadParameter(
            f"{name!r} is no setting of learn and no parameter of the method {method}{meant(name, settable)}, which "
            f"has {', '.join(settable)}; --set help lists the settings"
        )
    if isinstance(known.get(name), bool):
        if text.lower() not in FLAGS:
            raise typer.BadParameter(f"--set {item}: {name} is {' or '.join(FLAGS)}")
        return name, FLAGS[text.lower()]
    with suppress(ValueError):
        if not math.isfinite(float(text)):
            raise typer.BadParameter(f"--set {item}: {name} must be a finite number")
    try:  # what is too large for the integers of a computer is a float
        return name, json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 19 else float(digits))
    except (ValueError, RecursionError):
        return name, text


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model, its whole graph, that graph without directions if asked for, and the part that is written."""

    model: GraphEstimator
    whole: LearnedGraph
    graph: LearnedGraph
    written: LearnedGraph
    seconds: float
    path: LambdaPath | None = None
    selection: Selection | None = None

    @property
    def resampled(self) -> list[Any]:
        """The graphs of the replicates, if the model has any."""
        return getattr(self.model, "replicate_graphs_", [])

    @property
    def certificate(self) -> dict[str, Any]:
        """The certificate, and the numbers that go with it: objective, beta, lam, welfare and so on."""
        prior = self.model.prior_
        numbers = {name.rstrip("_"): value for name, value in vars(self.model).items() if name.endswith("_")}
        if prior is not None:
            numbers |= {name: getattr(prior, name) for name in ("lam", "smoothness_cost", "welfare")}
        numbers.pop("n_features_in", None)
        if isinstance(self.model, ConsensusGL):
            numbers["ties"] = self.written.undirected().n_edges  # an edge in each direction is one tie
        elif "expected_ties" in self.whole.node_columns:  # two pairs are written for every expected tie
            numbers["ties"] = round(float(np.sum(self.whole.node_columns["expected_ties"])) / 2)
        return self.model.certificate_.as_dict() | {
            name: plain(value) for name, value in numbers.items() if isinstance(value, Real) and not math.isnan(value)
        }


def learned(job: Job, signals: Signals, voice: Voice, known: pd.DataFrame | None = None) -> Outcome:
    """Fit a job's model."""
    model, along = built(job, signals)
    start = time.perf_counter()
    with engine_noted(voice):
        if job.command == "path":
            path = followed(model, along, signals, voice)
        else:
            path = None
        if path is None:
            fitted(model, signals, voice, known)
        else:
            model = path.models[path.affordable()]
    seconds = time.perf_counter() - start
    if isinstance(model, ConsensusGL) and model.signals == "auto":
        taken_as = model.decisions_[0]
        other = taken_as.remedy.value if taken_as.remedy else ""
        voice.note(f"taken as {taken_as.kind}: {taken_as.reason} (--set signals={other} if they are {other})")
    test = model.prior_.test if model.prior_ is not None else None
    if test is not None:
        if test.found:
            off = ""
        else:
            off = " The prior is off: --set lam=1 sets a strength, --set benefit=COLUMN another benefit."
        voice.note(test.sentence + off)
    whole = with_gaps(model.graph_, signals)
    if job.table.gossip and signals.benefit is not None:
        whole = replace(whole, node_columns={**whole.node_columns, GOSSIP: signals.benefit - 1.0})
    graph = whole if job.directed else whole.undirected()
    written = part_to_write(graph, job.least_frequency)
    # Where nodes are columns, their rows would be the signals themselves, thousands of them.
    written = described(written, signals.columns if job.table.nodes == "rows" else pd.DataFrame())
    chosen = selected(model, signals, job.false_edges, voice)
    return Outcome(model, whole, graph, written, seconds, path, chosen)


def with_gaps(graph: LearnedGraph, signals: Signals) -> LearnedGraph:
    """Return the graph with what the file lacks for each node, before it was filled or scaled."""
    known = {name: values for name, values in graph.node_columns.items() if name not in ("missing", "silent")}
    missing = {"missing": signals.missing} if signals.missing.any() else {}
    if signals.silent.any():
        silent = {"silent": signals.silent.astype(int)}
    else:
        silent = {}
    return replace(graph, node_columns={**known, **missing, **silent})


def selected(model: GraphEstimator, signals: Signals, false_edges: float | None, voice: Voice) -> Selection | None:
    """Select ties of a consensus with a bound on those by chance, where it is asked for, and say what is promised."""
    if false_edges is None or not isinstance(model, ConsensusGL):
        return None
    with tallied(voice, "selecting") as tell:
        found = model.select(signals.table, false_edges, progress=tell)
    voice.note(found.sentence)
    return found


def part_to_write(graph: LearnedGraph, least_frequency: float | None) -> LearnedGraph:
    """Return the ties to write: those with most evidence or, if asked for, those that many member networks have.

    A consensus has a little weight on nearly all pairs. A graph without evidence is written as it is.
    """
    if least_frequency is not None:
        return graph.at_least("frequency", least_frequency)
    return graph.suggested() if EVIDENCE in graph.edge_columns else graph


def built(job: Job, signals: Signals) -> tuple[GraphEstimator, dict[str, Any]]:
    """Return the estimator of a job, with the benefit out of the table where there is one, and the path's arguments."""
    model = LEARNERS[job.method]()
    given = dict(job.parameters)
    along = {field.name: given.pop(field.name) for field in fields(PathArguments) if field.name in given}
    if signals.benefit is not None and not (job.table.gossip and "benefit" not in model.get_params(deep=False)):
        given["benefit"] = signals.benefit
    by_pairs = job.table.missing in ("auto", "pairwise") and "missing" in flat_parameters(model)
    if by_pairs and signals.table.isna().to_numpy().any():
        given["missing"] = "pairwise"
    return with_parameters(model, given), along


def fitted(model: GraphEstimator, signals: Signals, voice: Voice, ties: pd.DataFrame | None) -> None:
    """Fit with progress shown: that of its steps or of its iterates, where it tells of them."""
    if isinstance(model, TieModel):
        fit_ties(model, signals, voice, ties)
        return
    announce(model, signals, voice)
    if isinstance(model, ConsensusGL):
        with tallied(voice, "learning") as tell:
            model.fit(signals.table, progress=tell)
        return
    with bar(voice, "learning") as tell:
        part, solver = ("solver__", as_solver(model.solver)) if isinstance(model, GLGP) else ("", model)
        if hasattr(solver, "callback"):
            told = converging(tell)
            tol = solver.tol
            model.set_params(**{f"{part}callback": lambda record: told(record, tol)})
        model.fit(signals.table)
    if hasattr(solver, "callback"):
        model.set_params(**{f"{part}callback": None})


def announce(model: GraphEstimator, signals: Signals, voice: Voice) -> None:
    """Say how long a fit of many nodes may take, before it starts, and what to do about a very long one."""
    n_nodes = signals.table.shape[1]
    if not isinstance(model, ConsensusGL) or model.estimator or model.engine != "threads" or n_nodes < 5000:
        return
    table = signals.table.to_numpy(dtype=float)
    seconds, memory = expected_cost(table, model.n_degrees, model.n_replicates)
    # The libraries themselves take 3e8 bytes.
    voice.tell(f"learning {n_nodes:,} nodes takes about {in_time(seconds)} and {in_bytes(memory + 3e8)} of memory")
    if seconds > 300:
        alone, _ = expected_cost(table, model.n_degrees, 0)
        voice.tell(f"faster: --set n_replicates=0 (no intervals, about {in_time(alone)}), engine=cuda, or workers=8")
    if memory > free_memory():
        voice.tell(
            f"there is not enough free memory ({in_bytes(free_memory())}): a smaller --set n_replicates takes less"
        )


def announce_ties(signals: Signals, voice: Voice) -> None:
    """Say how long a tie model of many nodes may take: a pair costs a little for each trait and each signal.

    On two cores, with 6,000 and 12,000 nodes, 3 to 20 traits and 0 to 30 signals, the processor time was 0.6 to 1.1
    times the estimate.
    """
    n_nodes = signals.table.shape[1]
    if n_nodes >= 5000:
        n_traits = 0 if signals.told is None else signals.told.traits.shape[1]
        seconds = n_nodes**2 * (1e-7 + 2e-8 * (2 * (n_traits + 1) + len(signals.table)))
        voice.tell(f"learning {n_nodes:,} nodes from what people told takes about {in_time(seconds)}")


def in_time(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"


def fit_ties(model: TieModel, signals: Signals, voice: Voice, known: pd.DataFrame | None) -> None:
    """Fit the tie model to what people told and to known ties, and say how far answers are trusted."""
    X = signals.table if len(signals.table) else None
    survey = signals.told
    if survey is not None and survey.room and model.max_names is None:
        room = max(survey.room.values())
        voice.note(f"--names has {room} columns, so lists of {room} names count as full; --set max_names=N changes it")
    announce_ties(signals, voice)
    with bar(voice, "learning"):
        model.fit(X, survey, known=known)
    for decision in model.decisions_:
        if decision.kind == "response_rate":
            voice.say(decision.reason)
    if survey is None:
        voice.note(
            f"learned by the tie model from {int(model.survey_.known['tie'].sum())} known ties, "
            f"{int(model.asked_.sum())} people whose ties are all known, and likeness of the signals"
        )
        return
    recall, variance, source = model.errors_
    voice.note(f"answers are taken to recall {recall:.0%} of ties, with an error variance of {variance:.2g} ({source})")


def followed(model: GraphEstimator, along: dict[str, Any], signals: Signals, voice: Voice) -> LambdaPath:
    """Solve along a list of lambdas, and say which of them is taken."""
    if not isinstance(model, GLGP):
        raise InputError(f"{type(model).__name__} has no lambda-path: only glgp has")
    lams = along.get("lams")
    if not isinstance(lams, list | None):  # of a model.json that somebody changed
        raise InputError(f"lams must be a list of numbers, got {lams!r}: for example [0.1, 1]")
    if lams is None:
        count = check_n_lams(along.get("n_lams", 20))
    else:
        count = len(lams)
    with counting(voice, "following", 2 * count - 1) as progress:
        path = model.path(signals.table, **along, progress=progress)
    if lams is None and len(path.lams) < count:
        voice.note(
            f"the path ends at lam = {path.lams[-1]:.4g}, after {len(path.lams)} of {count}: beyond, two nodes hold "
            "half of the influence, or the solver no longer converges; --lams goes further"
        )
    place = path.affordable()
    voice.note(
        f"took lam = {path.lams[place]:.4g}, "
        + (
            f"the strongest of {len(path.lams)} that cost at most a thousandth of the smoothness J"
            if path.smoothness_costs[place] <= (1.0 + COST) * path.least
            else "the weakest, though it costs more than a thousandth of the smoothness J: try smaller --lams"
        )
    )
    return path


def scores(graph: LearnedGraph, truth: nx.Graph[str]) -> dict[str, float]:
    """Return how well a graph matches the truth; one without directions is scored on weights made symmetric."""
    how = symmetrize_for(truth)
    best = edge_precision_recall(truth, graph, how)
    return {
        "auc": edge_auc(truth, graph, how),
        "average_precision": edge_average_precision(truth, graph, how),
        "precision": best.precision,
        "recall": best.recall,
        "chance": nx.density(truth),
    }


def described(graph: LearnedGraph, table: pd.DataFrame) -> LearnedGraph:
    """Return the graph with the community of every node and the columns of the user's table, as files show them."""
    columns = {str(name): as_values(table[name]) for name in table}
    taken = {*OWN, "id", "label", "group", *graph.node_columns}
    renamed = {f"{name} (table)" if name in taken else name: values for name, values in columns.items()}
    return replace(graph, node_columns={**graph.node_columns, "community": graph.communities, **renamed})


def as_values(column: pd.Series) -> Array:
    """Return a column as numbers or as text, gaps as NaN or None."""
    if pd.api.types.is_bool_dtype(column.dtype) and not column.isna().any():
        return column.to_numpy(dtype=bool)
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        whole = pd.api.types.is_integer_dtype(column.dtype) and not column.isna().any()
        if whole:
            return column.to_numpy()
        return column.to_numpy(dtype=float, na_value=np.nan)
    texts = column.map(str, na_action="ignore").astype(object)
    return texts.where(column.notna(), None).to_numpy(dtype=object)

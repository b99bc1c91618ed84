"""``nashgraph compare``: several methods on one table."""

from __future__ import annotations

import functools
import inspect
from contextlib import nullcontext

import pandas as pd
import typer

from ..baselines.controls import CONTROLS
from ..comparison import compare as compare_methods
from ..comparison import verdict
from ..estimators import METHODS
from ..files import claimed
from ..io import Job
from ..network_check import check_network
from ..report.reference import questions_of
from .commands import BUG_REPORT, DONE, UNFINISHED
from .fitting import check_engine, check_given, flat_parameters, methods_with, with_parameters
from .learn import check_inputs_kept, note_signals, write_tables
from .messages import Voice, counting, listed, records
from .options import ClusterArguments, CompareArguments, FileArguments, GameArguments
from .reading import Signals, signals_in, study_read, truth_noted

# Warnings and errors of a method that are about the user's data, by the names that a comparison's table has.
NO_BUGS = ("InputError", "InputTypeError", "DataWarning", "ConvergenceWarning", "UserWarning", "RuntimeWarning")


def run_compare(game: GameArguments, cluster: ClusterArguments, asked: CompareArguments) -> int:
    """Fit methods on the same signals, print their scores, and write them where asked."""
    game = cluster.settled(game)
    voice = asked.speech.voice()
    check_given(asked.file, asked.truth)
    check_engine(game.engine)
    options = asked.table.options(game.benefit)
    given = {"random_state": 0} | game.parameters()
    missing = "pairwise" if options.missing == "pairwise" else "error"
    if asked.out is not None:
        check_inputs_kept(asked.out, (asked.file, asked.truth), ["compare.csv"])
    alone = nullcontext() if asked.out is None else claimed(asked.out)
    with alone, cluster.opened(game, voice), voice.noting_warnings():
        signals = signals_in(
            study_read(asked.file, options, asked.table.lines(), complete=True)
        )  # so that all methods learn from the same
        note_signals(asked.file, signals, voice)
        job = Job("compare", "", table=options, truth_directed=asked.truth_directed)
        truth = truth_noted(asked.truth, signals, job, voice)
        if signals.benefit is not None:
            given["benefit"] = signals.benefit
        entries = []
        for name in chosen(asked.methods or [], signals, missing, voice):
            known = flat_parameters(model := METHODS[name]())
            its_own = {key: value for key, value in given.items() if key in known}
            entries.append((name, with_parameters(model, its_own)))
        game_played = {name: given[name] for name in inspect.signature(compare_methods).parameters if name in given}
        count = len(entries) + (0 if truth is None else len(CONTROLS) + 1)
        with counting(voice, "comparing", count) as progress:
            found = compare_methods(signals.table, truth, entries, **game_played, missing=missing, progress=progress)
    if truth is not None:
        voice.note(f"precision is that of the {truth.number_of_edges():,} heaviest pairs of each, as many as are true")
    voice.say(listed(found.drop(columns=["warnings", "error", "scored"], errors="ignore")))
    if truth is not None:
        voice.say(verdict(found))
    else:
        voice.note(
            "without a true network nothing here shows which method is right: welfare is a property of the game, not "
            "of the truth; pass --truth ties.csv to score the methods next to controls"
        )
    for text, which in remarks(found).items():
        voice.note(f"{', '.join(which)}: {text}")
    write_tables(asked.out, {"compare.csv": found}, voice)
    answer = {"command": "compare", "methods": records(found), "notes": voice.notes}
    voice.answer(answer | ({} if truth is None else {"verdict": verdict(found)}))
    return DONE if found["converged"].all() else UNFINISHED


def run_check(asked: FileArguments) -> int:
    """Test whether the columns go together, and print the verdict in words."""
    voice = asked.speech.voice()
    check_given(asked.file, asked.truth)
    with voice.noting_warnings():
        job = Job("check", "", table=asked.table.options(None), truth_directed=asked.truth_directed)
        signals = signals_in(study_read(asked.file, job.table, asked.table.lines(), complete=False))
        note_signals(asked.file, signals, voice)
        truth = truth_noted(asked.truth, signals, job, voice)
        found = check_network(signals.table, questions=questions_of(signals.table, signals.columns))
        # Against a truth, the default method next to chance and controls says whether the structure is the ties'.
        filled = signals.table.T.fillna(signals.table.mean(axis=1)).T  # controls need all answers
        if truth is None:
            scored = []
        else:
            scored = [verdict(compare_methods(filled, truth, ["consensus"]))]
    for sentence in (said := [*found.sentences, *scored]):
        voice.say(sentence)
    voice.answer({"command": "check", **found.as_dict(), "sentences": said, "notes": voice.notes})
    return DONE


def chosen(given: list[str], signals: Signals, missing: str, voice: Voice) -> list[str]:
    """Return the methods named, or all that can learn from this table, and quickly; say which were left out."""
    n_signals, n_nodes = signals.table.shape
    gaps = missing == "pairwise" and signals.missing.any()
    complete = methods_with("missing") if gaps else list(METHODS)
    unable = [name for name in METHODS if name not in complete]
    names = [name for item in given for name in item.split(",")]
    for name in names:
        if name not in METHODS:
            raise typer.BadParameter(f"there is no method {name!r}: there are {', '.join(METHODS)}")
    if unable and (not names or {*names} & {*unable}):
        left = [name for name in names or METHODS if name in unable]
        voice.note(f"left out {', '.join(left)}: complete signals are needed there; --missing impute takes them in")
    if names:
        if {*names} <= {*unable}:
            raise typer.BadParameter("none of these methods accepts gaps: pass --missing impute")
        return [name for name in names if name not in unable]
    able = {name: kind for name, kind in METHODS.items() if name not in unable}
    slow = [name for name, kind in able.items() if n_nodes > kind.quick_up_to]
    if slow:
        voice.note(f"left out {', '.join(slow)}, slow on {n_nodes} nodes; --methods takes them in")
    poor = [name for name, kind in able.items() if name not in slow and n_signals < kind.least_signals]
    if poor:
        voice.note(f"left out {', '.join(poor)}, for which {n_signals} signal(s) are too few; --methods takes them in")
    return [name for name in able if name not in (*slow, *poor)]


def remarks(found: pd.DataFrame) -> dict[str, list[str]]:
    """Return what methods warned of or failed of, each once, with the methods that did."""
    said: dict[str, list[str]] = {}
    for method, warned, failed in zip(found["method"], found["warnings"], found["error"], strict=True):
        for text in filter(None, (failed, warned)):
            kind, _, rest = text.partition(": ")
            plain = text
            if kind in NO_BUGS:  # Python's names of these mean nothing to the user
                plain = functools.reduce(lambda said, name: said.replace(f"; {name}: ", "; "), NO_BUGS, rest)
            elif text == failed:
                plain = text + BUG_REPORT
            said.setdefault(plain, []).append(method)
    return said

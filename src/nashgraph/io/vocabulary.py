"""The words by which tables are recognised: words.toml has them, and says what each list is for."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files


def _two(pair: str) -> tuple[str, str]:
    """Return the two names of a pair: the words of each half."""
    words = pair.split()
    half = len(words) // 2
    return " ".join(words[:half]), " ".join(words[half:])


_words = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))

GAPS: list[str] = _words["gaps"]
NO_ANSWER = frozenset[str](_words["silent"])
CODE_WORDS, PLACES, QUANTITIES = ({*_words[name]} for name in ("code", "place", "quantity"))
NODE_WORDS = PLACES | {*_words["node"]}
QUESTIONS, ANSWERS, COUNTS, RATINGS = ({*_words[name]} for name in ("question", "answer", "count", "rating"))
# Each a list of levels, and each level a list of words for it.
SCALES = [[level.split("|") for level in scale.split(" < ")] for scale in _words["scales"]]
TOTALS, NOTES, OPEN_ANSWERS = (frozenset[str](_words[name]) for name in ("totals", "notes", "open_answers"))
YES, NO, TICK, UNTICK = (frozenset[str](_words["yes_no"][name]) for name in ("yes", "no", "tick", "untick"))
# What tools write beside the answers: a pattern of names for each reason to leave a column out.
METADATA = {reason: re.compile("|".join(names)) for reason, names in _words["metadata"].items()}
ANY_TOOL = re.compile("|".join(pattern.pattern for pattern in METADATA.values()))
# Names of columns that have a role of their own.
NAMED_ROLES = {role: re.compile("|".join(names)) for role, names in _words["roles"].items()}
END_PAIRS = [_two(pair) for pair in _words["ends"]["pairs"]]
STRENGTH = re.compile("|".join(_words["ends"]["strength"]))
AMBIGUOUS = frozenset[str](_words["ambiguous"]["words"])

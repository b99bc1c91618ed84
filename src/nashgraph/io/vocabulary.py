"""The words by which tables are recognised: words.toml has them, and says what each list is for."""

from __future__ import annotations

import tomllib
from importlib.resources import files

_words = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))

GAPS: list[str] = _words["gaps"]
NO_ANSWER = frozenset[str](_words["silent"])
CODE_WORDS, PLACES, QUANTITIES, TIMES = ({*_words[name]} for name in ("code", "place", "quantity", "time"))
NODE_WORDS = PLACES | {*_words["node"]}
QUESTIONS, ANSWERS, COUNTS, RATINGS = ({*_words[name]} for name in ("question", "answer", "count", "rating"))
# Each a list of levels, and each level a list of words for it.
SCALES = [[level.split("|") for level in scale.split(" < ")] for scale in _words["scales"]]

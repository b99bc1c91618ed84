"""On which scale a column was answered, and its answers as numbers."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..plan import ColumnPlan, PlanError
from ..validation import Array
from .columns import as_name
from .missing import plain_codes, stray_codes
from .profiles import Profile
from .vocabulary import NO, NO_ANSWER, SCALES, TICK, UNTICK, YES

MOST_CHOICES = 25  # of a question with several in a cell
LEAST_TICKS = 3  # cells of one word, below which they are no choice
MOST_LEVELS = 12  # of an answer that is ordered
MOST_CATEGORIES = 50  # more different words are free text, unless each has ten people
NUMBERED = re.compile(r"\s*(-?\d+)\s*(?:[-–:.)=(]|\s)\s*\D.*")  # "4 - agree", "4 (Agree)", "4. agree"
LABELLED = re.compile(r"\D*[(\[]\s*(-?\d+)\s*[)\]]\s*")  # "agree (4)"
AT_LEAST = re.compile(r"(?:>=?\s*|more than\s+)?(\d+)\s*(?:\+|or more|and more|and over|et plus|o más|und mehr)?")
RANGE = re.compile(
    r"\d\s*(?:-|–|\.\.+|to|bis|à|a)\s*[$€£]?\d|^\s*(?:<|>|≤|≥|\.\.|under|below|less|up to|at most|over|above|more)"
    r"|\d\s*(?:\+|or more|and more|and over|\.\.)|\b(?:day|week|month|year|times?)s?\b",
    re.IGNORECASE,
)
SPLITS = (";", "|", "\n", ",", ", ", " ")  # "," stands for a comma without a blank after it


@dataclass(frozen=True)
class Pool:
    """The codes for no answer, the least and the largest answer in a block of questions."""

    codes: tuple[float, ...] = ()
    low: float = np.inf
    high: float = -np.inf


NOTHING = Pool()


def codes_of_block(block: Sequence[Profile]) -> Pool:
    """Return the codes of a block of questions: 8 and 9 are codes in all of them if they are in one."""
    numbers = [profile.numbers for profile in block if profile.numbers is not None]
    if len(numbers) < 2:
        return NOTHING
    values = np.concatenate(numbers)
    seen, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    codes = _codes(seen, counts)
    answered = seen[~np.isin(seen, codes)]
    if not answered.size:
        return NOTHING
    return Pool(tuple(codes), float(answered[0]), float(answered[-1]))


def scale_of(profile: Profile, block: int = 1, pool: Pool = NOTHING) -> ColumnPlan:
    """Return how the answers of a column are read; ``block`` questions are like it, and share ``pool``."""
    if profile.values is not None:
        return _numeric(profile, block, pool)
    if isinstance(profile.column.dtype, pd.CategoricalDtype):
        return _labelled(profile, profile.column.dtype, block)
    if not profile.text:
        return ColumnPlan(profile.name, "answer", "yes/no", why="true or false")
    silent = tuple(sorted(value for value in profile.counts if value.casefold() in NO_ANSWER))
    plan = _marked(profile)
    if plan is None and profile.numbers is not None:
        plan = _numeric(profile, block, pool)
    if plan is None and not profile.answers:
        return ColumnPlan(profile.name, "ignore", why="empty except for words for no answer")
    # The first way that reads nearly all cells is taken, from the most particular to the most general.
    for way in (_amounts_in_words, _numbered_levels, _ordered_levels, _several_choices):
        plan = plan or way(profile)
    plan = plan or _words(profile)
    if plan.scale == "tick":  # a dash is a blank there, and no gap
        return plan
    return replace(plan, missing=tuple(dict.fromkeys((*silent, *plan.missing))))


def _marked(profile: Profile) -> ColumnPlan | None:
    """Return ticks, or yes and no, if all cells are one of their words."""
    folded = {value.casefold() for value in profile.answers}
    everything = {value.casefold() for value in profile.counts}
    blanks = profile.filled < profile.rows
    if everything & TICK and everything <= TICK | UNTICK and _is_ticked(everything, blanks):
        return ColumnPlan(profile.name, "answer", "tick", why="a mark where it applies")
    # Of single letters only y and n: s and n may be south and north.
    spelled_out = any(len(word) > 1 for word in folded) or folded <= {"y", "n", "0", "1"}
    if len(folded) == 1 and blanks and len(everything) == 1 and profile.filled >= LEAST_TICKS:
        return ColumnPlan(profile.name, "answer", "tick", why="one word or nothing: a choice that people ticked")
    if folded & YES and folded & NO and folded <= YES | NO and spelled_out:
        return ColumnPlan(profile.name, "answer", "yes/no", why="yes or no")
    return None


def _amounts_in_words(profile: Profile) -> ColumnPlan | None:
    """Return amounts with a unit or groups of digits, and numbers with "4+" among them."""
    numbers = _as_numbers(profile)
    if numbers is not None:
        return ColumnPlan(profile.name, "answer", "number", why=f"numbers, {numbers}")
    if all(AT_LEAST.fullmatch(level) for level in profile.answers):
        return ColumnPlan(profile.name, "answer", "number", why="numbers, with at least so many")
    return None


def _numbered_levels(profile: Profile) -> ColumnPlan | None:
    """Return levels that carry their number: "4 - agree"."""
    levels = profile.answers
    if 2 < len(levels) <= MOST_LEVELS and all(number_of(level) is not None for level in levels):
        return ColumnPlan(profile.name, "answer", "ordered", why="levels with their numbers")
    return None


def _ordered_levels(profile: Profile) -> ColumnPlan | None:
    """Return levels in an order that words.toml knows, or that their numbers give (18-25, over 65)."""
    levels = list(profile.answers)
    known = ordered(levels) if 2 < len(levels) <= MOST_LEVELS else []
    numbers = [level for level in levels if re.search(r"\d", level)]
    # Levels with numbers have an order if they are ranges or rates; "class 1" and "class 2" are names.
    ranges = [level for level in numbers if RANGE.search(level)]
    if known and len(ranges) >= len(numbers) / 2:
        return ColumnPlan(profile.name, "answer", "ordered", order=tuple(known), why="levels in a known order")
    return None


def _several_choices(profile: Profile) -> ColumnPlan | None:
    split = split_of(profile)
    if split:
        return ColumnPlan(profile.name, "answer", "multiple", split=split, why="several choices in a cell")
    return None


def _is_ticked(values: set[str], blanks: bool) -> bool:
    """Tell whether marks mean yes and blanks or dashes mean no. They do not if yes and no are both written out."""
    marks = values & TICK - UNTICK - YES
    if marks:
        return blanks or len(values) > 1
    # Words for yes alone are ticks if the other cells are blank or dashes.
    return blanks and not values & (NO - {"o", "a"}) and len(values) == 1


def _words(profile: Profile) -> ColumnPlan:
    """Return words as a category, or as text that is not used."""
    distinct = len(profile.answers)
    filled = sum(profile.answers.values())
    many = distinct > MOST_CATEGORIES and (distinct > 200 or distinct * 10 > filled)
    long = sum(count for value, count in profile.answers.items() if len(value.split()) > 8) > 0.3 * filled
    alone = distinct == filled and filled > 2
    if alone or many or long or (distinct > 0.8 * filled and filled >= 10):
        return ColumnPlan(profile.name, "ignore", why="text in people's own words")
    return ColumnPlan(profile.name, "answer", "category", why="words without a known order")


def _labelled(profile: Profile, kind: pd.CategoricalDtype, block: int) -> ColumnPlan:
    """Return the answers of a column whose file has labels and their order."""
    silent = tuple(sorted(value for value in profile.counts if value.casefold() in NO_ANSWER))
    levels = [as_name(level) for level in kind.categories if as_name(level) in profile.answers]
    folded = {level.casefold() for level in levels}
    if len(levels) == 2 and folded <= YES | NO:
        return ColumnPlan(profile.name, "answer", "yes/no", missing=silent, why="yes or no")
    known = ordered(levels) if len(levels) > 2 else []
    if known:
        return ColumnPlan(profile.name, "answer", "ordered", tuple(known), silent, why="levels in a known order")
    if kind.ordered or (block >= 3 and len(levels) > 2):
        # Questions that share their labels are a battery, whose codes have the order of the labels.
        why = "levels in the order of the file"
        return ColumnPlan(profile.name, "answer", "ordered", tuple(levels), silent, why=why)
    return ColumnPlan(profile.name, "answer", "category", missing=silent, why="labels of the file")


def _numeric(profile: Profile, block: int, pool: Pool) -> ColumnPlan:
    """Return numbers as yes or no, levels or amounts, with the codes for no answer."""
    seen, counts = profile.seen
    if pool.codes:
        missing = [code for code in pool.codes if (seen == code).any()]
    else:
        missing = _codes(seen, counts)
    if missing:
        seen = seen[~np.isin(seen, missing)]
    codes = tuple(as_name(code) for code in (pool.codes or missing))
    unsure = bool(missing) and block == 1 and any(abs(code) < 10 for code in missing)
    if not seen.size:
        return ColumnPlan(profile.name, "ignore", why="empty except for codes for no answer")
    if seen[0] >= 0.0 and seen[-1] <= 1.0 and seen.size <= 2 and not (seen % 1).any():
        return ColumnPlan(profile.name, "answer", "yes/no", missing=codes, why="0 or 1", unsure=unsure)
    short = seen[0] >= 0 and seen[-1] <= 10 and seen.size > 2 and not (seen % 1).any()
    wide = pool.high - pool.low > 10  # the block has amounts
    if short and not wide and (block > 1 or seen.size <= 7) and seen[-1] - seen[0] < 2 * seen.size:
        low = min(pool.low, seen[0])
        high = max(pool.high, seen[-1])
        why = f"levels from {low:g} to {high:g}"
        return ColumnPlan(profile.name, "answer", "ordered", missing=codes, why=why, unsure=unsure)
    return ColumnPlan(profile.name, "answer", "number", missing=codes, why="numbers", unsure=unsure)


ENDS_OF_RANGES = (998.0, 999.0, 9997.0, 9998.0, 9999.0, 99998.0, 99999.0)


def _codes(seen: Array, counts: Array) -> list[float]:
    """Return the numbers that stand for no answer: -99, 99 far out, 9 above a short scale, 9999 as a frequent end.

    ``seen`` are the different numbers of a column, in order, and ``counts`` how often each occurs.
    """
    if not seen.size or (seen[0] >= 0 and seen[-1] < 7) or (seen % 1).any():
        return []
    found = plain_codes(seen)
    answers = seen[seen >= 0]
    # -9, -8 and -7 below answers that are all from 0 up.
    if seen[0] < 0 and answers.size > 1 and np.isin(seen[seen < 0], (-9.0, -8.0, -7.0, *found)).all():
        found += seen[seen < 0].tolist()
    rest = ~np.isin(seen, found)
    found += stray_codes(np.repeat(seen[rest], counts[rest]))
    seen = seen[rest]
    counts = counts[rest]
    # 9998 and 9999 at the end of a long range, and each more often than other values: what a form writes for a gap.
    if seen.size > 20 and seen[-1] in ENDS_OF_RANGES and counts[-1] > 3 * np.median(counts):
        found += [float(value) for value in seen[-3:] if value in ENDS_OF_RANGES]
    return sorted({*found})


def _as_numbers(profile: Profile) -> str | None:
    """Return how cells such as "1,200 €" or "12 years" were read as numbers, by an example, if all but slips can be."""
    cells = list(profile.answers)
    values = [amount_of(cell) for cell in cells]
    unread = sum(profile.answers[cell] for cell, value in zip(cells, values, strict=True) if value is None)
    if unread > 0.05 * sum(profile.answers.values()) or len(cells) < 3:
        return None
    read = [pair for pair in zip(cells, values, strict=True) if pair[1] is not None]
    shown = next((pair for pair in read if pair[0] != as_name(pair[1])), None)
    if shown is None:
        return "numbers as text"
    return f"{shown[0]!r} as {shown[1]:.15g}"


CURRENCY = r"[$€£¥₹₩₽₺₪₫฿]|[A-Z]{2,4}\.?|Rs\.?|Ksh\.?|%"
UNITS = r"years?( old)?|yrs?|y|años|ans|jahre?|kg|km|m|cm|ha|acres?|hours?|hrs?|h|min(utes)?|days?|rs|/-"
GROUPED = r"\d{1,3}(?:[,'’ \u00a0\u202f]\d{3})+|\d{1,3}(?:,\d{2})*,\d{3}|\d+"
AMOUNT = re.compile(
    rf"\s*(?P<sign>[-+−]?)(?:(?:{CURRENCY})\s*)?(?P<number>[-+−]?(?:{GROUPED})(?:\.\d+)?)"
    rf"\s*(?:{CURRENCY}|(?i:{UNITS}))?\s*"
)


def amount_of(cell: str) -> float | None:
    """Return the number in a cell with its unit: 4199 of "KES 4,199", 12 of "12 years"."""
    match = AMOUNT.fullmatch(cell)
    if match is None:
        return None
    if match["sign"] and match["number"][0] in "-+−":
        return None
    number = re.sub(r"[,'’ \u00a0\u202f]", "", match["sign"] + match["number"])
    return float(number.replace("−", "-"))


def number_of(level: str) -> float | None:
    """Return the number that a level carries: 4 of "4 - agree" and of "agree (4)"; a plain number is itself."""
    for pattern in (re.compile(r"\s*(-?\d+(?:\.0)?)\s*"), NUMBERED, LABELLED):
        match = pattern.fullmatch(level)
        if match is not None:
            return float(match[1])
    return None


def split_of(profile: Profile) -> str:
    """Return what separates several choices in a cell, if cells often have several of a few choices."""
    for split in SPLITS:
        parts = [parts_of(value, split) for value in profile.answers]
        several = sum(count for pieces, count in zip(parts, profile.answers.values(), strict=True) if len(pieces) > 1)
        choices = pd.Series([piece for pieces in parts for piece in pieces])
        total = sum(len(pieces) * count for pieces, count in zip(parts, profile.answers.values(), strict=True))
        filled = sum(profile.answers.values())
        tokens = split != " " or all(re.fullmatch(r"[a-z0-9_-]+", piece) for piece in choices)
        recurring = (
            choices.nunique() <= min(MOST_CHOICES, 0.9 * len(profile.answers) + 1) and total >= 3 * choices.nunique()
        )
        if (
            several >= 0.15 * filled
            and recurring
            and tokens
            and not any(len({*pieces}) < len(pieces) for pieces in parts)
        ):
            return split
    return ""


def parts_of(cell: str, split: str) -> list[str]:
    """Return the choices in a cell; a comma splits only if no blank follows, because choices may contain commas."""
    pattern = {",": r",(?!\s)", ", ": r",\s+", " ": r"\s+"}.get(split, re.escape(split))
    return [part.strip() for part in re.split(pattern, cell) if part.strip()]


# --------------------------------------------------------------------------------------------- as numbers


Texts = Sequence[str | None]  # the different cells of a column, and None for a gap


def coded_answers(column: pd.Series, plan: ColumnPlan) -> tuple[list[str], Array]:
    """Return the signals of a column as its plan says: names, and a column each, NaN without an answer."""
    missing = {code.casefold() for code in plan.missing}
    if plan.scale == "ordered" and not plan.order and isinstance(column.dtype, pd.CategoricalDtype):
        levels = [as_name(level) for level in column.dtype.categories]
        # The file has an order of its own.
        plan = replace(plan, order=tuple(level for level in levels if level.casefold() not in missing))
    if plan.scale not in ("tick", "category", "multiple") and column.dtype.kind in "iufb" and not plan.order:
        values = column.to_numpy(dtype=float, na_value=np.nan).copy()
        codes = pd.to_numeric(pd.Series(sorted(missing), dtype=object), errors="coerce").dropna()
        values[np.isin(values, codes)] = np.nan
        return [plan.name], values[:, None]
    # Every different cell is read once; the gap is the last of them, and has the place -1.
    places, cells = pd.factorize(column.to_numpy(dtype=object))
    texts: list[str | None] = [*(as_name(cell).strip() for cell in cells), None]
    silent = [text is not None and (not text or text.casefold() in missing) for text in texts]
    answers = [None if gone else text for text, gone in zip(texts, silent, strict=True)]
    if plan.scale in ("category", "multiple"):
        names, table = (_one_hot if plan.scale == "category" else _choices)(answers, plan)
        return names, table[places]
    if plan.scale == "tick":
        ticks = [math.nan if gone else _tick(text) for text, gone in zip(texts, silent, strict=True)]
        return [plan.name], np.array(ticks)[places, None]
    values = {"yes/no": _yes_no, "ordered": _levels}.get(plan.scale, _amounts)(answers, plan)
    unread = [place for place, text in enumerate(answers) if text is not None and np.isnan(values[place])]
    if unread:
        row = int(np.flatnonzero(places == unread[0])[0]) + 1
        raise _unread([str(answers[place]) for place in unread], row, plan)
    return [plan.name], values[places, None]


def _tick(text: str | None) -> float:
    return float(text is not None and text.casefold() not in UNTICK)


def _one_hot(texts: Texts, plan: ColumnPlan) -> tuple[list[str], Array]:
    values = sorted({text for text in texts if text is not None})
    table = np.array([[text == value for value in values] for text in texts], dtype=float)
    table = table.reshape(len(texts), len(values))
    table[[text is None for text in texts]] = np.nan
    return [f"{plan.name}={value}" for value in values], table


def _choices(texts: Texts, plan: ColumnPlan) -> tuple[list[str], Array]:
    """Return a 0/1 signal for each choice; a blank cell is nothing chosen."""
    cells = [[] if text is None else parts_of(text, plan.split) for text in texts]
    choices = sorted({choice for cell in cells for choice in cell})
    table = np.array([[choice in cell for choice in choices] for cell in cells], dtype=float)
    return [f"{plan.name}={choice}" for choice in choices], table.reshape(len(cells), len(choices))


def _yes_no(texts: Texts, plan: ColumnPlan) -> Array:
    no, yes = ({plan.order[0].casefold()}, {plan.order[1].casefold()}) if len(plan.order) == 2 else (NO, YES)
    known = {**dict.fromkeys(no, 0.0), **dict.fromkeys(yes, 1.0)}
    return np.array([known.get((text or "").removesuffix(".0").casefold(), math.nan) for text in texts])


def _levels(texts: Texts, plan: ColumnPlan) -> Array:
    """Return the places of levels in their order, or the numbers that they carry."""
    levels = [text for text in texts if text is not None]
    order: Sequence[str] = plan.order or ordered(levels)
    carried = {level: number_of(level) for level in levels}
    if not plan.order and None not in carried.values():
        return np.array([math.nan if text is None else carried[text] for text in texts], dtype=float)
    places = {level: float(place) for place, level in enumerate(order)}
    folded = {level.casefold(): place for level, place in places.items()}
    return np.array([places.get(text or "", folded.get((text or "").casefold(), math.nan)) for text in texts])


def _amounts(texts: Texts, plan: ColumnPlan) -> Array:
    values: Array = pd.to_numeric(pd.Series(list[Any](texts), dtype=object), errors="coerce").to_numpy(
        dtype=float, copy=True
    )
    for place, text in enumerate(texts):
        if text is not None and np.isnan(values[place]):
            bound = AT_LEAST.fullmatch(text)
            amount = float(bound[1]) if bound else amount_of(text)
            values[place] = math.nan if amount is None else amount
    return values


def _unread(texts: Sequence[str], row: int, plan: ColumnPlan) -> PlanError:
    """Return the error of cells that the scale does not know."""
    return PlanError(
        f"column {plan.name!r} is read as {plan.scale}, and {', '.join(map(repr, texts))[:80]} (row {row}) is not: "
        'list it under missing in the plan, or change the scale to "category"',
        parameter="missing",
        value=tuple(texts),
    )


# ------------------------------------------------------------------------------------------------ known orders

RATE = re.compile(
    r"(less|fewer|more)?.*?\b(once|twice|few|several|couple|every|three|four|\d+)\b.*\b(day|week|weekend|month|year)s?"
)
SELDOM = {"never": 0.0, "hardly ever": 0.1, "rarely": 0.2, "seldom": 0.2}  # how often a year each comes
SELDOM |= {"yearly": 1.0, "annually": 1.0, "monthly": 12.0, "weekly": 52.0, "daily": 365.0}


def ordered(levels: Collection[str]) -> list[str]:
    """Return levels from the lowest to the highest, or none if their order is not known."""
    plain = {level: " ".join(level.casefold().split()) for level in levels}
    ranks = ({word: k for k, words in enumerate(scale) for word in words} for scale in SCALES)
    ways: Iterator[Callable[[str], Any]] = itertools.chain((rank.get for rank in ranks), (_rate, _first_number))
    for way in ways:
        keys = {level: way(plain[level]) for level in levels}
        if None not in keys.values() and len({*keys.values()}) == len(keys):
            return sorted(levels, key=keys.__getitem__)
    return []


def _rate(level: str) -> float | None:
    """Return how often a year a level means: "once a month" is 12, "less than once a month" a little below."""
    if level in SELDOM or not (found := RATE.fullmatch(level)):
        return SELDOM.get(level)
    words = {"once": 1, "every": 1, "twice": 2, "couple": 2, "three": 3, "few": 3, "several": 3.5, "four": 4}
    a_year = {"day": 365, "week": 52, "weekend": 52, "month": 12, "year": 1}[found[3]]
    return float(words.get(found[2]) or found[2]) * a_year * {"less": 0.9, "fewer": 0.9, "more": 1.1}.get(found[1], 1.0)


def _first_number(level: str) -> tuple[float, int] | None:
    """Return the first number in a level such as 18-25, with "under 18" below it and "over 65" above."""
    found = re.search(r"\d+(?:\.\d+)?", level.replace(",", ""))
    below = re.match(r"<|under|below|less|up to|at most", level)
    above = re.match(r">|over|above|more", level)
    return (float(found[0]), bool(above) - bool(below)) if found else None

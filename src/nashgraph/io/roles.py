"""Guess the role of each column of a table of people from its name and its values, with the reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from ..plan import ColumnPlan
from ..validation import Array
from .columns import as_name
from .names import is_few, plain_names, words_of
from .people import Register, share_of_people
from .profiles import MAIL, PHONE, UUID, Profile, spoken
from .rows import in_blocks
from .scales import codes_of_block, scale_of
from .shapes import Rows
from .vocabulary import NO, QUANTITIES, UNTICK

TIED = re.compile(
    r"(?:friend|contact|tie|neighbou?r|relative|relation|acquaintance|colleague|co-?worker|peer|classmate|alter|kin|"
    r"connection|confidant|advis[oe]r|follower|nominee|nomination|amie?|freund|amigo)e?s?"
)
HOW_MANY = re.compile(r"\b(?:how many|number|num|count|counts|total|no|nr|n|nb|wieviele|wie viele|combien|cuantos)\b")
KNOWN_PEOPLE = re.compile(r"how many\b.*\b(?:you know|do you have|are your|of your|among your|talk to|visit)\b")
FINER = "where the person lives, said better by other columns"
OTHERS = re.compile(r".*\b(other|others|autre|otro|andere|sonstige)\b.*")  # a choice whose text stands elsewhere


@dataclass(eq=False)
class Guess:
    """Collects the plans of columns; what was decided first stays."""

    profiles: Sequence[Profile]
    plans: dict[str, ColumnPlan] = field(default_factory=dict)

    def decide(self, profile: Profile, role: str, why: str = "", **more: object) -> None:
        """Store how a column is read, unless that is decided."""
        self.plans.setdefault(profile.name, ColumnPlan(profile.name, role, why=why, **more))  # type: ignore[arg-type]

    @property
    def open(self) -> list[Profile]:
        """The columns that nothing is decided about."""
        return [profile for profile in self.profiles if profile.name not in self.plans]


def guessed_columns(profiles: Sequence[Profile], rows: Rows, decided: Sequence[ColumnPlan] = ()) -> list[ColumnPlan]:
    """Return the plan of every column; columns in ``decided`` are taken as they are."""
    guess = Guess(profiles)
    for column in (*rows.columns, *decided):
        guess.plans.setdefault(column.name, column)
    if rows.kind == "waves":
        _same_within_waves(guess)
    for profile in guess.open:
        if not profile.filled:
            guess.decide(profile, "ignore", "empty")
    _places(guess, rows)
    _choices(guess)
    for profile in guess.open:
        if profile.name in rows.aside:
            guess.decide(profile, "ignore", rows.aside[profile.name])
    _matrix_beside(guess)
    _weights_and_groups(guess, rows)
    _names_of_people(guess, rows)
    _counts_of_ties(guess)
    _private(guess)
    for block in in_blocks(profiles):
        _answers(guess, [profile for profile in block if profile.name not in guess.plans])
    _totals(guess)
    return _with_shared_codes([guess.plans[profile.name] for profile in profiles], profiles)


def _same_within_waves(guess: Guess) -> None:
    """Leave out columns that repeat the wave, such as the year of a round."""
    wave = next(profile for profile in guess.profiles if guess.plans.get(profile.name, _NO).role == "wave")
    for profile in guess.open:
        if profile.distinct > 1 and profile.column.groupby(wave.column, observed=True).nunique().max() <= 1:
            guess.decide(profile, "ignore", f"the same for everybody in a {wave.name!r}")


def _places(guess: Guess, rows: Rows) -> None:
    """Find where people live: latitude and longitude, a point in one cell, numbers of houses."""
    numeric = [profile for profile in guess.open if profile.numbers is not None]
    pairs = {role: [profile for profile in numeric if profile.named(role)] for role in ("latitude", "longitude")}
    one_each = len(pairs["latitude"]) == len(pairs["longitude"]) == 1
    if one_each and any(profile.distinct > 1 for (profile,) in pairs.values()):
        for role, (profile,) in pairs.items():
            guess.decide(profile, "place", role, scale="number")
    placed = any(plan.role == "place" for plan in guess.plans.values())
    point = re.compile(r"-?\d+\.\d+[ ,;]+-?\d+\.\d+([ ,;]+-?\d+(\.\d+)?){0,2}")
    for profile in guess.open:
        if profile.like(point) and profile.name not in rows.aside:
            if placed:
                guess.decide(profile, "ignore", "latitude and longitude have columns of their own")
            else:
                guess.decide(profile, "place", "latitude and longitude in one cell")
        elif profile.tool == FINER:
            guess.decide(profile, "ignore", FINER)
        elif profile.named("place") and profile.numbers is not None and profile.distinct > 1:
            guess.decide(profile, "place", "by its name", scale="number")


def _choices(guess: Guess) -> None:
    """Read a question with several choices once: by its 0/1 columns if the tool wrote them, else by its cells."""
    by_name = {profile.name: profile for profile in guess.profiles}
    for profile in guess.open:
        parent, mark, _ = profile.name.rpartition("/")
        redcap = re.fullmatch(r"(.+?)___(\w+)", profile.name)
        if redcap is not None:
            question = redcap[1]
        elif mark and parent in by_name and profile.distinct <= 2:
            question = parent
        else:
            continue
        if question in by_name:
            guess.decide(by_name[question], "ignore", "its choices have columns of their own")
        if profile.distinct < 2:
            guess.decide(profile, "ignore", "the same for everybody")
        elif redcap is not None and re.fullmatch(r"_?[789]{2,}", redcap[2]):
            guess.decide(profile, "ignore", "the choice of no answer")  # REDCap writes -99 as _99
        else:
            guess.decide(profile, "answer", f"a choice of {question!r}", scale="yes/no")
    for profile in guess.open:
        few = profile.filled < 0.5 * profile.rows
        if few and profile.text and OTHERS.fullmatch(spoken(profile.name)) and not is_few(profile.column):
            guess.decide(profile, "ignore", "the text of another choice")


def _matrix_beside(guess: Guess) -> None:
    """Find a matrix of ties in a table of answers. It has as many columns as rows, and an empty diagonal."""
    n = guess.profiles[0].rows if guess.profiles else 0
    people = next((plan.name for plan in guess.plans.values() if plan.role == "id"), None)
    if n < 5 or people is None:
        return
    ids = plain_names([as_name(value) for value in next(p for p in guess.profiles if p.name == people).column])
    blocks = [block for block in in_blocks(guess.open) if len(block) == n]
    blocks += [[profile for profile in guess.open if profile.name in {*ids}]]
    for block in blocks:
        if len(block) != n or any(profile.numbers is None for profile in block):
            continue
        cells = np.nan_to_num(np.column_stack([profile.numbers for profile in block if profile.numbers is not None]))
        ends = [re.sub(r"^.*?(\d+)$", r"\1", profile.name) for profile in block]
        aligned = {*ends} == {*ids} or ends == [str(k + 1) for k in range(n)] or [p.name for p in block] == ids
        if aligned and not np.diag(cells).any() and np.unique(cells).size <= 12:
            for profile in block:
                guess.decide(profile, "tie", "a matrix of ties: as many columns as people, empty on the diagonal")
            return


def _weights_and_groups(guess: Guess, rows: Rows) -> None:
    """Find sampling weights, and villages, clusters and waves."""
    design = any(profile.named("group") or "sampling" in rows.aside.get(profile.name, "") for profile in guess.profiles)
    for profile in guess.open:
        if (profile.named("weight") or "weight" in spoken(profile.label).split()) and profile.numbers is not None:
            numbers = profile.numbers[np.isfinite(profile.numbers)]
            plainly = (
                profile.spoken in PLAIN_WEIGHTS or "sampling" in spoken(profile.label) or "sampling" in profile.spoken
            )
            about_one = 0.7 < numbers.mean() < 1.4 and bool((numbers % 1).any())
            if (numbers > 0).all() and (plainly or about_one):
                sure = plainly or design
                if sure:
                    why = "a sampling weight"
                else:
                    why = "a sampling weight, as its mean is about 1; or an answer?"
                guess.decide(profile, "weight", why, unsure=not sure)
        elif profile.named("group") and 1 < profile.distinct <= profile.rows / 2:
            guess.decide(profile, "group", "by its name")
        elif profile.named("wave") and profile.spoken in ("wave", "round", "welle", "vague", "ola", "ronda"):
            guess.decide(profile, "wave", "by its name")


PLAIN_WEIGHTS = ("wt", "wgt", "pweight", "p weight", "hv005", "v005", "hhweight", "hh weight", "fw", "final weight")


def _names_of_people(guess: Guess, rows: Rows) -> None:
    """Find columns with names of other people of the table, one or several in a cell, however spelt."""
    ids = [profile for profile in guess.profiles if guess.plans.get(profile.name, _NO).role == "id"]
    labels = [profile for profile in guess.profiles if guess.plans.get(profile.name, _NO).role == "label"]
    if len(ids) != 1 or rows.kind not in ("people", "waves"):
        return
    people = plain_names(["" if pd.isna(value) else as_name(value) for value in ids[0].column])
    texts = [["" if pd.isna(value) else as_name(value) for value in label.column] for label in labels]
    register = Register(people, texts)
    numbered = all(name.isdecimal() for name in people)
    for columns in in_blocks(guess.open):
        block = [profile for profile in columns if _may_hold_names(profile)]
        if not block:
            continue
        asked = words_of(f"{block[0].name} {block[0].label}")
        called = any(TIED.fullmatch(word) for word in asked) and asked != ["alter"]  # German for age
        whole = all(profile.whole is not None for profile in block)
        if whole and numbered:
            likely = _ids_of_others(block, people, called)
        elif whole or sum(profile.filled for profile in block) < 3:
            continue
        else:
            frame = pd.DataFrame({profile.name: profile.column for profile in block})
            share, count = share_of_people(frame, register)
            likely = share >= (0.2 if called else 0.5) and count >= 3
        if likely:
            for profile in block:
                guess.decide(profile, "names", "it names other people of the table")
        elif called and all(profile.text and _looks_named(profile) for profile in block):
            for profile in block:
                guess.decide(profile, "names", "names, of nobody in the table", unsure=True)


_NO = ColumnPlan("", "ignore")


def _may_hold_names(profile: Profile) -> bool:
    return (profile.text or profile.whole is not None) and not profile.is_date and profile.distinct > 2


def _looks_named(profile: Profile) -> bool:
    """Tell whether values look like names: capitals, nearly all different, no sentences."""
    texts = list(profile.answers)
    capital = sum(text[:1].isupper() and len(text.split()) <= 12 for text in texts)
    return profile.distinct > 0.5 * profile.filled and capital >= 0.9 * len(texts)


def _ids_of_others(block: Sequence[Profile], people: Sequence[str], called: bool) -> bool:
    """Tell whether whole numbers are ids of others: many different ones, never the row's own, hardly one twice."""
    known = {*people}
    cells = np.column_stack([profile.column.to_numpy(dtype=float, na_value=np.nan) for profile in block])
    filled = np.isfinite(cells)
    own = np.array([float(name) for name in people])
    values = cells[filled]
    if np.mean([as_name(value) in known for value in values.tolist()]) < 0.9:
        return False
    itself = ((cells == own[:, None]) & filled).sum()
    twice = sum(int(row.sum()) - len({*line[row].tolist()}) for line, row in zip(cells, filled, strict=True))
    apart = itself <= 0.01 * filled.sum() and twice <= (0.1 if called else 0.01) * filled.sum()
    many = len({*values.tolist()}) >= min(max(10, len(known) // 5), max(3, len(known) // 2))
    return bool(apart and many and (called or len(block) > 1))


def _counts_of_ties(guess: Guess) -> None:
    """Find how many ties people say they have, in all and of a kind, and the trait that each count is about."""
    asked: list[Profile] = []
    binary = [profile for profile in guess.open if profile.distinct == 2 and _is_flag(profile)]
    for profile in guess.open:
        question = f"{profile.name} {profile.label}"
        words = " ".join(words_of(question))
        about_ties = HOW_MANY.search(words) and any(map(TIED.fullmatch, words.split()))
        degree = re.fullmatch(r"(?:in|out)? ?degree|network size", words.strip())
        known = KNOWN_PEOPLE.search(words) or profile.named("n_ties")
        if (about_ties or degree or known or _named_after(profile, binary)) and _counts(profile):
            asked.append(profile)
    if not asked:
        return
    flags = [profile for profile in guess.open if profile not in asked and _is_flag(profile)]
    content = {profile.name: _content(profile, asked) for profile in asked}
    traits = {flag.name: _content(flag, flags) for flag in flags}
    counted: dict[str, str] = {}
    for profile in asked:
        shared = [(len(content[profile.name] & words), name) for name, words in traits.items()]
        best = max(shared, default=(0, ""))
        if best[0]:
            counted[profile.name] = best[1]
    rest = [profile for profile in asked if profile.name not in counted]
    total = min(rest, key=lambda profile: (not _asks_for_all(profile), len(words_of(profile.name))), default=None)
    for profile in asked:
        if profile.name in counted:
            guess.decide(
                profile, "count", f"counts ties to those with {counted[profile.name]!r}", of=counted[profile.name]
            )
        elif profile is total:
            guess.decide(profile, "n_ties", "its name asks for a number of ties")
        else:
            guess.decide(profile, "ignore", "counts ties of a kind, and no column says who is of it", unsure=True)
    for flag in flags:
        if flag.name in counted.values():
            guess.decide(flag, "trait", "others count it among their ties", scale="yes/no")


def _named_after(profile: Profile, flags: Sequence[Profile]) -> bool:
    """Tell whether a name is a word for ties and the name of a trait: friends_weaver, with a column weaver."""
    words = words_of(profile.name, digits=True)
    others = [word.rstrip("s") for word in words if not TIED.fullmatch(word)]
    if not others or len(others) == len(words):
        return False
    return any(others == [word.rstrip("s") for word in words_of(flag.name, digits=True)] for flag in flags)


def _asks_for_all(profile: Profile) -> bool:
    words = {*words_of(profile.name)}
    return bool(words & {"people", "persons", "total", "friends", "contacts", "ties", "degree", "altogether"})


def _counts(profile: Profile) -> bool:
    """Tell whether cells are whole numbers from 0 up, "4+" and words for no answer among them."""
    plain = [re.sub(r"\s*(\+|or more|and more)$", "", value) for value in profile.answers]
    whole = [text for text in plain if re.fullmatch(r"\d+(\.0)?", text)]
    return len(whole) >= 0.9 * max(1, len(plain)) and profile.distinct > 2


def _is_flag(profile: Profile) -> bool:
    plan = scale_of(profile)
    return plan.scale in ("yes/no", "tick") and profile.distinct >= 2


def _content(profile: Profile, block: Sequence[Profile]) -> set[str]:
    """Return the words of a name that the others of its kind do not all have, without an s at the end."""
    words = [{word.rstrip("s") for word in words_of(other.name, digits=True)} for other in block]
    if len(words) > 1:
        common = set.intersection(*words)
    else:
        common = {"do", "you", "know", "how", "many", "are", "a", "have", "n"}
    own = {word.rstrip("s") for word in words_of(profile.name, digits=True)}
    return {word for word in own - common if len(word) > 1 and not TIED.fullmatch(word)}


def _private(guess: Guess) -> None:
    """Leave out what only identifies: e-mail addresses, telephone numbers, other numbers of the form, dates."""
    for profile in guess.open:
        if profile.is_date:
            guess.decide(profile, "ignore", "dates or times")
        elif profile.like(MAIL):
            guess.decide(profile, "ignore", "e-mail addresses")
        elif profile.like(UUID) or profile.like(PHONE):
            guess.decide(profile, "ignore", "numbers that identify and measure nothing")
        elif not ({*words_of(profile.name)} & QUANTITIES) and profile.why_code:
            if is_few(profile.column):
                guess.decide(profile, "answer", f"codes, for {profile.why_code}", scale="category")
            else:
                guess.decide(profile, "ignore", profile.why_code)


def _answers(guess: Guess, block: Sequence[Profile]) -> None:
    """Read what is left as answers, each on its scale; questions of one block share their order and their codes."""
    pool = codes_of_block(block)
    plans = [scale_of(profile, len(block), pool) for profile in block]
    orders = [plan.order for plan in plans if plan.scale == "ordered" and plan.order]
    longest = max(orders, key=len, default=())
    for profile, alone in zip(block, plans, strict=True):
        shares = alone.scale == "ordered" and alone.order and {*alone.order} <= {*longest}
        plan = replace(alone, order=longest) if shares else alone
        same = profile.n_answers == 1 and plan.scale not in ("tick", "multiple")
        all_ticked = plan.scale == "tick" and profile.filled == profile.rows and profile.distinct == 1
        if plan.role == "answer" and (same or all_ticked):
            plan = ColumnPlan(profile.name, "ignore", why="the same for everybody")
        guess.plans.setdefault(profile.name, plan)


def _totals(guess: Guess) -> None:
    """Leave out a column that is the sum of others."""
    ticks = [
        p
        for p in guess.profiles
        if guess.plans[p.name].role == "answer" and guess.plans[p.name].scale in ("tick", "yes/no")
    ]
    for profile in guess.profiles:
        plan = guess.plans[profile.name]
        if plan.role != "answer" or not profile.named("total") or profile.numbers is None:
            continue
        if ticks:
            marks = np.sum([_marks(tick) for tick in ticks], axis=0)
        else:
            marks = None
        others = [
            p.numbers
            for p in guess.profiles
            if p is not profile and p.numbers is not None and guess.plans[p.name].role == "answer"
        ]
        summed = np.nansum(others, axis=0) if others else None
        for total in (marks, summed):
            if total is not None and (np.nan_to_num(profile.numbers) == total).mean() > 0.9:
                guess.plans[profile.name] = replace(plan, role="ignore", scale="", why="the sum of other columns")


def _marks(profile: Profile) -> Array:
    texts = profile.column.map(lambda cell: as_name(cell).strip().casefold(), na_action="ignore")
    return (texts.notna() & ~texts.isin(UNTICK | NO)).to_numpy(dtype=float)


def _with_shared_codes(plans: Sequence[ColumnPlan], profiles: Sequence[Profile]) -> list[ColumnPlan]:
    """Apply a code for no answer found in one column to every column in which it stands out."""
    codes = {code for plan in plans for code in plan.missing if re.fullmatch(r"-?\d{2,}", code)}
    if not codes:
        return list(plans)
    shared: list[ColumnPlan] = []
    for plan, profile in zip(plans, profiles, strict=True):
        used = plan.role in ("answer", "count", "n_ties", "trait") and plan.scale != "category"
        if used and profile.numbers is not None:
            outside = _codes_outside(profile, codes, plan.missing)
        else:
            outside = []
        shared.append(replace(plan, missing=(*plan.missing, *outside)) if outside else plan)
    return shared


def _codes_outside(profile: Profile, codes: set[str], known: Sequence[str]) -> list[str]:
    """Return which codes of the table stand below or above all answers of a column."""
    answers = [float(value) for value in profile.answers if value not in codes]
    if not answers:
        return []
    low = min(answers)
    high = max(answers)
    shown = [code for code in codes if code in profile.counts and code not in known]
    return sorted(code for code in shown if not low <= float(code) <= high)

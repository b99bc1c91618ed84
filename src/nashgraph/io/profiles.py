"""The name of a column in words, its values and their counts, computed once for all rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from ..validation import Array
from .columns import as_name, is_text, whole_numbers
from .names import MANY_ROWS, SMALL, why_code, words_of
from .vocabulary import AMBIGUOUS, ANY_TOOL, CODE_WORDS, METADATA, NAMED_ROLES, NO_ANSWER, NODE_WORDS

EGO_IDS = ("egoid", "networkcanvasegouuid")  # of egor and Network Canvas
BESIDE_NAMES = {"no", "nr", "num", "number", "name", "names", "label", "of", "the", "what", "is", "please", "enter"}

SEVERAL = 3  # columns of tools that it takes until words such as "status" count as the tool's
DATES = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[/.-](\d{1,2}|[A-Za-z]{3})[/.-]\d{2,4}( .*)?|\d{1,2}:\d{2}(:\d{2})?.*"
    r"|\d{1,2}\.? ?[A-Za-zäé]{3,9}\.? \d{2,4}"
)
MAIL = re.compile(r"[^@\s]+@[^@\s]+\.\w+")
UUID = re.compile(r"(uuid:)?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{8,12}", re.IGNORECASE)
PHONE = re.compile(r"\+\d[\d ()-]{7,}|0\d{8,11}")


def spoken(name: str) -> str:
    """Return a name in small words with single blanks: StartDate, start_date and "Start date" are one."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join(re.findall(r"[^\W_]+|#", apart)).lower()


def is_ego(profile: Profile) -> bool:
    """Tell whether a column has the ids of those who named others, as egor and Network Canvas call it."""
    return spoken(profile.name).replace(" ", "") in EGO_IDS


def last_part(name: str) -> str:
    """Return a question's own name, without the groups that Kobo and ODK write before it."""
    part = name.rpartition("/")[2]
    if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+", part):
        part = part.rpartition(".")[2]
    return part


class Profile:
    """One column of a table: its name, and its values looked at once.

    Numbers come as an array, so that tables of thousands of columns need no pandas column for each.
    """

    def __init__(self, table: pd.DataFrame, place: int, label: str = "", values: Array | None = None) -> None:
        self.table = table
        self.place = place
        self.name = str(table.columns[place])
        self.label = label  # the question, if the file has it as well as the name
        self.rows = len(table)
        self.values = values

    @cached_property
    def column(self) -> pd.Series:
        """The column itself."""
        return self.table.iloc[:, self.place]

    @cached_property
    def spoken(self) -> str:
        """The name in small words."""
        return spoken(last_part(self.name))

    @cached_property
    def text(self) -> bool:
        """Whether the column may contain words."""
        if self.values is not None:
            return False
        return is_text(self.column) or isinstance(self.column.dtype, pd.CategoricalDtype)

    @cached_property
    def cells(self) -> tuple[Array, Array]:
        """The place of each cell among the different cells (-1: a gap), and these."""
        places, cells = pd.factorize(self.column.to_numpy(dtype=object))
        return places, cells

    @cached_property
    def filled(self) -> int:
        """How many cells are not empty."""
        if self.values is not None:
            return int(self.rows - np.isnan(self.values).sum())
        return int((self.cells[0] >= 0).sum())

    @cached_property
    def seen(self) -> tuple[Array, Array]:
        """The different numbers, and how often each occurs."""
        values = self.numbers
        if values is None:
            values = np.empty(0)
        numbers, counts = np.unique(values[np.isfinite(values)], return_counts=True)
        return numbers, counts

    @cached_property
    def counts(self) -> dict[str, int]:
        """The different values as text, with how often each occurs."""
        if self.values is not None:
            numbers, counts = self.seen
            return {as_name(value): count for value, count in zip(numbers.tolist(), counts.tolist(), strict=True)}
        places, cells = self.cells
        times = np.bincount(places[places >= 0], minlength=len(cells)).tolist()
        by_text: dict[str, int] = {}
        for cell, count in zip(cells, times, strict=True):
            text = as_name(cell).strip()
            by_text[text] = by_text.get(text, 0) + count
        return by_text

    @cached_property
    def answers(self) -> dict[str, int]:
        """The values without words for no answer."""
        return {value: count for value, count in self.counts.items() if value.casefold() not in NO_ANSWER}

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return len(self.counts) if self.values is None else len(self.seen[0])

    @cached_property
    def n_answers(self) -> int:
        """How many different answers there are, words for no answer not counted."""
        return len(self.answers) if self.values is None else self.distinct

    @cached_property
    def unique(self) -> bool:
        """Whether every row has a value of its own."""
        return self.filled == self.rows == self.distinct

    @cached_property
    def whole(self) -> Array | None:
        """The values as whole numbers, if they are that."""
        if self.values is None:
            return whole_numbers(self.column.dropna())
        if not self.filled or (self.seen[0] % 1).any() or np.isinf(self.values).any():
            return None
        return self.values[~np.isnan(self.values)]

    @cached_property
    def numbers(self) -> Array | None:
        """The values as numbers if all are plainly that, gaps as NaN."""
        if self.values is not None:
            return self.values
        if not self.text or isinstance(self.column.dtype, pd.CategoricalDtype):
            return None
        places, cells = self.cells
        silent = [isinstance(cell, str) and cell.strip().casefold() in NO_ANSWER for cell in cells]
        if any(not gone and not any(map(str.isdigit, str(cell))) for cell, gone in zip(cells, silent, strict=True)):
            return None  # words: the common case, told at once
        numbers = pd.to_numeric(
            pd.Series(cells, dtype=object).mask(np.array(silent, dtype=bool)), errors="coerce"
        ).to_numpy(dtype=float)
        if (np.isnan(numbers) != silent).any() or all(silent):
            return None
        return np.append(numbers, np.nan)[places]

    @cached_property
    def why_code(self) -> str:
        """Why the values name things and measure nothing; nothing if they measure."""
        # Most columns of numbers can be told at once, without pandas.
        if self.values is not None and (self.whole is None or self.distinct <= 2):
            return ""
        if self.values is not None and not self.unique and not {*words_of(self.name)} & CODE_WORDS:
            return ""
        if self.text and self.numbers is None and not all(map(str.isdecimal, self.counts)):
            return ""
        return why_code(self.column)

    def like(self, pattern: re.Pattern[str], share: float = 0.9) -> bool:
        """Tell whether nearly all values match a pattern."""
        if not self.text or not self.counts:
            return False
        matching = sum(count for value, count in self.counts.items() if pattern.fullmatch(value))
        return matching >= share * self.filled

    @cached_property
    def is_date(self) -> bool:
        """Whether the values are dates or times."""
        if self.values is not None:
            return False
        return pd.api.types.is_datetime64_any_dtype(self.column.dtype) or self.like(DATES)

    @cached_property
    def tool(self) -> str:
        """Why the column is something that a tool or an interviewer wrote, by its name; nothing if it is not."""
        whole = spoken(self.name)
        if self.name.startswith("_"):
            known = True
        else:
            known = bool(ANY_TOOL.fullmatch(self.spoken) or ANY_TOOL.fullmatch(whole))
        for reason, pattern in METADATA.items() if known else ():
            if pattern.fullmatch(self.spoken) or pattern.fullmatch(whole):
                return reason
        if self.name.startswith("_"):
            return "about the form or the tool"
        return ""

    def named(self, role: str) -> bool:
        """Tell whether the name is one that columns of a role have."""
        pattern = NAMED_ROLES[role]
        by_label = bool(self.label) and pattern.fullmatch(spoken(self.label))
        return bool(pattern.fullmatch(self.spoken) or by_label)


def profiles_of(table: pd.DataFrame, labels: Mapping[str, str] | None = None) -> list[Profile]:
    """Return the columns of a table, each with its question if ``labels`` has it."""
    labels = labels or {}
    # NumPy's own numbers; pandas' nullable ones are rare, and are read column by column.
    numeric = [place for place, dtype in enumerate(table.dtypes) if isinstance(dtype, np.dtype) and dtype.kind in "iuf"]
    block = np.asfortranarray(table.iloc[:, numeric].to_numpy(dtype=float))
    values = {place: block[:, number] for number, place in enumerate(numeric)}
    names = list(map(str, table.columns))
    return [Profile(table, place, labels.get(name, ""), values.get(place)) for place, name in enumerate(names)]


def metadata(profiles: list[Profile]) -> dict[str, str]:
    """Return the columns that tools added to the answers, each with the reason.

    A word such as "status" counts only in a table with several other columns of tools, and a column called "No." only
    if its numbers are all different.
    """
    reasons = {profile.name: profile.tool for profile in profiles if profile.tool}
    first = profiles[0] if profiles else None
    if (
        first is not None
        and re.fullmatch(r"(?:Unnamed: \d+)?", first.name)
        and first.whole is not None
        and first.unique
    ):
        reasons[first.name] = "a number in the list"  # row numbers that a program saved with the table
    sure = [name for name in reasons if spoken(last_part(name)) not in AMBIGUOUS]
    by_name = {profile.name: profile for profile in profiles}
    nested = {name.rpartition("/")[0] for name in by_name}
    for name, reason in list(reasons.items()):
        profile = by_name[name]
        counter = reason == "a number in the list" and not (profile.whole is not None and profile.unique)
        unclear = profile.spoken in AMBIGUOUS and not name.startswith("_") and len(sure) < SEVERAL
        # "assets/phone" is a choice of the question assets, and a phone of 0 or 1 is one that people own.
        choice = "/" in name and name.rpartition("/")[0] in by_name and name.rpartition("/")[0] in nested
        born = reason == "when the person was born" and not profile.is_date
        owned = reason == "how to reach the person" and profile.distinct <= 2 < profile.filled
        if counter or unclear or choice or owned or born:
            del reasons[name]
    return reasons


# ------------------------------------------------------------------------------------------- who is it


def person_score(profile: Profile, aside: dict[str, str], place: int) -> float:
    """Return how much a column looks like one that identifies people; 0 if it does not."""
    if is_ego(profile):
        return 7.0
    reason = aside.get(profile.name, "")
    if reason:
        usable = reason in ("the tool's number of the form", "how to reach the person", "a number in the list")
        return 1.0 if usable or profile.spoken in ("id", "uuid") else 0.0
    if profile.is_date or (profile.values is not None and profile.whole is None):
        return 0.0
    score = _score_of_name(profile)
    if score == 0.0 and profile.unique:
        short = profile.text and max(map(len, profile.counts), default=0) <= 40
        if profile.why_code:
            score = 3.0
        elif place == 0 and _is_first_id(profile):
            score = 2.5
        elif short and looks_like_names(profile):
            score = 2.0
    return score


def _score_of_name(profile: Profile) -> float:
    """Return how much a column's name says that it identifies people; a plain id more than a name or a title."""
    if profile.spoken in ("id", "name", "node"):
        return 6.5 if profile.spoken == "id" else 6.0
    words = {*words_of(spoken(profile.name.rpartition("/")[2]))}
    identifying = NODE_WORDS | CODE_WORDS | {"name", "names"}
    if words & identifying and words <= identifying | BESIDE_NAMES:
        return 4.5 if profile.named("title") else 5.0
    return 4.0 if profile.named("title") else 0.0


def _is_first_id(profile: Profile) -> bool:
    """Tell whether a first column, all different, names the rows: words, numbers without a hole, or rising."""
    values = profile.whole
    if values is None:
        return profile.text
    if len(values) < MANY_ROWS:
        return False
    same_width = len(str(int(values.min()))) == len(str(int(values.max())))
    rising = values.min() >= SMALL and bool((np.diff(values) > 0).all()) and same_width
    return rising or bool(np.ptp(values) == len(values) - 1)


def looks_like_names(profile: Profile) -> bool:
    """Tell whether values look like names of people or codes: one to four words, each with a capital or a digit."""
    part = re.compile(r"[^\W\d_][\w.'’-]*( [^\W_][\w.'’-]*){0,4}|\w*\d[\w-]*")
    texts = list(profile.counts)[:200]
    return sum(bool(part.fullmatch(text)) for text in texts) >= 0.9 * len(texts)


def persons(profiles: Sequence[Profile], aside: dict[str, str]) -> list[tuple[float, Profile]]:
    """Return the columns that may identify people, the likeliest first."""
    scored = [(person_score(profile, aside, place), profile) for place, profile in enumerate(profiles)]
    likely = [(score, profile) for score, profile in scored if score > 0 and profile.filled]
    return sorted(likely, key=lambda pair: -pair[0])

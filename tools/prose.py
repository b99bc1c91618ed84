"""Count habits of stilted prose in texts for users and for developers: ``python tools/prose.py``.

Users read pages, help texts, messages, the report page and the docstrings of src. Developers read comments, and the
docstrings of tools, benchmarks and tests. Fails when either has more than one of thirteen habits in a thousand words,
when the texts for users have more stumbling blocks (second table) in a thousand words than allowed, when the sentences
of the docs have more than 18 words on average, when README.md has more than 450 words, or when the docs have more than
20,000 without code and tables. ``--list`` prints all places.
"""

import ast
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Left alone, because they are good English: "there is no tie" (only "X is no Y" is stilted), "who is tied to whom",
# questions, and titles: a term of a definition list, or a bold lead such as "What is promised".
HABITS = {
    "anew": r"\banew\b",
    "besides": r"\bbesides\b",
    "beside": r"\bbeside\b",
    ", too": r", too\b",
    "is no": r"(?<![Tt]here )\b(?:is|are|was|were) no\b(?! (?:longer|more|less|better|worse|fewer|smaller|larger))",
    "fronted Of": r"(?:^|[.:;]\s+)Of (?:a|an|the|each|all|every|these|those|what)\b",
    "whom": r"(?<!\bto )\bwhom\b",
    "but for": r"\bbut for\b",
    "at the most": r"\bat the (?:most|least)\b",
    "goes by": r"\bgo(?:es)? by\b",
    "says so": r"\b(?:says?|said) so\b",
    "who/what clause": r"(?:^|[.:;]\s+)(?:Who|What) \w+s? (?!.*\?|.*\n: )",
    "for, as because": r", for (?:it|they|he|she|there|nothing) ",
}
# What made native readers stumble most often. The noun is better than what, where or those; "if" is for conditions and
# "where" for places; plain verbs are better than take, hold, say, tell; and one word is for one thing.
STUMBLES = {
    "headless what": r"\b(?:of|from|for|by|with|about|than|to|on|in) what\b",
    "those who/that": r"\b(?:those|these) (?:who|that|which|of|from|in|with|above|below)\b",
    "where for if": r"\bwhere (?:there|it|they|no|nobody|nothing|both|all|this|that|not|needed|possible|given|known)\b",
    "takes, holds": r"\b(?:takes?|held|holds?) (?!up to|part|place|at most|about|less|more|longer|\d|seconds|minutes)",
    "says, tells": r"\b(?:it|page|file|report|note|command|table|which|that|line|column) (?:says?|tells?|told|said)\b",
    "have said": r"\b(?:is|are|was|were) (?:said|told|given|asked)\b",
    "pronoun without noun": r"(?:^|[.:;]\s+)(?:One|Some|Others|Both|Neither|None|Either) (?!of\b)\w+",
    "colon, then a fragment": r": (?:and|or|but|so|as|with|without|not|nothing|nobody|no)\b",
    "resample": r"\bresampl\w+",
    "settled, steady": r"\b(?:un)?settled\b|\bsteady\b",
    "however, whoever": r"\b(?:however|whoever|whatever|whichever|wherever) (?:one|it|they|is|are|the|that|there)\b",
    "yardstick, share of nothing": r"\byardstick\b|\bin the same way\b",
}
MOST_HABITS, MOST_STUMBLES, MOST_WORDS, MOST_README, MOST_DOCS = 1.0, 7.8, 18.0, 450, 20_000


def docstrings(path: Path) -> str:
    """Return the docstrings of a file, without examples."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    found = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    return "\n\n".join(re.sub(r"(?ms)^\s*(?:>>>|\.\.\.).*?$", "", text).split("Examples\n---")[0] for text in found)


def comments(path: Path) -> str:
    """Return the comments of a file, without those that only tools read."""
    with tokenize.open(path) as file:
        found = [each.string for each in tokenize.generate_tokens(file.readline) if each.type == tokenize.COMMENT]
    return "\n".join(text.lstrip("# ") for text in found if not re.match(r"#\s*(noqa|type:|pragma|fmt:|%%)", text))


def help_texts(path: Path) -> str:
    """Return the help texts of a file of the command line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    given = (keyword.value for call in calls for keyword in call.keywords if keyword.arg in ("help", "show_default"))
    return "\n".join(
        node.value + "." for node in given if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def messages(path: Path) -> str:
    """Return the texts of a file of four words or more that are no docstrings and no help texts: its messages."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    others = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, kinds) and ast.get_docstring(node)}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            others |= {id(keyword.value) for keyword in call.keywords if keyword.arg in ("help", "show_default")}
    texts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            others |= {id(part) for part in node.values}
            texts.append("".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in others:
            texts.append(node.value)
    return "\n\n".join(text for text in texts if len(re.findall(r"[a-z]{2,} ", text)) >= 3)


def page_text(path: Path) -> str:
    """Return the words of a template of HTML, or the texts of four words or more of a script."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text = re.sub(r"(?s)<(script|style).*?</\1>|\{#.*?#\}|\{%.*?%\}", " ", text)
        # Of an expression the texts in quotes are read: {{ "many words" if settled else "other words" }}.
        text = re.sub(r"\{\{(.*?)\}\}", lambda each: " / ".join(re.findall(r'"([^"]* [^"]*)"', each[1])) or "x", text)
        text = re.sub(r"</(?:p|h\d|li|td|th|figcaption)>", "\n\n", text)
        return re.sub(r"<[^>]*>", "", text)
    quoted = re.findall(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`', text)
    texts = [re.sub(r"\$\{[^}]*\}", "x", one or other) for one, other in quoted]
    return "\n\n".join(words for words in texts if len(re.findall(r"[a-z]{2,} ", words)) >= 3)


def prose(text: str) -> str:
    """Return Markdown without code, tables, addresses and directives."""
    text = re.sub(r"(?ms)^(```|~~~).*?^\1", "", text)
    text = re.sub(r"(?m)^(\||    |:::|\.\. |#).*$", "", text)
    return re.sub(r"`[^`]*`|https?://\S+|\$[^$]*\$", "x", text)


def count(name: str, text: str, patterns: dict[str, str], places: list[str]) -> tuple[int, int]:
    """Return words and habits of a text, and add where the habits are."""
    for habit, pattern in patterns.items():
        for found in re.finditer(pattern, text, re.MULTILINE):
            around = " ".join(text[max(0, found.start() - 40) : found.end() + 40].split())
            places.append(f"{name}: {habit}: …{around}…")
    return len(re.findall(r"\b[A-Za-z][\w'-]*\b", text)), len(places)


def habits(kind: str, texts: dict[str, str], patterns: dict[str, str], most: float) -> float:
    """Print how many habits some texts have, and with ``--list`` where; return how many in a thousand words."""
    words = 0
    places: list[str] = []
    for name, text in texts.items():
        words += count(name, text, patterns, places)[0]
    if "--list" in sys.argv:
        print("\n".join(places))
    rate = 1000 * len(places) / words
    print(f"{kind} in {words:,} words: {len(places)}, {rate:.2f} in 1,000 (at most {most:g})")
    return rate


def sentence_length(texts: list[str]) -> float:
    """Return the mean number of words of the sentences in some texts."""
    joined = re.sub(r"\s*\n(?=\S)", " ", "\n\n".join(texts))
    sentences = [each.split() for each in re.split(r"(?<=[.!?])\s+|\n\n+|(?m:^\s*[-*] )", joined)]
    lengths = [len(words) for words in sentences if len(words) >= 3]
    return sum(lengths) / max(len(lengths), 1)


def main() -> int:
    """Print the figures; return 1 if one is too high."""
    pages = {path: prose(path.read_text(encoding="utf-8")) for path in (ROOT / "docs").rglob("*.md")}
    pages = {path: text for path, text in pages.items() if "_build" not in path.parts and "generated" not in path.parts}
    readme = prose((ROOT / "README.md").read_text(encoding="utf-8"))
    source = sorted((ROOT / "src").rglob("*.py"))
    texts = {"README.md": readme} | {str(path.relative_to(ROOT)): text for path, text in pages.items()}
    texts |= {name: prose((ROOT / name).read_text(encoding="utf-8")) for name in ("CHANGELOG.md", "CONTRIBUTING.md")}
    texts |= {str(path.relative_to(ROOT)): docstrings(path) for path in source}
    texts |= {f"examples/{path.name}": docstrings(path) + comments(path) for path in (ROOT / "examples").glob("*.py")}
    texts |= {f"{path.relative_to(ROOT)} (help)": help_texts(path) for path in source if path.parent.name == "cli"}
    texts |= {f"{path.relative_to(ROOT)} (messages)": messages(path) for path in source}
    pages_of_report = sorted((ROOT / "src/nashgraph/report/assets").glob("*.html")) + sorted(
        (ROOT / "web").glob("*.js")
    )
    texts |= {str(path.relative_to(ROOT)): page_text(path) for path in pages_of_report}
    code = {str(path.relative_to(ROOT)): comments(path) for path in source}
    for path in (path for folder in ("tools", "benchmarks", "tests") for path in sorted((ROOT / folder).rglob("*.py"))):
        code[str(path.relative_to(ROOT))] = docstrings(path) + "\n\n" + comments(path)
    rate = max(
        habits("habits in texts for users", texts, HABITS, MOST_HABITS),
        habits("habits in texts for developers", code, HABITS, MOST_HABITS),
    )
    stumbles = habits("stumbling blocks in texts for users", texts, STUMBLES, MOST_STUMBLES)
    length = sentence_length(list(pages.values()))
    whole = (ROOT / "README.md").read_text(encoding="utf-8")  # with its tables and code
    readme_words = len(re.findall(r"\b[A-Za-z][\w'-]*\b", whole))
    print(f"{length:.1f} words a sentence in docs/ (at most {MOST_WORDS:g})")
    docs_words = sum(len(re.findall(r"\b[A-Za-z][\w'-]*\b", text)) for text in pages.values())
    print(f"README.md: {readme_words} words (at most {MOST_README})")
    print(f"docs/: {docs_words:,} words without code and tables (at most {MOST_DOCS:,})")
    too_long = length > MOST_WORDS or readme_words > MOST_README or docs_words > MOST_DOCS
    return int(rate > MOST_HABITS or stumbles > MOST_STUMBLES or too_long)


if __name__ == "__main__":
    sys.exit(main())

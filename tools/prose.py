"""Count thirteen habits of stilted prose in texts for users and for developers: ``python tools/prose.py``.

Users read pages, help texts and the docstrings of src. Developers read comments, and the docstrings of tools,
benchmarks and tests. Fails when either has more than one habit in a thousand words, when the sentences of the docs have
more than 18 words on average, or when README.md has more than 900 words. ``--list`` prints every place.
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
MOST_HABITS, MOST_WORDS, MOST_README = 1.0, 18.0, 900


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


def prose(text: str) -> str:
    """Return Markdown without code, tables, addresses and directives."""
    text = re.sub(r"(?ms)^(```|~~~).*?^\1", "", text)
    text = re.sub(r"(?m)^(\||    |:::|\.\. |#).*$", "", text)
    return re.sub(r"`[^`]*`|https?://\S+|\$[^$]*\$", "x", text)


def count(name: str, text: str, places: list[str]) -> tuple[int, int]:
    """Return words and habits of a text, and add where the habits are."""
    for habit, pattern in HABITS.items():
        for found in re.finditer(pattern, text, re.MULTILINE):
            around = " ".join(text[max(0, found.start() - 40) : found.end() + 40].split())
            places.append(f"{name}: {habit}: …{around}…")
    return len(re.findall(r"\b[A-Za-z][\w'-]*\b", text)), len(places)


def habits(kind: str, texts: dict[str, str]) -> float:
    """Print how many habits some texts have, and with ``--list`` where; return how many in a thousand words."""
    words, places = 0, list[str]()
    for name, text in texts.items():
        words += count(name, text, places)[0]
    if "--list" in sys.argv:
        print("\n".join(places))
    rate = 1000 * len(places) / words
    print(f"{kind}: {len(places)} habits in {words:,} words, {rate:.2f} in 1,000 (at most {MOST_HABITS:g})")
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
    code = {str(path.relative_to(ROOT)): comments(path) for path in source}
    for path in (path for folder in ("tools", "benchmarks", "tests") for path in sorted((ROOT / folder).rglob("*.py"))):
        code[str(path.relative_to(ROOT))] = docstrings(path) + "\n\n" + comments(path)
    rate = max(habits("texts for users", texts), habits("texts for developers", code))
    length = sentence_length(list(pages.values()))
    whole = (ROOT / "README.md").read_text(encoding="utf-8")  # with its tables and code
    readme_words = len(re.findall(r"\b[A-Za-z][\w'-]*\b", whole))
    print(f"{length:.1f} words a sentence in docs/ (at most {MOST_WORDS:g})")
    print(f"README.md: {readme_words} words (at most {MOST_README})")
    return int(rate > MOST_HABITS or length > MOST_WORDS or readme_words > MOST_README)


if __name__ == "__main__":
    sys.exit(main())

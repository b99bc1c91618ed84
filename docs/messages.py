"""What the library decides, warns of and refuses with a remedy, in Markdown, out of the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parent.parent / "src" / "nashgraph"
# Where a reader finds more: the first folder or file that a message's file begins with.
SECTIONS = {
    "Reading a file": ("io/", "[Your table](tables.md), [missing answers](missing.md)"),
    "Questions about ties": (
        "ties/|estimators/tie_model|tie_survey|tie_tables|survey_plan|matching",
        "[What to ask](what_to_ask.md), [known ties](known.md)",
    ),
    "Peer effects and interventions": (
        "peer_effects/|interventions/|games/|priors/",
        "[Peer effects](peer_effects.md), [interventions](act.md), [the prior](prior.md)",
    ),
    "Signals and methods": ("", "[Choosing a method](choosing.md), [how far to trust a network](sure.md)"),
}
ERRORS = ("InputError", "InputTypeError", "PlanError")
WARNINGS = ("warn", "DataWarning")


class Message(NamedTuple):
    """A message of the source: what it is, its sentence, and what to set."""

    kind: str
    sentence: str
    remedy: str


def messages(text: str) -> Iterator[Message]:
    """Yield the decisions, the warnings, and the errors with a remedy in the text of a module."""
    for call in ast.walk(ast.parse(text)):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        remedy = _remedy(call)
        if name == "Decision" and len(call.args) > 2 and isinstance(call.args[0], ast.Constant):
            sentence = _template(call.args[2])
            yield Message("decision", f"{call.args[0].value}: {sentence}" if sentence else "", remedy)
        elif name in WARNINGS and call.args:
            yield Message("warning", _template(call.args[0]), remedy)
        elif name in ERRORS and call.args and remedy:
            yield Message("error", _template(call.args[0]), remedy)


def message_reference() -> str:
    """Return the tables of all messages by section."""
    rows: dict[str, dict[str, None]] = {section: {} for section in SECTIONS}
    for path in sorted(SOURCE.rglob("*.py")):
        name = str(path.relative_to(SOURCE))
        section = next(title for title, (starts, _) in SECTIONS.items() if name.startswith(tuple(starts.split("|"))))
        for message in messages(path.read_text(encoding="utf-8")):
            # A sentence of values alone, or of fewer than three words, cannot be searched for.
            if len(message.sentence.replace("…", "").split()) >= 3:
                sentence = message.sentence.replace("|", "\\|")
                rows[section][f"| {message.kind} | {sentence} | {message.remedy} |"] = None
    parts = []
    for section, (_, pages) in SECTIONS.items():
        table = "\n".join(["| | sentence | to change it |", "|---|---|---|", *sorted(rows[section])])
        parts.append(f"## {section}\n\nRead: {pages}.\n\n{table}")
    return "\n\n".join(parts) + "\n"


def _template(node: ast.expr) -> str:
    """Return the text of an expression with … for every value; empty if it is not a text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values]
        return "".join(parts)
    return ""


def _remedy(call: ast.Call) -> str:
    """Return what to set, as Python writes it: from a Remedy among the arguments of a call."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    for value in values:
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "Remedy":
            parameter, *setting = value.args
            if isinstance(parameter, ast.Constant):
                literal = bool(setting) and isinstance(setting[0], ast.Constant)
                return f"`{parameter.value}={ast.unparse(setting[0])}`" if literal else f"`{parameter.value}`"
    return ""

"""How raw files are read, compared with what a careful research assistant reads: python -m benchmarks.raw_files.

The files and ``expected.csv`` are in NASHGRAPH_DATA/raw. EXPECTED repeats its words as names of columns.
"""

import os
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

import nashgraph
from nashgraph.validation import InputError

# For each file: how many people, what identifies them, answers, other roles, or a part of the refusal.
EXPECTED: dict[str, dict[str, Any]] = {
    "01_kobo.csv": {
        "people": 80,
        "id": "grp_hh/resp_name",
        "answers": r"grp_hh/(age|sex|pregnant)|grp_assets/assets/\w+|grp_att/q\d_agree",
        "place": r"_gps_(latitude|longitude)",
    },
    "03_qualtrics.csv": {"people": 70, "id": "ResponseId", "answers": "Q1|Q2|Q3_[1-9]|Q4|Q5", "place": "Location.*"},
    "05_google_forms.csv": {
        "people": 55,
        "id": "Your name",
        "answers": "Which class.*|Your age|What do you like.*|On a scale.*",
        "names": "Who are your closest.*",
    },
    "06_redcap.csv": {"people": 60, "id": "record_id", "answers": r"age|sex|symptoms___\d|att_\d"},
    "07_stata.dta": {
        "people": 90,
        "id": "hhid",
        "answers": r"hh_head_sex|age|trust_\d|land_ha|religion",
        "group": "village",
        "weight": "wt",
    },
    "08_spss.sav": {"people": 75, "id": "ID", "answers": r"Geschlecht|Alter|F\d|bildung", "weight": "gewicht"},
    "09_title.xlsx": {"people": 50, "id": "HH No.", "answers": r"Age|Sex|A\d|Cattle", "label": "Head of household"},
    "09d_totals.csv": {"people": 50, "id": "name", "answers": r"age|A\d|cattle"},
    "10_semicolon.csv": {"people": 60, "id": "Name", "answers": r"Gr.*|Fl.*|Eink.*|Alter|F\d"},
    "15_dhs.csv": {
        "people": 40,
        "id": "hv002",
        "answers": r"hv201|hv270|inc|trust|bmi|hv10[1456]",
        "group": "hv001",
        "weight": "hv005",
    },
    "17_egos.csv": {"people": 25, "id": ".egoID", "answers": "age|sex|q1|q2"},
    "17_alters.csv": {"refused": "alters, that is, people named by others"},
    "17_aaties.csv": {"refused": "ties between the alters of one person"},
    "18_names.csv": {"people": 70, "id": "Name", "answers": "Age|Gender|Opinion .", "names": "Please name.*"},
    "18b_nom_ids.csv": {"people": 70, "id": "pid", "answers": r"age|sex|q2\d", "names": "q12_[a-d]"},
    "19_ard.csv": {
        "people": 80,
        "id": "respondent",
        "answers": "age",
        "trait": "Are you a .*",
        "count": "How many (?!people).*",
        "n_ties": "How many people.*",
    },
    "21_loans.csv": {"people": 60, "answers": "", "source": "Borrower", "target": "Lender", "ties": 61},
    "21b_calls.csv": {"people": 60, "answers": "", "source": "caller", "target": "callee", "rows": 400},
    "22_attendance.csv": {"people": 60, "id": "Member", "answers": "Meeting.*"},
    "22b_register.csv": {"people": 60, "id": "Name", "answers": "Meeting.*"},
    "23_transposed.csv": {"people": 60, "answers": "I trust.*|Age", "question": "Question"},
    "24_net.graphml": {"people": 60, "answers": "age", "ties": 61},
    "25_odk.json": {
        "people": 60,
        "id": "grp_hh.name",
        "answers": r"grp_hh\.(age|sex)|grp_att\.q\d",
        "place": r"location\.l.*",
    },
    "26_panel.csv": {"people": 60, "id": "pid", "answers": r"age|q\d", "wave": "wave"},
    "27_ratings.csv": {"people": 60, "id": "userId", "signals": 120},
    "28_codes.csv": {"people": 90, "id": "caseid", "answers": r"age|educ|b\d", "group": "psu", "weight": "weight"},
    "29_mixed.csv": {"people": 90, "id": "Name", "answers": r"Own land\?|S\d|Income"},
    "30_dups.csv": {"refused": "'H003' in rows 4 and 91, 'H017' in rows 18 and 92"},
    "31_export.xls": {"people": 60, "id": "household", "answers": r"q\d"},
    "33_sensor.csv": {"people": 40, "signals": 300},
    "40_letter_id.csv": {"people": 60, "id": "house", "answers": r"age|q\d"},
    "44c_tick.csv": {"people": 50, "id": "Name", "answers": r"S\d+"},
    "46c_matrix_attr.csv": {"people": 50, "id": "student", "answers": "sex|grade", "tie": r"friend_\d+"},
    "48_emails.csv": {"people": 50, "answers": "", "source": "from", "target": "to", "rows": 300},
    "51_nsnr.csv": {"people": 60, "id": "Folio", "answers": r"Edad|P\d"},
}
SIZES = {"people", "signals", "ties", "rows"}


def differences(study: nashgraph.Study, expected: dict[str, Any]) -> list[str]:
    """Return in what a study differs from what is expected of its file."""
    wrong: list[str] = []
    table = study.plan.table
    sizes = {"people": len(study.people), "signals": len(study.signals)}
    sizes["ties"] = 0 if study.network is None else len(study.network)
    sizes["rows"] = 0 if study.network is None else int(study.network["weight"].sum())
    for name in SIZES & {*expected}:
        if sizes[name] != expected[name]:
            wrong.append(f"{name}: {sizes[name]}, not {expected[name]}")
    if "answers" in expected:
        asked = dict.fromkeys(study.questions.values())
        wrong += [f"answer {name!r}" for name in asked if not re.fullmatch(expected["answers"], name)]
        parts = [part for part in expected["answers"].split("|") if part]
        if bool(parts) != bool(asked):
            wrong.append("no answers" if parts else "answers")
    for role in {*expected} - SIZES - {"answers"}:
        named = [column.name for column in table.of_role(role)]
        if not named or not all(
            re.fullmatch(re.escape(expected[role]) if role == "id" else expected[role], n) for n in named
        ):
            wrong.append(f"{role}: {named}")
    return wrong


def compared(file: Path) -> dict[str, Any]:
    """Return how one file was read: right, refused as it should be, or in what it differs."""
    expected = EXPECTED[file.name]
    start = time.perf_counter()
    try:
        study = nashgraph.read_study(file)
        wrong = differences(study, expected) if "refused" not in expected else ["not refused"]
        outcome = "right"
    except InputError as error:
        outcome = "refused"
        wrong = [] if expected.get("refused", "?") in str(error) else [str(error)]
    seconds = time.perf_counter() - start
    return {"file": file.name, "outcome": "; ".join(wrong) or outcome, "ok": not wrong, "seconds": round(seconds, 2)}


def main() -> int:
    """Print the table of all files, and how many are as expected."""
    folder = Path(os.environ["NASHGRAPH_DATA"]) / "raw"
    warnings.simplefilter("ignore")
    table = pd.DataFrame([compared(folder / name) for name in EXPECTED])
    print(table.to_string(index=False))
    print(f"{int(table['ok'].sum())} of {len(table)} files as expected")
    return int(not table["ok"].all())


if __name__ == "__main__":
    sys.exit(main())

"""How tables are read, a test per rule: what rows are, what columns are for, scales, names, codes for no answer."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.raw_files import EXPECTED, compared

from nashgraph import read_study
from nashgraph.decisions import Remedy
from nashgraph.io import write_plan
from nashgraph.plan import PlanError
from nashgraph.validation import DataWarning, InputError

RAW = Path(os.environ.get("NASHGRAPH_DATA", "")) / "raw"
FIRST = ("Asha", "Binod", "Chitra", "Devi", "Esha", "Farid", "Gita", "Hari", "Indira", "Jaya")
LAST = ("Rao", "Nair", "Das", "Shah")
NAMES = [f"{first} {last}" for last in LAST for first in FIRST]
RANDOM = np.random.default_rng(0)


def survey(n=30, **columns):
    """Return a table of people with three answers, and columns of its own."""
    answers = {f"q{k}": RANDOM.integers(1, 6, n) for k in (1, 2, 3)}
    return pd.DataFrame({"name": NAMES[:n], **columns, **answers})


def role(study, name):
    return study.plan.table.column(name).role


def scale(study, name):
    return study.plan.table.column(name).scale


@pytest.mark.skipif(not RAW.is_dir(), reason="NASHGRAPH_DATA has no raw files")
@pytest.mark.parametrize("name", EXPECTED)
def test_raw_files_are_read_as_expected(name):
    assert compared(RAW / name)["outcome"] in ("right", "refused")


# ------------------------------------------------------------------------------------------------ rows


def test_a_table_of_people():
    study = read_study(survey())
    assert study.plan.table.rows == "people"
    assert study.people.index.tolist() == NAMES[:30]
    assert study.signals.shape == (3, 30)
    assert study.standardized


@pytest.mark.parametrize("first", ["id", "pid", "Folio", "HH No.", "caseid", "Your name", "grp/resp_name", "house"])
def test_what_a_column_that_identifies_people_may_be_called(first):
    table = survey().rename(columns={"name": first})
    assert role(read_study(table), first) == "id"


def test_a_number_in_the_list_is_no_id_if_there_is_a_name():
    study = read_study(survey(**{"No.": range(1, 31)}))
    assert (role(study, "name"), role(study, "No.")) == ("id", "ignore")


def test_rows_without_an_id_are_numbered_and_that_is_said():
    study = read_study(survey().drop(columns="name"))
    assert study.people.index.tolist()[:2] == ["1", "2"]
    assert [decision.unsure for decision in study.decisions if decision.kind == "rows"] == [True]


def test_events_give_each_person_a_row():
    rows = [(NAMES[k], f"meeting {m}") for k in range(12) for m in range(5) if (k * m) % 3 == 0]
    study = read_study(pd.DataFrame(rows, columns=["Member", "Meeting"]))
    assert study.plan.table.rows == "events"
    assert len(study.people) == 12
    assert set(study.questions) == {f"meeting {m}" for m in (1, 2, 4)}  # everybody came to the others


def test_one_answer_a_row_gives_each_question_a_column():
    rows = [(f"u{k}", f"film{m}", 1 + (k + m) % 5, 880000000 + k) for k in range(12) for m in range(6)]
    study = read_study(pd.DataFrame(rows, columns=["userId", "movie", "rating", "timestamp"]))
    assert study.plan.table.rows == "answers"
    assert study.signals.shape == (6, 12)


def test_waves_stand_side_by_side():
    rows = [
        (k, wave, 2023 + wave, 1 + (k * wave) % 5, k % 3) for k in range(101, 121) for wave in (1, 2) if k + wave != 122
    ]
    study = read_study(pd.DataFrame(rows, columns=["pid", "wave", "year", "q1", "q2"]))
    assert study.plan.table.rows == "waves"
    assert study.signals.index.tolist() == ["q1 (wave 1)", "q2 (wave 1)", "q1 (wave 2)", "q2 (wave 2)"]
    assert study.people.shape[0] == 20
    assert study.missing["120"] == 0.5
    assert role(study, "year") == "ignore"


def test_members_give_their_household_the_mean():
    rows = [(c, h, m, 30 + m, 100 * c + h) for c in (1, 2) for h in (1, 2, 3, 4) for m in range(1, 3 + h % 2)]
    table = pd.DataFrame(rows, columns=["hv001", "hv002", "hvidx", "age", "income"])
    study = read_study(table, standardize=False)
    assert study.plan.table.rows == "members"
    assert study.people.index.tolist()[:2] == ["1-1", "1-2"]
    assert study.signals.loc["age", "1-1"] == 32
    assert any(decision.kind == "mean of rows" for decision in study.decisions)


@pytest.mark.parametrize("ends", [("Borrower", "Lender"), ("caller", "callee"), ("from", "to"), ("X", "Y")])
def test_reports_of_ties_are_a_network(ends):
    rows = [(NAMES[k], NAMES[(k * k + step) % 20], 10 + k) for k in range(20) for step in (1, 3)]
    table = pd.DataFrame(rows, columns=[*ends, "amount"])
    study = read_study(table)
    assert study.plan.table.rows == "reports"
    assert [role(study, end) for end in ends] == ["source", "target"]
    assert len(study.people) == 20
    assert study.network["weight"].sum() == sum(source != target for source, target, _ in rows)
    assert study.tells_of_ties


def test_a_tie_of_strength_0_is_none():
    rows = [(one, other, int((one * other) % 7 == 1)) for one in range(1, 16) for other in range(1, one)]
    study = read_study(pd.DataFrame(rows, columns=["i", "j", "tie"]))
    assert len(study.people) == 15
    assert len(study.network) == sum(tie for *_, tie in rows)


def test_ends_by_id_beside_a_number_of_the_message():
    table = pd.DataFrame({"id": range(40), "sender_id": [100 + k % 9 for k in range(40)]})
    study = read_study(table.assign(recipient_id=[100 + (k * k + 1) % 11 for k in range(40)], text="hi"))
    assert study.plan.table.rows == "reports"


def test_an_attendance_list_by_dates():
    rows = [
        (NAMES[k], f"2025-01-{day:02d}", ("Present", "Absent")[(k * day) % 2]) for k in range(12) for day in (1, 2, 3)
    ]
    study = read_study(pd.DataFrame(rows, columns=["Student", "Date", "Status"]), standardize=False)
    assert study.plan.table.rows == "answers"
    assert study.signals.loc["2025-01-01", NAMES[:3]].tolist() == [1, 0, 1]


def test_numbers_of_households_within_villages():
    table = survey().drop(columns="name").assign(village=["A", "B", "C"] * 10, hh_no=np.repeat(range(1, 11), 3))
    assert read_study(table).people.index.tolist()[:4] == ["A-1", "B-1", "C-1", "A-2"]


def test_people_in_columns_under_questions():
    trusted = ("police", "court", "school", "bank", "radio", "chief", "mayor", "post")
    table = pd.DataFrame(RANDOM.integers(1, 6, (8, 20)), columns=NAMES[:20])
    table.insert(0, "Question", [f"I trust the {word}" for word in trusted])
    study = read_study(table)
    assert study.plan.table.rows == "columns"
    assert study.signals.shape == (8, 20)


def test_recordings_have_sensors_in_columns():
    table = pd.DataFrame(RANDOM.normal(size=(50, 6)), columns=[f"p{k}" for k in range(6)])
    table.insert(0, "time", pd.date_range("2025-01-01", periods=50, freq="h"))
    study = read_study(table)
    assert study.plan.table.rows == "columns"
    assert study.people.index.tolist() == [f"p{k}" for k in range(6)]
    assert not study.standardized


@pytest.mark.parametrize(
    "top", [NAMES[:12], [name.replace(" ", ".") for name in NAMES[:12]]], ids=["as they are", "by R"]
)
def test_a_matrix_of_ties(top):
    cells = RANDOM.integers(0, 2, (12, 12)) * (1 - np.eye(12, dtype=int))
    table = pd.DataFrame(cells, columns=top)
    table.insert(0, "", NAMES[:12])
    study = read_study(table)
    assert study.plan.table.rows == "matrix"
    assert len(study.network) == cells.sum()


def test_distances_are_no_strengths():
    points = RANDOM.normal(size=(10, 2))
    table = pd.DataFrame(np.linalg.norm(points[:, None] - points, axis=2), columns=NAMES[:10])
    table.insert(0, "name", NAMES[:10])
    with pytest.raises(InputError, match="a matrix of distances does not say who is tied"):
        read_study(table)


def test_a_matrix_beside_answers():
    cells = np.triu(RANDOM.integers(0, 2, (20, 20)), 1)
    friends = {f"friend_{k + 1}": cells[:, k] for k in range(20)}
    table = pd.DataFrame({"student": range(1, 21), "sex": ["f", "m"] * 10, **friends})
    study = read_study(table)
    assert set(study.questions.values()) == {"sex"}
    assert len(study.network) == cells.sum()


def test_a_repeated_id_asks_with_both_rows_and_the_plan(tmp_path):
    table = survey()
    table = pd.concat([table, table.iloc[[3]].assign(q1=6 - table["q1"][3] % 2)], ignore_index=True)
    with pytest.raises(PlanError, match=f"'{NAMES[3]}' in rows 4 and 31") as asked:
        read_study(table)
    assert asked.value.remedy.parameter == "repeats"
    write_plan(asked.value.plan, tmp_path / "plan.toml")
    file = tmp_path / "plan.toml"
    file.write_text(file.read_text().replace('rows = "people"', 'repeats = "first"\nrows = "people"'))
    assert len(read_study(table, plan=file).people) == 30
    assert len(read_study(table, repeats="separate").people) == 31
    mean = read_study(table, repeats="mean", standardize=False).signals.loc["q1", NAMES[3]]
    assert mean == (table["q1"][3] + table["q1"][30]) / 2


def test_rows_that_are_copies_count_once():
    table = survey()
    study = read_study(pd.concat([table, table.iloc[[3]]], ignore_index=True))
    assert len(study.people) == 30


def test_an_id_that_repeats_without_a_reason_asks_what_rows_are():
    table = pd.DataFrame(
        {"respondent": NAMES[:10] * 3, "a": range(30), "b": RANDOM.normal(size=30), "c": range(30, 60)}
    )
    with pytest.raises(PlanError, match="'respondent' seems to identify people, but its values repeat"):
        read_study(table)


def test_repeated_instruments_of_redcap_are_no_people():
    people = pd.DataFrame(
        {"record_id": range(1, 21), "redcap_repeat_instrument": None, "q1": [1, 2, 4, 3] * 5, "visit_bp": None}
    )
    visits = pd.DataFrame({"record_id": [1, 2, 2], "redcap_repeat_instrument": "visits", "visit_bp": [100, 120, 130]})
    study = read_study(pd.concat([people, visits], ignore_index=True))
    assert len(study.people) == 20
    assert study.plan.table.only == "redcap_repeat_instrument="
    assert list(study.questions) == ["q1"]


# ------------------------------------------------------------------------------------- around the data


def test_totals_and_notes_are_no_people(tmp_path):
    file = tmp_path / "table.csv"
    text = survey().to_csv(index=False)
    file.write_text(f"{text}TOTAL,90,91,92\nAverage,3.1,3.2,3.3\n* source: the ward office\n")
    study = read_study(file)
    assert study.people.index.tolist() == NAMES[:30]
    assert study.plan.table.no_data == (31, 32, 33)
    assert scale(study, "q1") == "ordered"


def test_further_header_rows_are_questions(tmp_path):
    table = survey().astype(str)
    second = ["Who are you?", "Do you agree?", "Is it so?", "And so?"]
    third = [json.dumps({"ImportId": f"QID{k}"}) for k in range(4)]
    whole = pd.concat([pd.DataFrame([second, third], columns=table.columns), table])
    whole.to_csv(tmp_path / "qualtrics.csv", index=False)
    study = read_study(tmp_path / "qualtrics.csv")
    assert len(study.people) == 30
    assert study.plan.table.no_data == (1, 2)


def test_a_second_header_names_the_columns_without_a_name(tmp_path):
    rows = "\n".join(f"{1000 + k},{20 + k},{1 + k % 3},{1 + k % 4},{1 + k % 5}" for k in range(20))
    file = tmp_path / "monkey.csv"
    file.write_text(
        f"Respondent ID,How old are you?,How much do you trust,,\n,Open-Ended Response,police,court,bank\n{rows}\n"
    )
    study = read_study(file)
    assert list(study.questions)[-2:] == ["How much do you trust [court]", "How much do you trust [bank]"]
    assert len(study.people) == 20


def test_a_page_of_html_with_the_name_of_a_workbook(tmp_path):
    (tmp_path / "export.xls").write_text(survey().to_html(index=False))
    assert read_study(tmp_path / "export.xls").signals.shape == (3, 30)


def test_decimal_commas_with_thousands(tmp_path):
    file = tmp_path / "werte.csv"
    rows = "\n".join(
        f"{name};1,{50 + k};1.{600 + 7 * k % 97};0,{300 + 11 * k % 89}" for k, name in enumerate(NAMES[:30])
    )
    file.write_text(f"Name;Größe;Einkommen;Fläche\n{rows}\n", encoding="cp1252")
    study = read_study(file, standardize=False)
    assert study.plan.table.reading["decimal"] == ","
    assert study.signals[NAMES[1]].tolist() == [1.51, 1607.0, 0.311]


def test_groups_of_a_nested_export(tmp_path):
    rows = [
        {
            "__id": f"uuid:{k}",
            "grp": {"name": name, "q1": k % 5},
            "where": {"type": "Point", "coordinates": [36.8 + k, 1.2]},
        }
        for k, name in enumerate(NAMES[:20])
    ]
    file = tmp_path / "odk.json"
    file.write_text(json.dumps({"value": rows}))
    study = read_study(file)
    assert list(study.questions) == ["grp.q1"]
    assert list(study.places) == ["where.longitude", "where.latitude"]


# ---------------------------------------------------------------------------------------------- columns


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("start", [f"2025-03-03T08:{k:02d}:00" for k in range(30)]),
        ("StartDate", ["2025-03-03"] * 30),
        ("deviceid", ["a", "b"] * 15),
        ("Enumerator", ["E1", "E2", "E3"] * 10),
        ("phone", range(254700000000, 254700000030)),
        ("Email Address", [f"{k}@x.org" for k in range(30)]),
        ("_submission_time", ["a", "b"] * 15),
        ("demographics_complete", [1, 2] * 15),
        ("Marca temporal", ["a", "b"] * 15),
        ("stratum", [1, 2] * 15),
        ("anything", [f"{k}/3/2025" for k in range(1, 31)]),
        ("ref", [f"{k}@x.org" for k in range(30)]),
        ("remarks", ["good", "bad"] * 15),
        ("thoughts", [f"I think that it is {k}" for k in range(30)]),
    ],
)
def test_what_tools_and_interviewers_write_is_no_answer(name, values):
    study = read_study(survey(**{name: values}))
    assert role(study, name) == "ignore"
    assert study.plan.table.column(name).why


def test_a_word_that_may_be_an_answer_is_one_in_a_table_without_tools():
    study = read_study(survey(status=["married", "single", "widowed"] * 10))
    assert scale(study, "status") == "category"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["yes", "No", "Y", "n", "TRUE", "false"], "yes/no"),
        (["oui", "non"], "yes/no"),
        (["ja", "nein", "weiß nicht"], "yes/no"),
        ([0, 1], "yes/no"),
        (["X", None], "tick"),
        (["✓", "-"], "tick"),
        (["P", "A"], "tick"),
        ([1, 2, 3, 4, 5], "ordered"),
        (["1 - strongly disagree", "2", "3", "4", "5 - strongly agree"], "ordered"),
        (["agree (4)", "disagree (2)", "neutral (3)"], "ordered"),
        (["never", "sometimes", "always"], "ordered"),
        (["SD", "D", "N", "A", "SA"], "ordered"),
        (["4,199", "11,396", "KES 733"], "number"),
        (["12", "9 years", "14"], "number"),
        (["north", "south", "east"], "category"),
        (["Music, Chess", "Chess", "Music", "Football, Music", "Football"], "multiple"),
        (["radio phone", "phone", "radio tv", "tv", "tv phone"], "multiple"),
    ],
    ids=str,
)
def test_scales(cells, expected):
    values = [cells[k % len(cells)] for k in range(30)]
    study = read_study(survey(answer=values))
    assert scale(study, "answer") == expected


def test_numbered_names_have_no_order_and_ranges_have():
    table = survey(program=["program 2", "program 4", "program 10"] * 10, since=["1920..1929", "..1919", "1930.."] * 10)
    study = read_study(table)
    assert (scale(study, "program"), scale(study, "since")) == ("category", "ordered")
    assert study.plan.table.column("since").order == ("..1919", "1920..1929", "1930..")


def test_a_year_of_birth_and_a_number_called_date_are_answers():
    study = read_study(survey(birthdate=[1950 + k % 13 for k in range(30)], date=[k % 9 for k in range(30)]))
    assert (role(study, "birthdate"), role(study, "date")) == ("answer", "answer")


def test_what_scales_make_of_cells():
    table = survey(
        own=["Yes", "no", "N"] * 10,
        here=["X", None, "-"] * 10,
        agree=["1 - no", "4 - yes", "3"] * 10,
        likes=["tea, rum", None, "rum"] * 10,
    )
    signals = read_study(table, standardize=False).signals[NAMES[:3]]
    assert signals.loc["own"].tolist() == [1, 0, 0]
    assert signals.loc["here"].tolist() == [1, 0, 0]
    assert signals.loc["agree"].tolist() == [1, 4, 3]
    assert signals.loc["likes=rum"].tolist() == [1, 0, 1]


def test_choices_with_columns_of_their_own_count_once():
    table = survey(
        **{"assets": ["radio cow", "cow", "radio"] * 10, "assets/radio": [1, 0, 1] * 10, "assets/cow": [1, 1, 0] * 10}
    )
    study = read_study(table)
    assert role(study, "assets") == "ignore"
    assert {"assets/radio", "assets/cow"} <= {*study.questions}


def test_a_choice_with_a_column_of_its_own_is_a_tick():
    table = survey(**{"clubs [Choir]": ["Choir", None, None] * 10, "clubs [Chess]": [None, "Chess", "Chess"] * 10})
    study = read_study(table, standardize=False)
    assert study.signals.loc["clubs [Choir]", NAMES[:3]].tolist() == [1, 0, 0]


def test_negative_codes_below_a_scale():
    study = read_study(survey(agree=[1, 2, 3, 4, 5, -9] * 5), gaps="pairwise")
    assert study.signals.loc["agree"].isna().sum() == 5


def test_codes_of_one_question_count_in_all_of_its_block():
    cells = {f"b{k}": RANDOM.integers(1, 6, 30).astype(float) for k in range(1, 5)}
    cells["b1"][:2] = 8
    cells["b3"][3:5] = 9
    study = read_study(survey(**cells), standardize=False, gaps="pairwise")
    assert study.signals.loc["b1"].isna().sum() == 2
    assert study.signals.loc["b3"].isna().sum() == 2


def test_words_for_no_answer_in_several_languages():
    answers = ["1", "2", "3", "4", "5", "NS/NC", "No contesta", "weiß nicht", "DK", "refus"] * 3
    study = read_study(survey(answer=answers), gaps="pairwise")
    assert study.signals.loc["answer"].isna().sum() == 15
    assert scale(study, "answer") == "ordered"


def test_a_code_that_one_column_shows_counts_where_it_stands_out():
    low = [float(k % 7) for k in range(28)] + [-99.0, -99.0]
    income = [1000.0 + 50 * k for k in range(29)] + [-99.0]
    study = read_study(survey(low=low, income=income), gaps="pairwise")
    assert study.plan.table.column("income").missing == ("-99",)
    assert study.signals.loc["income"].isna().sum() == 1


def test_weights_groups_and_places():
    table = survey(
        village=["A", "B", "C"] * 10,
        weight=np.linspace(0.5, 1.5, 30),
        latitude=np.linspace(1, 2, 30),
        longitude=np.linspace(36, 37, 30),
    )
    study = read_study(table)
    assert [role(study, name) for name in ("village", "weight", "latitude")] == ["group", "weight", "place"]
    assert study.weights.tolist() == table["weight"].tolist()
    assert study.ties.groups["village"].tolist() == ["A", "B", "C"] * 10


def test_what_people_weigh_is_an_answer_and_german_age_is_no_name():
    study = read_study(survey(weight=np.linspace(45, 90, 30), Alter=RANDOM.integers(18, 80, 30)))
    assert (role(study, "weight"), role(study, "Alter")) == ("answer", "answer")


def test_a_column_of_sums_is_left_out():
    marks = {f"meeting {k}": RANDOM.choice(["X", None], 30).tolist() for k in range(4)}
    total = [sum(cell == "X" for cell in row) for row in zip(*marks.values(), strict=True)]
    study = read_study(survey(**marks, Total=total))
    assert role(study, "Total") == "ignore"


# ------------------------------------------------------------------------------------------------- ties


def test_names_in_several_columns_of_any_stem():
    named = {f"q12_{letter}": [NAMES[(k + step) % 30] for k in range(30)] for step, letter in ((1, "a"), (5, "b"))}
    study = read_study(survey(**named))
    assert role(study, "q12_a") == "names"
    assert len(study.ties.reports) == 60
    assert study.ties.room == {"": 2}


def test_spellings_are_proposed_and_used_when_confirmed(tmp_path):
    cells = [f"{NAMES[(k + 1) % 30]}; {NAMES[(k + 7) % 30]}" for k in range(30)]
    cells[0] = "binod  ráo"  # a matter of capitals, accents and blanks
    cells[1] = "Chitra Roa"  # two letters swapped
    cells[2] = "Zoya Khan"
    table = survey(friends=cells)
    study = read_study(table)
    by_name = study.names.set_index("written")
    assert by_name.loc["binod  ráo", ["matched", "sure"]].tolist() == ["Binod Rao", True]
    assert by_name.loc["Chitra Roa", ["matched", "distance", "sure"]].tolist() == ["Chitra Rao", 1, False]
    assert by_name.loc["Zoya Khan", "matched"] == ""
    told = study.ties.reports
    assert told[told["respondent"] == NAMES[1]]["target"].tolist() == [None]
    assert [decision.kind for decision in study.decisions if decision.unsure] == ["misspelt"]
    study.names.assign(sure=True).to_csv(tmp_path / "names.csv", index=False)
    write_plan(study.plan, tmp_path / "plan.toml")
    file = tmp_path / "plan.toml"
    file.write_text('names = "names.csv"\n' + file.read_text())
    told = read_study(table, plan=file).ties.reports
    assert told[told["respondent"] == NAMES[1]]["target"].tolist() == ["Chitra Rao"]


def test_two_people_of_nearly_one_name_are_never_merged():
    table = survey().assign(
        name=[*NAMES[:28], "José Rao", "Jose Rao"], friend=["JOSE RAO", *NAMES[2:28], None, None, None]
    )
    study = read_study(table)
    assert study.names.set_index("written").loc["JOSE RAO", ["matched", "sure"]].tolist() == ["", False]


def test_counts_know_the_trait_that_they_count():
    jobs = ("farmer", "teacher", "weaver")
    traits = {f"Are you a {job}?": RANDOM.choice(["Yes", "No"], 30) for job in jobs}
    cells = [*["0", "1", "2", "3"] * 7, "4+", "DK"]
    counts = {f"How many {job}s do you know?": cells for job in jobs}
    study = read_study(survey(**traits, **counts, **{"How many people do you talk to?": range(30)}))
    ties = study.ties
    assert list(ties.counts) == list(traits)
    assert ties.at_least.iloc[28].all()
    assert ties.counts.iloc[29].isna().all()
    assert ties.n_ties.tolist() == list(range(30))
    assert study.plan.table.column("How many weavers do you know?").of == "Are you a weaver?"


def test_counts_that_have_the_name_of_a_trait():
    flags = {"female": [0, 1] * 15, "smoker": [0, 0, 1] * 10}
    counts = {f"friends_{trait}": [k % 5 for k in range(30)] for trait in flags}
    study = read_study(survey(**flags, **counts, degree=[4 + k % 9 for k in range(30)]))
    assert list(study.ties.counts) == ["female", "smoker"]
    assert role(study, "degree") == "n_ties"


def test_alters_of_egor_are_counted(tmp_path):
    egos = pd.DataFrame({".egoID": range(1, 21), "sex": ["f", "m"] * 10, "q1": RANDOM.integers(1, 6, 20)})
    alters = pd.DataFrame(
        {".altID": range(1, 31), ".egoID": [1 + k % 15 for k in range(30)], "sex": ["f", "f", "m"] * 10}
    )
    between = pd.DataFrame({".egoID": [1], ".srcID": [1], ".tgtID": [16], "weight": [1]})
    study = read_study(egos, alters, between)
    assert study.ties.n_ties.tolist()[:15] == [2.0] * 15
    assert study.ties.n_ties.isna().sum() == 5
    assert list(study.ties.counts) == ["sex=f", "sex=m"]
    with pytest.raises(PlanError, match="alters, that is, people named by others"):
        read_study(alters)
    with pytest.raises(PlanError, match="ties between the alters of one person"):
        read_study(between)


# ------------------------------------------------------------------------------------------- overrides


def test_options_are_lines_of_the_plan():
    table = survey(
        friend=[NAMES[(k + 1) % 30] for k in range(30)], job=["farmer", "weaver"] * 15, told=range(30), age=range(30)
    )
    study = read_study(
        table,
        drop=["q1"],
        keep="age",
        counts={"told": "job=farmer"},
        missing=["q2=5"],
        ordinal={"q3": ["5", "4", "3", "2", "1"]},
        standardize=False,
        gaps="pairwise",
    )
    assert [role(study, name) for name in ("q1", "told", "job")] == ["ignore", "count", "trait"]
    assert study.ties.counts["job=farmer"].tolist() == list(range(30))
    assert study.signals.loc["q2"].isna().sum() == (table["q2"] == 5).sum()
    assert (study.signals.loc["q3"].to_numpy() == 5 - table["q3"]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": "nam"}, r"there is no column 'nam' \(did you mean 'name'\?\)"),
        ({"idd": "q1"}, "'idd' is not an option: there are id, drop"),
        ({"counts": "q1"}, "must say what is counted"),
        ({"gaps": "perhaps"}, "gaps='perhaps' is not known"),
        ({"rows": "poeple"}, "rows='poeple' is not known"),
        ({"only": "q1"}, 'must be "COLUMN=VALUE"'),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(InputError, match=message):
        read_study(survey(), **options)


def test_gaps_are_refused_filled_or_left():
    table = survey(age=[None, *range(29)])
    with pytest.raises(PlanError, match=r"1 values .* are missing, the first of Asha Rao in 'age'"):
        read_study(table, gaps="error")
    assert read_study(table).signals.isna().sum().sum() == 1
    assert not read_study(table, gaps="impute").signals.isna().any().any()


def test_an_absurd_value_is_refused_with_what_to_type():
    table = survey(age=[*range(20, 49), 1e9])
    with pytest.raises(PlanError, match=r"1e\+09 of Jaya Das in 'age'") as refused:
        read_study(table)
    assert refused.value.remedy.value == ("age=1000000000",)
    assert read_study(table, missing="age=1000000000").signals.loc["age"].isna().sum() == 1


# ----------------------------------------------------------------------------------------------- forms


@pytest.fixture
def xlsform(tmp_path):
    """Write a form as KoboToolbox has it, and return its path."""
    survey = pd.DataFrame(
        {
            "type": [
                "start",
                "text",
                "select_one agree",
                "select_one water",
                "select_multiple assets",
                "select_one yn",
            ],
            "name": ["start", "name", "q1", "q2", "q3", "q4"],
            "label": ["", "Your name", "Do you agree?", "Where from?", "What do you own?", "Own land?"],
        }
    )
    lists = {
        "agree": [("1", "Never"), ("2", "Sometimes"), ("3", "Always"), ("98", "Don't know")],
        "water": [("1", "tap"), ("2", "well"), ("3", "river")],
        "assets": [("radio", "Radio"), ("cow", "Cow")],
        "yn": [("1", "Yes"), ("2", "No")],
    }
    rows = [(name, value, label) for name, choices in lists.items() for value, label in choices]
    with pd.ExcelWriter(tmp_path / "form.xlsx") as book:
        survey.to_excel(book, sheet_name="survey", index=False)
        pd.DataFrame(rows, columns=["list_name", "name", "label"]).to_excel(book, sheet_name="choices", index=False)
    return tmp_path / "form.xlsx"


def test_an_xlsform_says_what_codes_mean(xlsform):
    table = pd.DataFrame(
        {
            "name": NAMES[:20],
            "grp/q1": [1, 2, 3, 98] * 5,
            "grp/q2": [1, 2, 3, 1] * 5,
            "grp/q3": ["radio", "cow radio", None, "cow"] * 5,
            "grp/q4": [1, 2] * 10,
        }
    )
    study = read_study(table, form=xlsform, standardize=False, gaps="pairwise")
    assert [scale(study, f"grp/q{k}") for k in (1, 2, 3, 4)] == ["ordered", "category", "multiple", "yes/no"]
    assert study.signals.loc["grp/q1"].isna().sum() == 5
    assert study.signals.loc["grp/q4", NAMES[:2]].tolist() == [1, 0]
    assert {"grp/q2=1", "grp/q3=radio"} <= {*study.signals.index}


def test_a_form_of_another_survey_is_refused(xlsform):
    with pytest.raises(InputError, match=r"form.xlsx is the form of another survey"):
        read_study(survey(a=range(30), b=range(30)).drop(columns=["q1", "q2", "q3", "name"]), form=xlsform)


def test_a_data_dictionary_of_redcap(tmp_path):
    rows = [
        ("record_id", "text", "Record", "", ""),
        ("sex", "radio", "Sex", "1, Male | 2, Female", ""),
        ("freq", "dropdown", "How often?", "1, never | 2, sometimes | 3, always | 9, Refused", ""),
        ("ssn", "text", "Number", "", "y"),
        ("land", "yesno", "Own land?", "", ""),
    ]
    names = [
        "Variable / Field Name",
        "Field Type",
        "Field Label",
        "Choices, Calculations, OR Slider Labels",
        "Identifier?",
    ]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "dictionary.csv", index=False)
    table = pd.DataFrame(
        {"record_id": range(1, 21), "sex": [1, 2] * 10, "freq": [1, 2, 3, 9] * 5, "ssn": range(20), "land": [0, 1] * 10}
    )
    study = read_study(table, form=tmp_path / "dictionary.csv")
    assert [scale(study, name) for name in ("sex", "freq", "land")] == ["category", "ordered", "yes/no"]
    assert study.plan.table.column("freq").missing == ("9",)
    assert role(study, "ssn") == "ignore"


def test_people_with_0_everywhere_are_silent():
    counts = {f"plays {k}": [0, 0, 0, *RANDOM.integers(1, 90, 27)] for k in range(6)}
    study = read_study(pd.DataFrame({"name": NAMES[:30], **counts}))
    assert study.silent[NAMES[:4]].tolist() == [True, True, True, False]
    assert [decision.columns for decision in study.decisions if decision.kind == "silent"] == [tuple(NAMES[:3])]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([None] * 4, "no answers are left"),
        ([1.0, 2.0, np.inf, 1.0], "'x' is infinite for c"),
        ([1, 2, 3, 10**400], "'x' is infinite for d"),
    ],
    ids=["empty", "infinite", "beyond floats"],
)
def test_cells_that_cannot_be_used_are_refused(cells, message):
    with pytest.raises(InputError, match=message):
        read_study(pd.DataFrame({"id": list("abcd"), "x": cells}))


@pytest.mark.parametrize("cells", [[[1], [2], [1], [2]], [1j, 2, 1j, 2], [b"x", b"y", b"x", b"y"]], ids=str)
def test_cells_of_any_type_are_read_as_they_print(cells):
    assert list(read_study(pd.DataFrame({"id": list("abcd"), "x": cells})).people.index) == list("abcd")


def test_people_are_the_index_of_a_table_that_has_names():
    assert list(read_study(pd.DataFrame({"x": [1, 2, 3]}, index=["ann", "bob", "cat"])).people.index) == [
        "ann",
        "bob",
        "cat",
    ]


def test_a_person_without_an_id_is_called_by_the_row():
    study = read_study(survey().assign(name=[None, *NAMES[1:30]]))
    assert study.people.index.tolist()[:2] == ["row 1", NAMES[1]]


def test_a_column_with_two_points_in_its_name(tmp_path):
    table = pd.DataFrame({"id": list("abcd"), "a..b": [1, 2, 3, 1], "a": [3, 2, 1, 3], "b": [1, 1, 2, 3]})
    study = read_study(table)
    write_plan(study.plan, tmp_path / "plan.toml")
    assert read_study(table, plan=tmp_path / "plan.toml").signals.equals(study.signals)


# ---------------------------------------------------------------------------------------- what is refused

COUNTS = [k % 7 for k in range(30)]
WEAVERS = [0, 1, 1] * 10


@pytest.mark.parametrize("cell", [-3, 1.5, "+"], ids=str)
def test_a_count_that_cannot_be_is_refused_with_the_person_and_the_column(cell):
    told = [*COUNTS[:4], cell, *COUNTS[5:]]
    with pytest.raises(PlanError, match=f"got '{re.escape(str(cell))}' for Esha Rao in 'friends'") as refused:
        read_study(survey(friends=told), n_ties="friends")
    assert (refused.value.parameter, refused.value.remedy.parameter) == ("n_ties", "missing")
    with pytest.raises(PlanError, match="for Esha Rao in 'n_weavers'") as refused:
        read_study(survey(n_weavers=told, weaver=WEAVERS), counts={"n_weavers": "weaver"})
    assert refused.value.parameter == "counts"
    study = read_study(survey(friends=told), n_ties="friends", missing=refused.value.remedy.value[0].split("=")[1])
    assert np.isnan(study.ties.n_ties["Esha Rao"])


@pytest.mark.parametrize(("cell", "count"), [("3.0", 3), ("10+", 10), ("10 or more", 10), ("refused", np.nan)])
def test_how_counts_may_be_written(cell, count):
    study = read_study(survey(friends=[*COUNTS[:4], cell, *COUNTS[5:]]), n_ties="friends")
    assert study.ties.n_ties["Esha Rao"] == pytest.approx(count, nan_ok=True)
    assert study.ties.n_ties_at_least["Esha Rao"] == cell.startswith("10")


def test_a_word_in_place_of_a_count_is_said():
    study = read_study(survey(friends=[*COUNTS[:4], "many", *COUNTS[5:]]), n_ties="friends")
    (decision,) = [decision for decision in study.decisions if decision.kind == "no number"]
    assert decision.unsure
    assert "'many'" in decision.reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_ties": "friends", "drop": ["friends"]}, "'friends' is declared as drop and n_ties"),
        ({"n_ties": "friends", "names": ["friends"]}, "'friends' is declared as n_ties and names"),
        ({"id": "name", "names": ["name"]}, "'name' is declared as id and names"),
        ({"counts": ["friends=weaver", "friends=q1=2"]}, "'friends' is declared as counts twice"),
        ({"counts": ["friends=weaver", "n_weavers=weaver"]}, "two columns count 'weaver'"),
        ({"n_ties": ["friends", "n_weavers"]}, "n_ties has two columns, 'friends' and 'n_weavers'"),
    ],
    ids=str,
)
def test_declarations_that_contradict_each_other_are_refused(options, message):
    with pytest.raises(PlanError, match=message):
        read_study(survey(friends=COUNTS, n_weavers=COUNTS, weaver=WEAVERS), **options)


def test_a_declared_id_is_there_for_everybody():
    with pytest.raises(PlanError, match="'name': 2 people have no id, in rows 1, 3") as refused:
        read_study(survey().assign(name=[None, NAMES[1], " ", *NAMES[3:30]]), id="name")
    assert refused.value.remedy.value == "none"


def test_names_that_no_file_of_a_network_can_hold_are_refused():
    with pytest.raises(InputError, match=r"has the character U\+0001, which GraphML cannot hold: rename it"):
        read_study(survey().assign(name=["As\x01ha", *NAMES[1:30]]))


def test_a_missing_trait_is_warned_of():
    table = survey(n_weavers=COUNTS, weaver=[0, 1, None] * 10)
    with pytest.warns(DataWarning, match="'weaver': 10 people without an answer count as not having it"):
        study = read_study(table, counts={"n_weavers": "weaver"})
    assert [decision.unsure for decision in study.decisions if decision.kind == "trait" and "10" in decision.reason]


def test_columns_of_names_in_which_nobody_named_anybody_are_warned_of():
    with pytest.warns(DataWarning, match="'friend': nobody named anybody"):
        read_study(survey(friend=[None] * 30), names=["friend"])


def test_a_column_that_is_left_out_does_not_tell_people_apart():
    table = pd.concat([survey(village="a"), survey(village="b")]).rename(columns={"name": "hh"})
    table["hh"] = [*range(1, 31)] * 2
    assert len(read_study(table).people) == 60
    with pytest.raises(PlanError, match="'hh' seems to identify people, but its values repeat"):
        read_study(table, drop=["village"], id="hh")


def network_canvas():
    """Return 20 egos and their alters as Network Canvas exports them; two egos named nobody."""
    ids = [f"e{k:03d}-aa" for k in range(20)]
    answers = {f"q{k}": RANDOM.integers(0, 4, 20) for k in (1, 2)}
    egos = pd.DataFrame({"networkCanvasEgoUUID": ids, "farmer": [0, 1] * 10, **answers})
    rows = [(ids[k], f"n{k}-{j}", (k + j) % 2) for k in range(18) for j in range(1 + k % 3)]
    return egos, pd.DataFrame(rows, columns=["networkCanvasEgoUUID", "networkCanvasUUID", "farmer"])


@pytest.mark.parametrize("without", [[], ["networkCanvasUUID"]], ids=["with", "without an id of the alter"])
def test_alters_of_network_canvas(without):
    egos, alters = network_canvas()
    study = read_study(egos, alters.drop(columns=without))
    assert study.ties.n_ties.iloc[:4].tolist() == [1, 2, 3, 1]
    assert study.ties.counts["farmer=1"].iloc[:3].tolist() == [0, 1, 1]
    said = [decision.reason for decision in study.decisions if decision.kind == "alters"]
    assert said == [
        "2 people without alters in the table count as not asked",
        "the table: 36 people named by 18 people",
    ]


def test_egos_with_one_alter_each_and_traits_that_are_not_counted():
    egos, alters = network_canvas()
    alters = alters.drop_duplicates("networkCanvasEgoUUID").drop(columns="networkCanvasUUID")
    study = read_study(egos.assign(farmer=[None, *egos["farmer"][1:]]), alters)
    assert study.ties.n_ties.sum() == 18
    assert [decision.columns for decision in study.decisions if decision.kind == "not counted"] == [("farmer",)]


def test_a_list_of_ties_with_answers_of_people_is_asked_about():
    rows = [(NAMES[k], NAMES[(k * k + step) % 20], k % 5, 20 + k) for k in range(20) for step in (1, 3)]
    table = pd.DataFrame(rows, columns=["from", "to", "trust", "age"])
    with pytest.raises(PlanError, match=r"'from' repeats with the same answers \('trust', 'age'\)") as asked:
        read_study(table)
    assert asked.value.remedy == Remedy("rows", "reports")
    study = read_study(table, rows="reports")
    assert len(study.people) == 20
    people = table.drop_duplicates("from")[["from", "trust", "age"]].rename(columns={"from": "name"})
    both = read_study(people, table[["from", "to"]])
    assert both.signals.shape == (2, 20)
    assert len(both.ties.reports) > 20
    assert read_study(table.assign(trust=range(40), age=range(40, 80))).plan.table.rows == "reports"


@pytest.mark.parametrize("kind", ["answers", "events", "reports"])
def test_rows_about_nobody_are_left_out_and_that_is_said(kind):
    tables = {
        "answers": [(f"u{k}", f"film{m}", 1 + (k + m) % 5) for k in range(12) for m in range(6)],
        "events": [(NAMES[k], f"meeting {m}") for k in range(12) for m in range(5) if (k * m) % 3 == 0],
        "reports": [(NAMES[k], NAMES[(k * k + step) % 20]) for k in range(20) for step in (1, 3)],
    }
    names = {"answers": ["userId", "movie", "rating"], "events": ["Member", "Meeting"], "reports": ["from", "to"]}
    table = pd.DataFrame(tables[kind], columns=names[kind])
    table.iloc[7, 0] = None
    study = read_study(table)
    assert study.plan.table.rows == kind
    (decision,) = [decision for decision in study.decisions if decision.kind == "no id"]
    assert decision.unsure
    assert decision.reason.startswith("1 row(s)")

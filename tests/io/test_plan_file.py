"""The plan as a file: what is written is read again, and what is wrong in it is said with its line."""

import tomllib

import pytest

from nashgraph import read_study
from nashgraph.io import plan_text, read_plan, write_plan
from nashgraph.io.plan_file import MOST_LINES, resolved
from nashgraph.plan import ColumnPlan, Plan, PlanError, TablePlan
from nashgraph.validation import InputError

SURVEY = "name,age,q1,q2,q3,side\n" + "".join(
    f"p{k:02d},{20 + k},{1 + k % 5},{1 + k % 4},{1 + k % 3},{'ns'[k % 2]}\n" for k in range(12)
)


@pytest.fixture
def survey(tmp_path):
    file = tmp_path / "survey.csv"
    file.write_text(SURVEY)
    return file


def edited(survey, before, after):
    """Write the plan of a survey with one change, and return its path."""
    path = survey.with_name("plan.toml")
    write_plan(read_study(survey).plan, path)
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    return path


def test_a_plan_that_is_written_is_read_again(survey, tmp_path):
    columns = (
        ColumnPlan("name", "id"),
        ColumnPlan("q[1]..é", scale="ordered", order=("no", "may be"), missing=("98", "DK"), why='said "so"'),
        ColumnPlan("n", "count", of="job=weaver", unsure=True),
        ColumnPlan("clubs", scale="multiple", split=", "),
    )
    table = TablePlan(
        "a b.csv", "00", {"separator": "\t", "decimal": ","}, (3, 51), "waves", "mean", "v=", "so", True, columns
    )
    plan = Plan((table, TablePlan("b.csv")), "impute", False, "names.csv", {"method": "tie-model", "degree": 4})
    path = tmp_path / "plan.toml"
    write_plan(plan, path)
    assert read_plan(path) == plan


def test_a_study_read_by_its_own_plan_is_the_same(survey):
    path = edited(survey, "gaps", "gaps")
    study = read_study(path)
    assert study.signals.equals(read_study(survey).signals)
    assert study.plan == read_study(survey).plan


def test_columns_that_are_read_alike_share_a_line(survey):
    assert '"q1..q3" = {' in plan_text(read_study(survey).plan)


def test_a_changed_line_changes_what_is_read(survey):
    study = read_study(edited(survey, 'side = {role = "answer"', 'side = {role = "group"'))
    assert [name for name in study.signals.index if name.startswith("side")] == []
    assert study.ties.groups["side"].tolist() == ["n", "s"] * 6


def test_a_line_of_one_column_takes_it_out_of_a_run(survey):
    study = read_study(edited(survey, '"q1..q3"', 'q2 = "ignore"\n"q1..q3"'))
    assert "q2" in study.signals.index  # the later line counts
    path = survey.with_name("plan.toml")
    path.write_text(path.read_text().replace('q2 = "ignore"\n', "") + 'q2 = "ignore"\n')
    assert "q2" not in read_study(path).signals.index


def test_thousands_of_columns_take_few_lines():
    roles = ("answer", "ignore", "group")
    columns = tuple(ColumnPlan(f"g{k}", roles[k % 3]) for k in range(8000))
    plan = Plan((TablePlan("genes.csv", columns=columns),))
    text = plan_text(plan)
    assert text.count("\n") < MOST_LINES
    lines = tomllib.loads(text)["tables"][0]["columns"]
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('role = "id"', 'role = "ident"', r'plan.toml, line 18: role = "ident" is not known: write id, label, answer'),
        ("age = {", "agee = {", r"plan.toml, line 19: there is no column 'agee': there are name, age"),
        ('age = {role = "answer"', 'age = {role = "id"', r"plan.toml, line 19: 'age' is a second id, and 'name'"),
        ('rows = "people"', 'rows = "poeple"', r'plan.toml, line 1\d: rows = "poeple" is not known'),
        ('gaps = "auto"', 'gap = "auto"', r"plan.toml, line 5: 'gap' is not part of a plan"),
        ('scale = "number"', 'scal = "number"', r"plan.toml, line 19: 'scal' is not part of a column"),
        ('file = "survey.csv"', "", r"plan.toml.*a table has no file"),
        ("gaps = ", "gaps == ", r"plan.toml is not a plan in TOML"),
    ],
)
def test_what_is_wrong_in_a_plan_is_said_with_its_line(survey, before, after, message):
    path = edited(survey, before, after)
    with pytest.raises(PlanError, match=message):
        read_study(path)


def test_a_file_that_changed_since_is_refused(survey):
    path = edited(survey, "gaps", "gaps")
    survey.write_text(SURVEY.replace("p03,23", "p03,24"))
    with pytest.raises(InputError, match=r"survey.csv has changed since the plan was made: .* remove the line sha256"):
        read_study(path)


def test_runs_that_go_backwards_are_no_runs():
    plan = TablePlan("a.csv", columns=(ColumnPlan("q3..q1"),))
    with pytest.raises(PlanError, match=r"there is no column 'q3\.\.q1'"):
        resolved(plan, ["q1", "q2", "q3"])

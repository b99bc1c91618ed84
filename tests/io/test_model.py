"""model.json stores its record, and other files are refused."""

import json
import os
from dataclasses import replace

import pytest

from nashgraph.certificate import exact
from nashgraph.io import FileRecord, Job, ModelRecord, TableError, TableOptions, read_record, record_to_json
from nashgraph.io.model_record import record_from_json

RECORD = ModelRecord(
    job=Job("learn", "glgp", {"lam": 2.0, "beta": None}, TableOptions(drop=("a", "b"), missing="impute"), title="Ω"),
    input=FileRecord("../a.csv", "ab", 12),
    truth=FileRecord("../t.csv", "cd", 3),
    nodes=3,
    signals=2,
    edges=4,
    edges_sha256="ef",
    certificate={**exact().as_dict(), "objective": 1.5},
    scores={"auc": 0.75},
    notes=["said"],
    seconds=0.1,
    versions={"python": "3"},
)


def test_there_and_back():
    assert record_from_json(record_to_json(RECORD)) == RECORD


def test_strict_json():
    text = record_to_json(replace(RECORD, certificate={"gap": float("inf"), "deep": [float("nan"), 1.0]}))
    content = json.loads(text, parse_constant=pytest.fail)
    assert content["certificate"] == {"gap": None, "deep": [None, 1.0]}


@pytest.mark.parametrize("number", ["Infinity", "-1e999", "NaN"])
def test_numbers_that_are_not_finite_are_read_as_none(number):
    text = record_to_json(RECORD).replace('"objective": 1.5', f'"objective": {number}')
    assert record_from_json(text).certificate["objective"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.pop("format"), "not a model of nashgraph"),
        (lambda content: content.update(version=99), "version 99 and this nashgraph reads version 1"),
        (lambda content: content.pop("input"), "is damaged at its top: object missing required field `input`"),
        (lambda content: content.update(input=[]), "is damaged at input: expected `object`, got `array`"),
        (lambda content: content.update(nodes="3"), "is damaged at nodes: expected `int`, got `str`"),
        (lambda content: content.update(edges=-1), "is damaged at edges: expected `int` >= 0"),
        (lambda content: content.update(notes=[1]), r"is damaged at notes\[0\]: expected `str`, got `int`"),
        (
            lambda content: content["job"]["table"].update(nodes="diagonals"),
            "job.table: nodes='diagonals' is not known",
        ),
        (lambda content: content["job"]["table"].update(drop="age"), "job.table.drop: expected `array`, got `str`"),
        (lambda content: content["certificate"].update(value=[1]), r"at certificate\[...\]: expected"),
        (lambda content: content.update(certificate="\ud800"), "is damaged at its top: 'utf-8' codec can't encode"),
        (lambda content: content["job"].update(evil=1), "has a field 'job.evil' that this nashgraph does not know"),
    ],
)
def test_what_is_no_model_is_said(change, message):
    content = json.loads(record_to_json(RECORD))
    change(content)
    with pytest.raises(TableError, match=message):
        record_from_json(json.dumps(content))


def test_a_folder_stands_for_the_model_in_it(tmp_path):
    (tmp_path / "model.json").write_text(record_to_json(RECORD), encoding="utf-8")
    assert read_record(tmp_path) == (RECORD, tmp_path / "model.json")
    (tmp_path / "model.json").write_bytes(b"\xff\xfe")
    with pytest.raises(TableError, match="not text"):
        read_record(tmp_path)
    if hasattr(os, "mkfifo"):
        (tmp_path / "model.json").unlink()
        os.mkfifo(tmp_path / "model.json")
        with pytest.raises(TableError, match=r"model\.json is not a file"):
            read_record(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("1" * 5000, "not JSON"),
        ("", "not JSON"),
        ("null", "not a model"),
        ('{"format": "nashgraph model", "version": 1, "nodes": NaN}', "damaged at nodes"),
    ],
)
def test_what_is_hardly_json_is_said(text, message):
    with pytest.raises(TableError, match=message):
        record_from_json(text)


def test_a_file_of_before_a_field_came_is_read():
    content = json.loads(record_to_json(RECORD))
    for later in ("known", "nodes_sha256"):
        content.pop(later)
    content["known_weights"] = {"consensus": 1.0}  # from before the tie model learned from known ties
    assert record_from_json(json.dumps(content)) == RECORD


def test_the_smoothness_cost_had_another_name():
    old = record_to_json(replace(RECORD, certificate={"fidelity": 1.5}))
    assert record_from_json(old).certificate == {"smoothness_cost": 1.5}


def test_a_name_that_is_no_text_comes_back():
    record = replace(RECORD, input=FileRecord("\udcff.csv", "ab", 1))
    assert record_from_json(record_to_json(record)) == record


def test_a_model_that_is_no_text_is_said(tmp_path):
    (tmp_path / "model.json").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(TableError, match=r"model\.json is not text, so it is not a model"):
        read_record(tmp_path / "model.json")

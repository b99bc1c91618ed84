"""``nashgraph ui``: which requests it accepts, one run at a time, the same options and results as the command line."""

import inspect
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile
from contextlib import suppress
from dataclasses import fields, replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.raw_files import EXPECTED

from nashgraph import read_study
from nashgraph.cli import app as commands
from nashgraph.cli.messages import TOLD, Meter
from nashgraph.cli.reading import three_lines
from nashgraph.io import TableOptions, read_plan
from nashgraph.io.plan_file import resolved

from ..commands import run, run_as_given

pytest.importorskip("starlette", reason="it is not installed: pip install 'nashgraph[ui]'")
pytest.importorskip("uvicorn", reason="it is not installed: pip install 'nashgraph[ui]'")

from nashgraph.cli.ui import form, server

from .ui_server import opened

SURVEY = Path(__file__).parents[2] / "examples" / "survey.csv"
TABLE = "id,age,income\nann,31,5\nbob,45,7\ncat,28,6\ndan,60,4\neve,39,9\n"
QUICK = {"set:n_replicates": "0"}
RAW = Path(os.environ.get("NASHGRAPH_DATA", "")) / "raw"


@pytest.fixture(scope="module")
def shared():
    """An app for the tests that change nothing in it."""
    with opened() as app:
        app.upload("t.csv", TABLE)
        yield app


@pytest.fixture
def fresh():
    with opened() as app:
        yield app


@pytest.mark.parametrize("host", ["evil.example", "localhost:{port}", "127.0.0.1", "127.0.0.1:{port}.evil.example"])
def test_only_its_own_host_is_answered(shared, host):
    assert shared.ask("GET", "/", host=host.format(port=shared.port))[0] == 421


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://localhost:{port}", "https://{host}"])
@pytest.mark.parametrize("path", ["/do/delete", "/do/learn", "/file/file", "/do/nothing"])
def test_what_changes_anything_must_come_from_its_own_page(shared, origin, path):
    origin = origin and origin.format(port=shared.port, host=shared.host)
    assert shared.ask("POST", path, "id,a\n1,2\n", origin=origin)[0] == 403
    assert shared.session.file == "t.csv"


@pytest.mark.parametrize("token", [None, "wrong", "é"])
@pytest.mark.parametrize("path", ["/", "/progress", "/network.zip", "/assets/ui.js", "/?token=wrong", "/files/x/a"])
def test_nothing_is_answered_without_the_token(shared, token, path):
    status, _, text = shared.ask("GET", path, token=token)
    assert status == 403
    assert "nashgraph ui printed" in text


def test_the_first_address_gives_the_token_as_a_cookie_and_takes_it_out_of_the_address(shared):
    status, headers, _ = shared.ask("GET", f"/?token={shared.session.token}", token=None)
    assert status == 303
    assert headers["location"] == "/"
    assert shared.session.token in headers["set-cookie"]
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=strict" in headers["set-cookie"]


def test_every_answer_forbids_what_the_page_does_not_need(shared):
    for path in ("/", "/nowhere", "/assets/htmx.min.js"):
        headers = shared.ask("GET", path)[1]
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
    for path in (f"/files/{shared.session.key}/report.html", "/files/a"):  # a report is of another origin than the app
        assert shared.ask("GET", path)[1]["content-security-policy"].startswith("sandbox allow-scripts ")
        assert "allow-same-origin" not in shared.ask("GET", path)[1]["content-security-policy"]


def test_only_this_machine_can_reach_it(shared):
    assert server.LOOPBACK == "127.0.0.1"
    with socket.create_connection(("127.0.0.1", shared.port), timeout=5):
        pass
    names = []
    with suppress(socket.gaierror):  # a machine without a name in any list
        names = socket.getaddrinfo(socket.gethostname(), None)
    for other in {"127.0.0.2", *(found[4][0] for found in names)}:
        if other not in ("127.0.0.1", "::1"):
            with (
                pytest.raises((ConnectionError, TimeoutError)),
                socket.create_connection((other, shared.port), timeout=1),
            ):
                pass


def test_no_option_sets_another_address():
    assert {*inspect.signature(commands.ui).parameters} == {"port", "browser"}


def test_a_port_in_use_is_an_error_that_says_so(shared):
    result = run_as_given("ui", "--no-browser", "--port", shared.port)
    assert result.exit_code == 1
    assert f"port {shared.port} cannot be used" in result.stderr
    assert "--port" in result.stderr


@pytest.mark.parametrize(
    "path",
    [
        "../t.csv",
        "..%2ft.csv",
        "%2e%2e/t.csv",
        "../../work/t.csv",
        "//etc/passwd",
        "link.csv",
        "inner/../../t.csv",
        "",
        "%00",
    ],
)
def test_results_are_the_only_files_that_can_be_read(shared, path):
    out = shared.session.folder / "nashgraph-out"
    (out / "inner").mkdir(parents=True, exist_ok=True)
    (out / "edges.csv").write_text("source,target\n")
    if not (out / "link.csv").is_symlink():
        (out / "link.csv").symlink_to(shared.session.folder / "t.csv")
    key = shared.session.key
    assert shared.ask("GET", f"/files/{key}/edges.csv", token=None)[2] == "source,target\n"
    status, _, text = shared.ask("GET", f"/files/{key}/{path}")
    assert status == 404
    assert "ann" not in text
    assert shared.ask("GET", f"/assets/{path}")[0] == 404
    assert shared.ask("GET", "/assets/setup.html")[0] == 404


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../evil.csv", "evil.csv"),
        ("/etc/evil.csv", "evil.csv"),
        ("..\\..\\evil.csv", "evil.csv"),
        ("--out=x.csv", "out=x.csv"),
        (".hidden.csv", "hidden.csv"),
        ("a\nb\x00.csv", "ab.csv"),
        ("", "table.csv"),
    ],
)
def test_an_uploaded_file_stays_in_the_folder_whatever_its_name(fresh, name, kept):
    assert fresh.upload(name, TABLE)[0] == 200
    assert [file.name for file in fresh.session.folder.iterdir()] == [kept]
    assert fresh.session.reading.problem == ""


def test_no_uploaded_file_takes_the_place_of_another(fresh):
    fresh.upload("a.csv", TABLE)
    fresh.upload("known-a.csv", "source,target\nann,bob\n", kind="truth")
    _, _, known = fresh.upload("A.csv", "source,target\ndan,eve\n", kind="known")
    files = {"file": fresh.session.file, **fresh.session.files}
    assert files == {"file": "a.csv", "truth": "known-a.csv", "known": known}
    assert len({name.casefold() for name in files.values()}) == 3
    assert "ann,bob" in (fresh.session.folder / "known-a.csv").read_text()


def test_a_long_name_in_letters_of_three_bytes_is_shortened(fresh):
    fresh.upload("村" * 86 + ".csv", TABLE)
    known = fresh.upload("村" * 86 + ".csv", "source,target\ndan,eve\n", kind="known")[2]
    assert fresh.session.reading.problem == ""
    assert fresh.session.file.endswith("村村.csv")
    assert known == f"known-{fresh.session.file}"


def test_a_page_opened_while_the_table_is_read_says_so(fresh):
    fresh.session.file, fresh.session.reading_now = "t.csv", True
    status, _, text = fresh.ask("GET", "/")
    assert (status, "Reading t.csv" in text) == (200, True)
    assert fresh.ask("GET", "/progress")[0] == 204
    assert fresh.do("columns") == (409, "t.csv is being read: wait for it")
    fresh.session.reading_now = False
    fresh.upload("t.csv", TABLE)
    assert "people: 5" in fresh.ask("GET", "/progress")[2]


def test_a_large_table_is_read_in_a_process_that_cancel_ends(fresh):
    session = fresh.session
    session.quick_bytes = 0
    fresh.upload("t.csv", TABLE)
    assert session.reading.problem == ""
    assert session.reading.lines[0].startswith("people: 5")
    wide = ",".join(["name", *(f"q{k}" for k in range(100_000))]) + "\n"
    (session.folder / "t.csv").write_text(wide + "".join(f"p{k}" + ",1" * 100_000 + "\n" for k in range(20)))
    reading = threading.Thread(target=session.read, args=({},))
    reading.start()
    while session.reader is None and reading.is_alive():
        time.sleep(0.01)
    session.cancel({})
    reading.join(timeout=20)
    assert not reading.is_alive()
    assert session.reading.problem == "reading was cancelled: choose a file"


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_a_browser_gets_a_private_file_and_does_not_hold_up_the_server(tmp_path):
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {seen}\nsleep 60\n')  # as a browser in the console
    browser.chmod(0o700)
    line = [sys.executable, "-m", "nashgraph", "ui"]
    with subprocess.Popen(line, env={**os.environ, "BROWSER": str(browser)}, stdout=subprocess.PIPE, text=True) as app:
        try:
            address = app.stdout.readline().split()[-1]
            with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address, timeout=20) as answer:
                assert answer.status == 200
            end = time.monotonic() + 20
            while not seen.exists() or not seen.read_text():
                assert time.monotonic() < end
                time.sleep(0.05)
            opened_file = Path(urllib.request.url2pathname(seen.read_text().removeprefix("file://")))
            assert "token" not in seen.read_text()
            assert address in opened_file.read_text()
            assert opened_file.stat().st_mode & 0o077 == 0
            assert opened_file.parent.stat().st_mode & 0o077 == 0
        finally:
            app.send_signal(signal.SIGINT)


def test_a_file_that_is_too_large_is_refused_and_not_kept(fresh, monkeypatch):
    monkeypatch.setattr(server, "MOST_BYTES", 20)
    status, _, text = fresh.upload("t.csv", TABLE)
    assert status == 422
    assert "t.csv is too large" in text
    assert [*fresh.session.folder.iterdir()] == []
    monkeypatch.setattr(server, "MOST_FORM", 20)
    assert "too large" in fresh.do("command", **{"set:title": "x" * 100})[1]


@pytest.mark.slow
def test_an_upload_that_breaks_off_leaves_nothing_and_no_traceback(fresh, capfd):
    own = f"Host: {fresh.host}\r\nOrigin: http://{fresh.host}\r\nCookie: nashgraph-{fresh.port}={fresh.session.token}"
    with socket.create_connection(("127.0.0.1", fresh.port)) as connection:
        connection.sendall(f"POST /file/file HTTP/1.1\r\n{own}\r\nX-File-Name: t.csv\r\n".encode())
        connection.sendall(b"Content-Length: 99\r\n\r\nid,age")
        while not (fresh.session.folder / "t.csv").exists():
            time.sleep(0.01)
    while (fresh.session.folder / "t.csv").exists():
        time.sleep(0.01)
    assert fresh.ask("GET", "/")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def test_a_second_run_is_refused_and_the_first_can_be_cancelled_and_deleted(fresh):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(400, 60))).add_prefix("q")
    fresh.upload("wide.csv", table.to_csv(index=False))
    assert "Learning the network of wide.csv" in fresh.do("learn")[1]
    for action in ("learn", "columns", "edit", "command"):
        status, text = fresh.do(action)
        assert status == 409
        assert "one run at a time" in text
    assert fresh.upload("other.csv", TABLE)[0] == 409
    assert "so far" in fresh.ask("GET", "/progress")[2]
    assert "Cancelled" in fresh.do("cancel")[1]
    fresh.do("learn")
    fresh.session.job.process.kill()
    assert "ended by the system" in fresh.learned()
    assert not fresh.session.job.running
    assert fresh.do("learn")[0] == 200
    child = fresh.session.job.process
    assert "Choose a file" in fresh.do("delete")[1]
    assert child.returncode is not None
    assert [*fresh.session.folder.iterdir()] == []
    assert fresh.ask("GET", "/network.zip")[0] == 404


def test_every_option_of_learn_is_a_field_or_has_another_place():
    parameters = {*inspect.signature(commands.learn).parameters}
    places = [
        *(field.name for field in form.form_fields()),
        *("file", "group", *form.OF_PLAN, *form.READING, *form.NOT_OFFERED),
    ]
    assert len(places) == len({*places})
    assert {*places} == parameters
    # Every option of reading a table is one of the command, except the choice of one group.
    assert {field.name for field in fields(TableOptions)} - {"only"} <= parameters
    # No field names a path on this machine: such a file is uploaded.
    paths = {name for name, each in inspect.signature(commands.learn).parameters.items() if "Path" in str(each)}
    assert paths - {*form.NOT_OFFERED, *form.OF_PLAN} == {*form.uploads()} >= {"file", "known", "truth"}


def test_a_new_option_of_learn_is_in_the_form_by_itself(monkeypatch, fresh):
    learn = commands.learn
    signature = inspect.signature(learn)
    like = signature.parameters["degree"]
    more = [*signature.parameters.values(), like.replace(name="brand_new")]

    def longer(**given):
        return learn(**given)

    longer.__signature__ = signature.replace(parameters=more)
    monkeypatch.setattr(form, "learn", longer)
    form.options_of_learn.cache_clear()
    try:
        fresh.upload("t.csv", TABLE)
        assert "--brand-new" in fresh.ask("GET", "/")[2]
    finally:
        form.options_of_learn.cache_clear()


def test_fields_have_the_help_the_choices_and_the_limits_of_the_options():
    shown = " ".join(run_as_given("learn", "--help").stdout.split())
    for field in form.form_fields():
        assert (f" {field.name}" if field.is_setting else field.option) in shown, field
    by_name = form.options_of_learn()
    assert by_name["missing"].choices == ("auto", "error", "pairwise", "impute")
    assert "glgp" in by_name["method"].choices
    assert by_name["random_state"].option == "--seed"
    assert by_name["standardize"].typed("no") == ["--set", "standardize=no"]
    assert by_name["n_replicates"].help.startswith("Networks that the consensus learns")


def test_every_field_gives_words_that_the_command_understands():
    values = {"choice": lambda field: field.choices[-1], "number": lambda field: "1", "list": lambda field: "tol=1e-3"}
    for field in (field for field in form.form_fields() if field.kind != "file"):
        for value in ("yes", "no") if field.kind == "switch" else ("yes",) if field.kind == "flag" else (None,):
            text = value or values.get(field.kind, lambda field: ";")(field)
            words = field.words({f"set:{field.name}": text})
            found = form.parsed(["learn", "t.csv", *words])[field.name]
            found = [*found] if isinstance(found, tuple) else found  # as some versions of Typer have it
            wanted = {"yes": True, "no": False}.get(value, ["tol=1e-3"] if field.kind == "list" else text)
            assert str(found) == str(wanted) or float(found) == float(wanted), field


ASKED = """name,job,weaver,age,trust,mood,when,n_friends,n_friends_weaver,friend1,friend2,visit
ann,weaver,1,31,never,3,2024-01-01,2,1,bob,cat,1
bob,smith,0,45,often,9,2024-01-02,1,1,ann,,2
cat,weaver,1,-99,rarely,1,2024-01-03,2,1,ann,dan,3
dan,farmer,0,60,often,2,2024-01-04,2,2,cat,eve,1
eve,smith,0,39,refused,3,2024-01-05,1,0,dan,,2
fay,farmer,0,22,never,1,2024-01-06,0,0,,,3
gus,smith,0,71,rarely,2,2024-01-07,1,0,fay,,1
hal,farmer,0,52,often,3,2024-01-08,1,0,gus,,2
ida,smith,0,33,never,1,2024-01-09,1,0,hal,,3
joe,farmer,0,41,rarely,2,2024-01-10,2,0,ida,hal,1
kim,smith,0,47,often,1,2024-01-11,1,0,joe,,2
lee,farmer,0,29,never,2,2024-01-12,1,0,kim,,3
"""


def test_the_page_shows_the_plan_and_sending_it_back_changes_nothing(fresh):
    fresh.upload("t.csv", ASKED)
    plan = fresh.session.plan
    assert {column.name: column.role for column in plan.table.columns} == {
        "name": "id",
        "job": "answer",
        "weaver": "trait",
        "age": "answer",
        "trust": "answer",
        "mood": "answer",
        "when": "ignore",
        "n_friends": "n_ties",
        "n_friends_weaver": "count",
        "friend1": "names",
        "friend2": "names",
        "visit": "answer",
    }
    sent = fresh.sent()
    assert sent[f"order:{fresh.line('trust')}"] == "never < rarely < often"
    assert sent[f"missing:{fresh.line('age')}"] == "-99"
    assert sent[f"of:{fresh.line('n_friends_weaver')}"] == "weaver"
    for action in ("command", "columns"):
        assert fresh.change(action)[0] == 200
        assert fresh.session.plan == plan
    assert fresh.session.command == "nashgraph learn t.csv"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"role:job": "ignore"}, 'job = {role = "ignore", why = "chosen in the app"}'),
        ({"scale:visit": "category"}, 'visit = {role = "answer", scale = "category", why = "chosen in the app"}'),
        ({"missing:age": "-99; 71"}, 'missing = ["-99", "71"], why = "chosen in the app"}'),
        ({"order:trust": "often < rarely < never"}, 'order = ["often", "rarely", "never"]'),
        ({"role:n_friends_weaver": "ignore"}, 'n_friends_weaver = {role = "ignore", why = "chosen in the app"}'),
        ({"plan:only": "visit=1"}, 'only = "visit=1"'),
        ({"plan:standardize": "no"}, "standardize = false"),
        ({"plan:gaps": "impute"}, 'gaps = "impute"'),
    ],
)
def test_a_change_in_the_form_is_a_line_of_the_plan(fresh, change, line):
    fresh.upload("t.csv", ASKED)
    ((field, value),) = change.items()
    part, name = field.split(":")
    field = field if part == "plan" else f"{part}:{fresh.line(name)}"
    action = "columns" if part == "plan" else "command"
    status, text = fresh.change(action, **{field: value})
    assert (status, fresh.session.reading.problem) == (200, "")
    assert action == "columns" or "plan.toml" in text
    assert line in fresh.ask("GET", "/plan.toml")[2]
    assert fresh.session.command == "nashgraph learn plan.toml"
    # The page and the command describe the same plan in the same lines.
    study = read_study(fresh.session.folder / "plan.toml")
    assert study.plan == fresh.session.plan
    assert fresh.session.reading.lines == tuple(three_lines(study)[:2])


def test_a_plan_that_cannot_be_followed_is_refused_at_once_and_can_be_corrected(fresh):
    fresh.upload("t.csv", ASKED)
    text = fresh.change(**{f"scale:{fresh.line('job')}": "number"})[1]
    assert "column &#39;job&#39; is read as number" in text
    status, text = fresh.do("learn", **fresh.sent())
    assert (status, "is read as number" in text) == (422, True)
    assert fresh.session.job is None
    fresh.change(**{f"scale:{fresh.line('job')}": "category"})
    assert fresh.session.reading.problem == ""
    status, text = fresh.change(**{f"role:{fresh.line('age')}": "id"})
    assert status == 422
    assert text == "'name' and 'age' cannot both be the id: one column identifies people"


def test_the_first_question_has_its_columns_and_one_button(fresh):
    page = fresh.upload("t.csv", ASKED)[2]
    assert "Do people name their ties, count them, or only tell about themselves?" in page
    assert {"ask:names", "ask:counts", "ask:answers"} <= {*fresh.sent()}
    page = fresh.change("use")[1]
    assert "They name them in <bdi>friend1</bdi>, <bdi>friend2</bdi>." in page
    assert fresh.session.plan.table.of_role("names", "count", "n_ties")
    fresh.do("ask")
    sent = {name: value for name, value in fresh.sent().items() if name not in ("ask:names", "ask:counts")}
    page = fresh.do("use", **sent)[1]
    assert "They only tell about themselves" in page
    assert not fresh.session.plan.table.of_role("names", "count", "n_ties", "trait")
    assert fresh.session.command == "nashgraph learn plan.toml"


MISSPELT = "name,age,friend\n" + "".join(
    f"{name},{20 + place},{friend}\n"
    for place, (name, friend) in enumerate(
        [
            ("Asha Rao", "Binod Das"),
            ("Binod Das", "Chitra Nayr"),
            ("Chitra Nair", "Asha Roa"),
            ("Devi Shah", "Gita Sen"),
            ("Gita Sen", "Hari Rao"),
            ("Hari Rao", "Devi Shah"),
            ("Indira Das", "Asha Rao"),
            ("Jaya Nair", "Zacharias Bloom"),
        ]
    )
)


def test_likely_spellings_are_used_after_a_click_and_only_those_that_are_ticked(fresh):
    page = fresh.upload("names.csv", MISSPELT)[2]
    assert fresh.session.file == "file-names.csv"  # names.csv is the app's own
    assert fresh.session.reading.likely == [("Asha Roa", "Asha Rao"), ("Chitra Nayr", "Chitra Nair")]
    assert "Use these 2 spellings" in page
    sent = {name: value for name, value in fresh.sent().items() if name != "spell:1"}
    fresh.do("spellings", **sent)
    assert fresh.session.reading.likely == [("Chitra Nayr", "Chitra Nair")]
    reports = read_study(fresh.session.folder / "plan.toml").ties.reports
    assert ("Chitra Nair", "Asha Rao") in set(zip(reports["source"], reports["target"], strict=True))
    fresh.change("spellings")
    assert fresh.session.reading.likely == []
    assert fresh.session.command == "nashgraph learn plan.toml"


def test_a_new_file_does_not_need_the_old_one_deleted(fresh):
    fresh.upload("t.csv", TABLE)
    page = fresh.do("new")[1]
    assert "Back to t.csv" in page
    assert "5, identified by" in fresh.do("back")[1]
    fresh.do("new")
    assert "3, identified by" in fresh.upload("u.csv", "id,a\nann,1\nbob,2\ncat,4\n")[2]
    assert [file.name for file in fresh.session.folder.iterdir()] == ["u.csv"]


def test_an_example_is_on_the_first_page(fresh):
    assert "Try an example" in fresh.ask("GET", "/")[2]
    page = fresh.do("example")[1]
    assert "They count them" in page
    assert len(fresh.session.plan.table.of_role("count")) == 10
    assert fresh.session.reading.problem == ""


def test_a_question_that_a_table_leaves_open_is_a_menu(fresh):
    twice = "name,age,q\n" + "".join(f"p{k % 6},{20 + k},{k % 4}\n" for k in range(12))
    page = fresh.upload("t.csv", twice)[2]
    assert "its values repeat: 6 of them in 12 rows" in fresh.session.reading.problem
    assert "its values repeat: 6 of them in 12 rows" in page
    # The answer may be what a row is, or which of the rows of a person count.
    fresh.change("columns", **{"plan:repeats": "mean"})
    assert fresh.session.reading.problem == ""
    assert fresh.session.reading.lines[0].startswith("people: 6")


@pytest.mark.slow
def test_errors_are_sentences(fresh):
    assert "cannot be read" in fresh.upload("a.xlsx", b"PK nothing")[2]
    assert "of no known kind" in fresh.upload("a.exe", b"MZ")[2]
    fresh.upload("t.csv", TABLE)
    status, text = fresh.do("learn", **{"set:degree": "many"})
    assert status == 422
    assert text.startswith("Invalid value for '--degree': "), "the rest is Click's, and differs between its versions"
    status, text = fresh.do("learn", **{"set:title": "a\0b"})
    assert (status, text) == (422, "'title=a\\x00b' has the character zero, which no command can have: delete it")
    assert fresh.session.job is None
    fresh.do("learn", **{**QUICK, "set:method": "glgp", "set:beta": "-1"})
    assert "beta" in fresh.learned()
    assert "beta" in fresh.ask("GET", "/")[2]
    assert fresh.do("nothing")[0] == 404


def test_names_in_a_table_are_never_markup(fresh):
    evil = "<script>alert(1)</script>"
    text = fresh.upload("t.csv", f"id,{evil},b\nann,<img src=x>,1\nbob,y,2\ncat,y,3\n")[2]
    assert evil not in text
    assert "<img" not in text
    assert "&lt;script&gt;" in text


def test_a_setting_about_the_file_has_it_read_again(fresh):
    fresh.upload("t.csv", "id|a|b\nann|1,5|2\nbob|2,5|3\ncat|4,5|1\n")
    fresh.change("columns", **{"set:separator": "|", "set:decimal": ","})
    assert [column.scale for column in fresh.session.plan.table.columns[1:]] == ["number", "ordered"]
    assert fresh.session.command == "nashgraph learn plan.toml"
    # The rows are something else than thought: roles are found again.
    answers = "who,question,answer\n" + "".join(f"p{k},q{j},{(k * j) % 5}\n" for k in range(8) for j in range(5))
    fresh.upload("long.csv", answers)
    assert fresh.session.plan.table.rows == "answers"
    fresh.change("columns", **{"plan:rows": "columns"})
    assert fresh.session.plan.table.rows == "columns"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "given"),
    [
        (SURVEY.read_text(), QUICK),
        (SURVEY.read_text(), {**QUICK, "role:1": "ignore", "missing:9": "5", "set:random_state": "3"}),
        (SURVEY.read_text(), {**QUICK, "set:group": "village"}),
        (SURVEY.read_text(), {**QUICK, "set:group": "village", "role:5": "ignore"}),
        (ASKED, {"role:1": "ignore"}),
        (ASKED, {}),
    ],
    ids=["plain", "likeness", "groups", "groups by a plan", "ties by a plan", "ties"],
)
def test_the_command_that_is_shown_gives_the_same_network(fresh, tmp_path, monkeypatch, table, given):
    fresh.upload("a table.csv", table)
    for stranger in ("random.py", "numpy.py", "nashgraph.py"):  # next to the table, and never imported
        (fresh.session.folder / stranger).write_text("raise SystemExit('code of the folder was run')")
    assert fresh.change("learn", **given)[0] == 200
    assert fresh.learned() == ""
    page = fresh.ask("GET", "/progress")[2]
    assert "Open the report" in page
    (tmp_path / "a table.csv").write_text(table)
    if fresh.session.is_edited:
        (tmp_path / "plan.toml").write_text(fresh.ask("GET", "/plan.toml")[2])
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(fresh.session.command)
    assert program == "nashgraph"
    assert words[1] == ("plan.toml" if any(":" in name and name[:4] != "set:" for name in given) else "a table.csv")
    result = run(*words)
    assert result.exit_code in (0, 3), result.output
    ours, theirs = fresh.session.folder / "nashgraph-out", tmp_path / "nashgraph-out"
    tables = {str(file.relative_to(ours)) for file in ours.rglob("*.csv")}
    assert tables == {str(file.relative_to(theirs)) for file in theirs.rglob("*.csv")}
    for name in tables:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name


@pytest.mark.skipif(not RAW.is_dir(), reason="NASHGRAPH_DATA has no raw files")
@pytest.mark.parametrize("file", [name for name in EXPECTED if (RAW / name).is_file()])
def test_the_app_has_the_plan_of_the_command(fresh, tmp_path, file):
    fresh.upload(file, (RAW / file).read_bytes())
    out = tmp_path / "out"
    result = run_as_given("read", RAW / file, "--out", out)
    plan = fresh.session.plan
    if plan is None:  # no table that a plan could be made of
        assert result.exit_code == 1
        assert not (out / "plan.toml").exists()
        return
    commands_plan = read_plan(out / "plan.toml")
    assert len(commands_plan.tables) == len(plan.tables) == 1
    names = [column.name for column in plan.table.columns]
    lines = resolved(commands_plan.table, names).columns
    assert lines == plan.table.columns
    assert replace(commands_plan.table, file=plan.table.file, columns=lines) == plan.table
    assert (result.exit_code == 0) == (fresh.session.reading.problem == "")
    # The page sends the same plan back.
    assert fresh.change("command")[0] == 200
    assert fresh.session.plan == plan


def test_progress_is_read_out_of_the_lines_that_the_command_writes(tmp_path):
    meter = Meter()
    meter.tell(0.25, "6 of 24")
    assert TOLD.search(meter.line).groups() == ("25", None)
    meter.since -= 30.0
    meter.before, meter.share = 0.0, 0.5
    assert TOLD.search(meter.line).groups() == ("50", "30")
    assert TOLD.search(Meter().line).groups() == (None, None)


@pytest.mark.slow
def test_the_zip_has_the_folder_and_the_command(fresh):
    fresh.upload("t.csv", TABLE)
    fresh.upload("more ties.csv", "source,target\nann,bob\n", kind="truth")
    assert fresh.session.files == {"truth": "more ties.csv"}
    fresh.do("learn", **QUICK)
    assert fresh.learned() == ""
    archive = zipfile.ZipFile(BytesIO(fresh.session.zipped().read_bytes()))
    names = {*archive.namelist()}
    assert {"report.html", "edges.csv", "nodes.csv", "model.json", "plan.toml", "command.txt"} <= names
    command = "nashgraph learn t.csv --truth 'more ties.csv' --set n_replicates=0"
    assert archive.read("command.txt").decode().strip() == command
    assert fresh.ask("GET", "/network.zip")[1]["content-disposition"] == 'attachment; filename="t-network.zip"'
    assert fresh.do("edit")[0] == 200
    assert fresh.do("forget-truth")[0] == 200
    assert not (fresh.session.folder / "more ties.csv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", 0)])
@pytest.mark.skipif(os.name == "nt", reason="signals are of Unix")
def test_at_its_end_the_folder_is_deleted(tmp_path, how):
    line = [sys.executable, "-m", "nashgraph", "ui", "--no-browser"]
    started = subprocess.Popen(
        line, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    )
    address = started.stdout.readline().strip()
    assert address.startswith("open http://127.0.0.1:")
    port = int(address.partition("127.0.0.1:")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=30) as asked:
        asked.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert b"421" in asked.recv(100)
    (folder,) = tmp_path.glob("nashgraph-ui-*")
    assert folder.stat().st_mode & 0o777 == 0o700
    started.send_signal(how)
    started.communicate(timeout=30)
    assert not folder.exists()


def test_without_its_libraries_it_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "nashgraph.cli.ui.server")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = run_as_given("ui", "--no-browser")
    assert result.exit_code == 1
    assert "the app in the browser needs uvicorn: pip install 'nashgraph[ui]'" in result.stderr

"""Text tables: separators, marks, quotes, gaps."""

import pytest

from nashgraph.io import TableError, TableOptions, read_table
from nashgraph.io.text import read_text


@pytest.fixture
def write(tmp_path):
    def make(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


@pytest.mark.parametrize(("separator", "name"), [(",", "t.csv"), (";", "t.csv"), ("\t", "t.tsv"), ("|", "t.txt")])
def test_the_separator_is_found_and_said_unless_expected(write, separator, name):
    table, notes = read_text(write(separator.join("abc") + "\n" + separator.join("123") + "\n", name))
    assert list(table.columns) == ["a", "b", "c"]
    assert table.iloc[0].tolist() == [1, 2, 3]
    assert bool(notes) == ((separator, name) not in {(",", "t.csv"), ("\t", "t.tsv")})


def test_byte_order_mark_quotes_blank_lines_and_windows_ends(write):
    path = write(b'\xef\xbb\xbfid,"say ""hi""",b\r\n\r\nann,"1",2\r\n"bob, jr",3,\r\n')
    table, notes = read_text(path, exact=["id"])
    assert list(table.columns) == ["id", 'say "hi"', "b"]
    assert table["id"].tolist() == ["ann", "bob, jr"]
    assert table["b"].isna().tolist() == [False, True]
    assert notes == []


def test_exact_columns_keep_every_letter_and_text_columns_keep_zeros(write):
    path = write("id,code,x\nNA,01,1\n007,,2\n,02,3\n")
    table, _ = read_text(path, TableOptions(categorical=("code",)), exact=["id"])
    assert table["id"].tolist() == ["NA", "007", ""]
    assert table["code"].tolist()[0] == "01"
    assert table["code"].isna().tolist() == [False, True, False]


def test_decimal_comma(write):
    table, _ = read_text(write("a;b;c\n1,5;2;1.234\n-0,25;3;850\n"), TableOptions(decimal=","))
    assert table["a"].tolist() == [1.5, -0.25]
    assert table["c"].tolist() == ["1.234", "850"]  # thousands: no plain numbers


def test_codes_stay_what_they_are(write):
    table, _ = read_text(write("zip,long,share,n\n02139,12345678901234567890,0.5,0\n10001,1,0,10\n"))
    assert table["zip"].tolist() == ["02139", "10001"]
    assert table["long"].tolist() == ["12345678901234567890", "1"]
    assert table[["share", "n"]].to_numpy().tolist() == [[0.5, 0], [0, 10]]


def test_comments_on_top_are_left_out_and_lines_keep_their_numbers(write):
    path = write("# Survey of 1973\r\n\r\n# by hand; not checked\r\na,b\r\n1,2\r\n3,#4\r\n")
    table, notes = read_text(path)
    assert table["a"].tolist() == [1, 3]
    assert table["b"].tolist() == ["2", "#4"]
    assert notes == ["table.csv: left out 3 line(s) on top that begin with '#'"]
    table, notes = read_text(write("# Survey of 1973, second wave\n# name, age\nann,31\nbob,45\n"))
    assert list(table.columns) == ["name", "age"]
    assert table["age"].tolist() == [31, 45]
    assert notes == ["table.csv: the last line on top that begins with '#' was taken as names"]
    with pytest.raises(TableError, match="line 3 has 1 field"):
        read_text(write("# Survey\na,b\n1\n"))
    with pytest.raises(TableError, match=r"table.csv is empty"):
        read_text(write("# Survey\n"))


def test_lines_of_many_sensors(write):
    names, values = [f"sensor {k:0200}" for k in range(1000)], ["12.5"] * 1000
    table, _ = read_text(write(",".join(names) + "\n" + ",".join(values) + "\n"))
    assert table.shape == (1, 1000)
    assert table[names[-1]].tolist() == [12.5]


@pytest.mark.parametrize("separator", "§😀 ~")
def test_any_character_separates(write, separator):
    table, _ = read_text(write(f"a{separator}b\n1{separator}x\n"), TableOptions(separator=separator))
    assert table.iloc[0].tolist() == [1, "x"]


def test_files_without_header(write):
    table, _ = read_text(write("1,2\n3,4\n"), TableOptions(header=False))
    assert list(table.columns) == ["column 1", "column 2"]
    assert len(table) == 2


def test_a_header_of_numbers_is_said_aloud(write):
    _, notes = read_text(write("1,2\n3,4\n"))
    assert "--set header=no" in notes[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 fields and the first line has 2"),
        ("a,b\n1,2\n\n3\n", "line 4 has 1 field and"),
        ('a,b\n1,"2\n', "a quotation mark in line 2 is never closed"),
        ("a,b,a\n1,2,3\n", r"column name 'a' more than once \(columns 1, 3\)"),
        ("a,b\n1\n1,2\n1,2,3\n", "line 2 has 1 field and the first line has 2; so it is in 2 lines: 2, 4"),
        ("a,a\n1\n", "2 problems: .1. table.csv: line 2 has 1 field.* .2. .*column name 'a' more than once"),
    ],
)
def test_broken_text_is_placed(write, content, message):
    with pytest.raises(TableError, match=message):
        read_text(write(content))


def test_utf_16_is_read_when_told(write):
    table, _ = read_text(write("a,b\n1,2\n".encode("utf-16")), TableOptions(encoding="utf-16"))
    assert list(table.columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'id,a\nn0,1\n"n1,1\nn2,2\nn3,3\n', "a quotation mark in line 3 is never closed"),
        (b"id,a\nn1,1\0\nn2,2\n", "remove the character NUL in line 2"),
        ("id,a\nn1,1\nn2,2\n".encode("utf-16-le"), "pass --set encoding=utf-16-le"),
    ],
)
def test_quotation_marks_and_zeros_are_placed(tmp_path, content, said):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(TableError, match=said):
        read_table(tmp_path / "t.csv")

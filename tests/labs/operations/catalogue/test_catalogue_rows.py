from __future__ import annotations

import pytest

from labs.operations.catalogue.catalogue_rows import (
    FILE_BYTES_MAX,
    mark_formula,
    read_catalogue_folder,
    read_catalogue_rows,
    require_file_size,
    unmark_formula,
)
from portal.lib.errors import DomainError

HEADER = b"slug,name,first_line_address,city,zipcode\n"


def faults(content):
    found = read_catalogue_rows({"labs": content})
    assert found.rows["labs"] == []
    return [str(fault) for fault in found.faults]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            HEADER.replace(b",", b";") + b"n;N;1;P;8\n",
            "labs.csv, line 1: columns are separated by semicolons: use commas.",
        ),
        (
            HEADER.replace(b",", b"\t"),
            "labs.csv, line 1: columns are separated by tabs: use commas.",
        ),
        (
            HEADER + b"n,Caf\xe9,1,P,8\n",
            "labs.csv, line 2: byte 6 of the line is not UTF-8:"
            " save the file as UTF-8.",
        ),
        (
            (HEADER + b"n,N,1,P,8\n").decode().encode("utf-16"),
            "labs.csv, line 1: the file is UTF-16: save it as UTF-8.",
        ),
        (
            HEADER + b'n,N,1,P,8\nm,"open,1,P,8\n',
            "labs.csv, line 3: the quotes are not closed or not doubled"
            " (unexpected end of data).",
        ),
        (
            HEADER + b'n,"N" x,1,P,8\n',
            "labs.csv, line 2: the quotes are not closed or not doubled"
            " (',' expected after '\"').",
        ),
        (HEADER + b"n,N\0,1,P,8\n", "labs.csv, line 2: the line has a NUL character."),
        (
            b"slug,name,first_line_address,city,zipcode,nmae\n",
            "labs.csv, line 1, column 6 (nmae): the column is unknown.",
        ),
        (
            b"slug,name,first_line_address,city,zipcode,name\n",
            "labs.csv, line 1, column 6 (name): the column is there twice.",
        ),
        (
            b"",
            "labs.csv, line 1: add the missing columns to the header:"
            " slug, name, first_line_address, city, zipcode.",
        ),
        (
            HEADER + b"n,N,1,P,8,more\n",
            "labs.csv, line 2, column 6: more values than columns.",
        ),
        (
            HEADER + b"n," + b"x" * 20_001 + b",1,P,8\n",
            "labs.csv, line 2, column 2 (name): the value is too long.",
        ),
    ],
)
def test_a_file_of_another_form_is_named_with_its_place(content, said):
    assert faults(content) == [said]


def test_a_mark_quotes_and_line_ends_of_any_system_are_read():
    content = b'\xef\xbb\xbf"slug",name,first_line_address,city,zipcode\r\n'
    content += b'n,"North ""1""\r\nLab",1,P,8\r\n\r\nm,\xc3\xa4,1,P,8\r\n'

    found = read_catalogue_rows({"labs": content})

    assert found.faults == []
    assert [(row.line, row.values["name"]) for row in found.rows["labs"]] == [
        (2, 'North "1"\r\nLab'),
        (5, "ä"),
    ]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "'=1", "''-2", "\t=1"])
def test_a_formula_is_marked_and_read_back(text):
    marked = mark_formula(text)

    assert marked == f"'{text}"
    assert unmark_formula(marked) == text


@pytest.mark.parametrize("text", ["", "'", "'s", "Glucose", "1-2"])
def test_any_other_text_stays(text):
    assert mark_formula(text) == text
    assert unmark_formula(text) == text


def test_a_large_file_is_refused_by_its_size_before_it_is_read(tmp_path):
    for name in ("labs", "questions", "markers", "expected_results"):
        (tmp_path / f"{name}.csv").write_bytes(HEADER)
    with (tmp_path / "labs.csv").open("wb") as opened:
        opened.truncate(100 * 1024 * 1024)  # sparse: nobody writes 100 MB

    with pytest.raises(DomainError) as caught:
        read_catalogue_folder(tmp_path)

    assert caught.value.code == "lab_catalogue_invalid"
    assert caught.value.message == "labs.csv: the file is larger than 20 MB."
    require_file_size("labs.csv", FILE_BYTES_MAX)

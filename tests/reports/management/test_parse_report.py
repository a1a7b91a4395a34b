from __future__ import annotations

import os
import signal
import subprocess
import sys

import orjson
import pytest
from django.conf import settings
from django.core.management import call_command

from reports.management.commands import parse_report
from tests.factories.reports import make_letter, make_pdf, make_picture

# Opening a database would fail there, as it does in a test that names none.
NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.pdf"
    path.write_bytes(make_pdf())
    return path


@pytest.fixture
def letter(tmp_path):
    path = tmp_path / "letter.pdf"
    path.write_bytes(make_letter())
    return path


@pytest.fixture
def run(capsys):
    """Call it for the exit code, decoded stdout and the lines of stderr."""

    def run(*paths):
        end = SystemExit(0)
        try:
            call_command("parse_report", *map(str, paths))
        except SystemExit as refused:
            end = refused
        out, err = capsys.readouterr()
        printed = orjson.loads(out) if out else None
        return end.code, printed, err.splitlines()

    return run


def start(*paths, **environment):
    """The same of a process of its own."""
    found = subprocess.run(
        [sys.executable, "manage.py", "parse_report", *map(str, paths)],
        cwd=settings.BASE_DIR,
        env={"DATABASE_URL": NOWHERE, "SECRET_KEY": "x" * 50, **environment},
        capture_output=True,
        check=False,
    )
    printed = orjson.loads(found.stdout) if found.stdout else None
    return found.returncode, printed, found.stderr.decode().splitlines()


def test_one_report_is_printed_as_the_wires_data(report):
    code, printed, said = start(report)

    assert (code, said) == (0, [])
    assert printed["metadata"]["patient_first_name"] == "Rosa"
    assert [row["test_name"] for row in printed["results"]] == [
        "Glucose",
        "Creatinine",
        "Sodium",
        "Potassium",
    ]
    assert set(printed["results"][0]) == {
        "test_name",
        "value",
        "type",
        "units",
        "min_reference_range",
        "max_reference_range",
        "reference_range",
        "source_panel_name",
        "sample_type",
        "measurement_kind",
        "sensitivity",
        "loinc_matches",
        "loinc_match_status",
        "interpretation",
        "is_above_max_range",
        "is_below_min_range",
        "is_reviewed",
    }


def test_several_reports_are_keyed_by_file_name(run, report, tmp_path):
    second = tmp_path / "second.pdf"
    second.write_bytes(make_pdf(rows=(("Sodium", "140", "mmol/L", "135 - 145"),) * 3))

    code, printed, said = run(report, second)

    assert (code, said) == (0, [])
    assert list(printed) == ["report.pdf", "second.pdf"]


def test_files_of_one_name_are_keyed_by_path(run, report, tmp_path):
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "report.pdf"
    twin.write_bytes(make_pdf())

    _, printed, _ = run(report, twin)

    assert list(printed) == [str(report), str(twin)]


def test_what_cannot_be_read_is_named_by_its_reason(run, letter):
    assert run(letter) == (1, None, ["invalid_input"])


def test_a_missing_file_is_named(run, tmp_path):
    assert run(tmp_path / "nothing.pdf") == (1, None, ["file_not_found"])


def test_the_others_are_printed_when_one_cannot_be_read(run, report, letter):
    code, printed, said = run(letter, report)

    assert code == 1
    assert list(printed) == ["report.pdf"]
    assert said == ["letter.pdf: invalid_input"]


def test_a_file_that_ends_its_process_or_fills_memory_costs_itself_alone(
    run, report, tmp_path, monkeypatch
):
    kills, fills = tmp_path / "kills.pdf", tmp_path / "fills.pdf"
    read = parse_report.parse_report

    def parse(paths, **options):
        if paths == [kills]:
            os.kill(os.getpid(), signal.SIGKILL)
        if paths == [fills]:
            bytearray(2 * 1024**3)
        return read(paths, **options)

    monkeypatch.setattr(parse_report, "parse_report", parse)

    code, printed, said = run(kills, fills, report)

    assert code == 1
    assert list(printed) == ["report.pdf"]
    assert said == ["kills.pdf: processing_error", "fills.pdf: processing_error"]


def test_files_that_are_pages_are_one_report(run, report, tmp_path):
    blank = tmp_path / "blank.png"
    blank.write_bytes(make_picture("PNG"))

    assert run(blank, blank, "--pages") == (1, None, ["low_quality"])
    # A PDF is no page of another report.
    assert run(blank, report, "--pages") == (1, None, ["invalid_input"])


def test_no_server_is_started(report, tmp_path):
    data = tmp_path / "postgres"

    code, _, _ = start(report, DATABASE_URL="", EMBEDDED_POSTGRES_DIR=str(data))

    assert code == 0
    assert not data.exists()

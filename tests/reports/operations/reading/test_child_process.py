from __future__ import annotations

import subprocess
from datetime import timedelta

import pytest

from reports.operations.reading import child_process, extraction
from reports.operations.reading.extraction import parse_stored_report_files
from reports.parser.report import UnreadableReport
from tests.factories.reports import make_parsed
from tests.reports.operations.reading.children import answer, say


def test_a_child_that_shows_life_may_take_longer(child, report, monkeypatch):
    monkeypatch.setattr(extraction, "PARSE_TIMEOUT", timedelta(seconds=2))
    child(
        "import time\n"
        "for _ in range(6):\n"
        "    time.sleep(0.5)\n"
        "    os.write(1, b' ')\n" + answer()
    )

    assert parse_stored_report_files(report) == make_parsed()


def test_a_child_that_only_shows_life_is_stopped(child, report, monkeypatch):
    monkeypatch.setattr(extraction, "PARSE_TIMEOUT", timedelta(seconds=1))
    monkeypatch.setattr(child_process, "MOST_STEPS", 2)
    child("import time\nwhile True:\n    os.write(1, b' ')\n    time.sleep(0.1)")

    with pytest.raises(UnreadableReport) as unreadable:
        parse_stored_report_files(report)

    assert unreadable.value.reason == "processing_error"


def test_a_child_that_dies_before_it_is_asked_answers_nothing():
    dead = subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    dead.wait()

    assert child_process._exchange_with_child(dead, b"{}", timedelta(seconds=9)) == b""


def test_the_child_gets_no_secrets(child, report, monkeypatch, caplog):
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:secret@db/assay")
    monkeypatch.setenv("SECRET_KEY", "secret")
    child(say("sorted(os.environ)"))

    with pytest.raises(UnreadableReport):
        parse_stored_report_files(report)

    logged = caplog.messages[-1]
    assert "PATH" in logged
    assert "DATABASE_URL" not in logged
    assert "SECRET_KEY" not in logged

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from reports.models import ParsingJob, ReportResult
from reports.web.jobs.rows import (
    build_result_row_with_range_bar,
    get_polling_interval_seconds,
    group_rows_by_panel,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def build_result(**fields):
    given = {
        "test_name": "Ferritin",
        "value": "18",
        "type": "numeric",
        "units": "ng/mL",
        "min_reference_range": 30,
        "max_reference_range": 200,
        "interpretation": "normal",
        "loinc_match_status": "auto_match",
        "loinc_matches": [{"loinc_code": "2276-4"}],
    }
    return ReportResult(**{**given, **fields})


@pytest.mark.parametrize(
    ("fields", "flag", "out_of_range"),
    [
        ({}, "normal", False),
        ({"interpretation": "unknown"}, "", False),
        ({"interpretation": "abnormal"}, "abnormal", True),
        ({"interpretation": "abnormal", "is_above_max_range": True}, "high", True),
        ({"interpretation": "abnormal", "is_below_min_range": True}, "low", True),
        ({"interpretation": "critical", "is_above_max_range": True}, "critical", True),
        ({"interpretation": "borderline"}, "borderline", True),
    ],
)
def test_a_flag_says_which_side_unless_it_is_critical(fields, flag, out_of_range):
    row = build_result_row_with_range_bar(build_result(**fields))

    assert (row.flag, row.is_out_of_range) == (flag, out_of_range)


@pytest.mark.parametrize(
    "fields",
    [
        {"value": "<5", "type": "range"},
        {"value": "Negative", "type": "comment"},
        {"value": "1,234", "type": "numeric"},
        {"value": "nan", "type": "numeric"},
        {"value": "inf", "type": "numeric"},
        {"min_reference_range": None, "max_reference_range": None},
    ],
)
def test_without_a_number_and_a_range_there_is_no_bar(fields):
    assert build_result_row_with_range_bar(build_result(**fields)).bar == ""


def test_a_number_with_a_range_has_a_bar():
    bar = build_result_row_with_range_bar(build_result()).bar

    assert 'aria-label="18 ng/mL, reference 30 to 200"' in bar


def test_a_match_to_be_checked_is_not_sure():
    row = build_result_row_with_range_bar(
        build_result(loinc_match_status="needs_review")
    )

    assert (row.loinc_code, row.is_match_sure) == ("2276-4", False)


def test_no_candidate_is_no_code():
    row = build_result_row_with_range_bar(
        build_result(loinc_matches=[], loinc_match_status="no_match")
    )

    assert (row.loinc_code, row.is_match_sure) == ("", False)


def test_rows_stand_under_their_headings_in_reading_order():
    names = ["Lipids", "Lipids", None, "Iron", "Lipids"]
    rows = [
        build_result_row_with_range_bar(build_result(source_panel_name=name))
        for name in names
    ]

    assert [(panel.name, len(panel.rows)) for panel in group_rows_by_panel(rows)] == [
        ("Lipids", 2),
        ("", 1),
        ("Iron", 1),
        ("Lipids", 1),
    ]


@pytest.mark.parametrize(
    ("age_s", "pause"), [(0, 3), (59, 3), (60, 10), (599, 10), (600, 30), (90_000, 30)]
)
@pytest.mark.parametrize("status", ["upload_pending", "started"])
def test_the_longer_a_job_takes_the_slower_the_page_asks(status, age_s, pause):
    job = ParsingJob(status=status, created_at=NOW - timedelta(seconds=age_s))

    with time_machine.travel(NOW, tick=False):
        assert get_polling_interval_seconds([job]) == pause


def test_the_newest_open_job_sets_the_pace():
    old = ParsingJob(status="started", created_at=NOW - timedelta(hours=1))
    new = ParsingJob(status="started", created_at=NOW)

    with time_machine.travel(NOW, tick=False):
        assert get_polling_interval_seconds([old, new]) == 3


@pytest.mark.parametrize(
    "status", ["completed", "failed", "pending_review", "sent_to_the_moon"]
)
def test_a_job_that_nobody_reads_is_not_asked_for(status):
    assert (
        get_polling_interval_seconds([ParsingJob(status=status, created_at=NOW)])
        is None
    )

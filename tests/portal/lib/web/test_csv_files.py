from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from portal.lib.web.csv_files import build_csv_download, format_csv_timestamp


def test_a_file_is_named_after_what_it_holds_and_the_day(time_machine):
    time_machine.move_to(datetime(2026, 3, 20, 12, tzinfo=UTC))

    reply = build_csv_download(name="users", columns=("a", "b"), rows=[("1,5", 'x"y')])

    assert reply["Content-Type"] == "text/csv; charset=utf-8"
    assert reply["Content-Disposition"] == (
        'attachment; filename="users-2026-03-20.csv"'
    )
    assert reply.content == b'a,b\r\n"1,5","x""y"\r\n'


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t"])
def test_a_spreadsheet_takes_no_cell_for_a_formula(begin):
    reply = build_csv_download(name="users", columns=("a",), rows=[(f"{begin}1",)])

    assert reply.content == f"a\r\n'{begin}1\r\n".encode()


def test_a_moment_is_told_in_utc():
    rome = datetime(2026, 3, 20, 13, 5, 9, 700, tzinfo=timezone(timedelta(hours=1)))

    assert format_csv_timestamp(rome) == "2026-03-20T12:05:09Z"
    assert format_csv_timestamp(None) == ""

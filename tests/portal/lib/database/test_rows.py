from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from portal.lib.database import rows

pytestmark = pytest.mark.django_db
INDIA = timezone(timedelta(hours=5, minutes=30))
MOMENTS = [
    datetime(1900, 1, 1, tzinfo=UTC),
    datetime(2000, 1, 1, tzinfo=UTC),
    datetime(2026, 3, 1, 12, 0, 0, 1, tzinfo=INDIA),
]


@pytest.mark.parametrize(
    ("type_", "pack", "values"),
    [
        ("smallint", rows.pack_smallint_array, [-(2**15), -1, 0, 300, 2**15 - 1]),
        ("integer", rows.pack_integer_array, [-(2**31), 7, 2**31 - 1]),
        ("float8", rows.pack_double_array, [-0.1, 1e-300, 1e300, 72.0]),
        ("integer", rows.pack_integer_array, []),
    ],
    ids=["smallint", "integer", "float8", "empty"],
)
def test_a_packed_array_is_read_by_postgresql(type_, pack, values):
    found = rows.fetch_rows_with_packed_arrays(
        f"SELECT %(values)s::{type_}[]", {"values": pack(values)}
    )

    assert found == [(values,)]


def test_packed_moments_are_exact_in_any_zone():
    packed = rows.pack_timestamp_array(rows.convert_to_postgres_microseconds(MOMENTS))

    found = rows.fetch_rows_with_packed_arrays(
        "SELECT %(values)s::timestamptz[]", {"values": packed}
    )

    assert found == [(MOMENTS,)]


def test_a_number_that_does_not_fit_is_refused():
    with pytest.raises(OverflowError):
        rows.pack_smallint_array([2**15])


def test_a_statement_without_rows_gives_none():
    found = rows.fetch_rows_with_packed_arrays(
        "DELETE FROM users_user WHERE id = ANY(%(ids)s::smallint[])",
        {"ids": rows.pack_smallint_array([1])},
    )

    assert found == []

from __future__ import annotations

from datetime import UTC, datetime

import psycopg
import pytest
from django.db import connection, transaction

from portal.lib.database import rows
from portal.lib.database.prepared import (
    NamedStatement,
    PreparedStatement,
    Read,
    StatementByIndex,
    read_ahead,
)

_TYPES = PreparedStatement(
    "test_types", "SELECT $1::int, $2::text, $3::jsonb, $4::timestamptz, $5::bool"
)
_DIVIDE = PreparedStatement("test_divide", "SELECT 6 / $1::int")

_ADD = PreparedStatement("test_add", "SELECT 1 + $1::int")
_WHEN = PreparedStatement("test_when", "SELECT clock_timestamp(), $1::text")
_SET = PreparedStatement("test_set", "SELECT set_config('assay.test', $1, false)")

_NAMES = NamedStatement(
    "test_names",
    "SELECT %(b)s::text[], %(a)s::int + %(a)s::int, 'a%%', %(c)s::timestamptz",
)
_BY_INDEX = StatementByIndex(
    "test_by_index",
    "SELECT 6 / $1::int, current_setting('plan_cache_mode')",
)


def test_values_are_text_and_rows_have_their_types(db):
    moment = datetime(2026, 6, 1, 12, 30, tzinfo=UTC)
    given = ("7", "naïve 'quoted'", '{"a": [1.5]}', moment.isoformat(), None)

    for _ in range(2):  # the second time it is known
        rows = _TYPES.fetch_rows(given)

    assert rows == [(7, "naïve 'quoted'", {"a": [1.5]}, moment, None)]


def test_what_libpq_would_cut_is_refused(db):
    with pytest.raises(psycopg.DataError, match="NUL"):
        _TYPES.execute(("7", "cut\0here", None, None, None))


def test_what_postgresql_refuses_is_raised_and_leaves_the_statement_known(db):
    for number in ("0", "x"):
        with pytest.raises(psycopg.DataError), transaction.atomic():
            _DIVIDE.execute((number,))

    assert _DIVIDE.fetch_rows(("2",)) == [(3,)]


@pytest.mark.django_db(transaction=True)
def test_a_connection_opened_anew_prepares_again():
    assert _DIVIDE.fetch_rows(("3",)) == [(2,)]
    connection.close()

    with transaction.atomic():
        assert _DIVIDE.fetch_rows(("6",)) == [(1,)]


def test_a_slow_statement_is_logged_without_its_values(db, settings, caplog):
    settings.SLOW_QUERY_MS = 0.000001

    _DIVIDE.execute(("2",))

    assert "SELECT 6 / $1::int" in caplog.text


def test_inputs_go_by_name_and_arrays_in_binary(db):
    moment = datetime(2026, 6, 1, 12, 30, tzinfo=UTC)
    texts = ["naïve 'quoted'", "", '{"a": "b,c"}']

    [found] = _NAMES.fetch(
        {"a": 2, "b": rows.pack_text_array(texts), "c": moment, "unused": 1}
    )

    assert found == (texts, 4, "a%", moment)
    [found] = _NAMES.fetch({"a": 2, "b": rows.pack_text_array([]), "c": None})
    assert found == ([], 4, "a%", None)


@pytest.mark.django_db(transaction=True)
def test_a_statement_by_index_has_its_settings_to_itself_also_when_it_fails():
    for _ in range(2):
        assert _BY_INDEX.fetch_rows(("2",)) == [(3, "force_generic_plan")]
        with pytest.raises(psycopg.DataError, match="division"):
            _BY_INDEX.fetch_rows(("0",))
    with transaction.atomic():
        assert _BY_INDEX.fetch_rows(("2",)) == [(3, "auto")]
    assert rows.fetch_rows("SELECT current_setting('enable_sort')") == [("on",)]

    raw = connection.connection
    [(pid,)] = rows.fetch_rows("SELECT pg_backend_pid()")
    with psycopg.connect(raw.info.dsn, password=raw.info.password) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
    with pytest.raises(psycopg.OperationalError):
        _BY_INDEX.fetch_rows(("2",))
    assert raw.closed
    connection.close()
    assert _BY_INDEX.fetch_rows(("3",)) == [(2, "force_generic_plan")]


def now():
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp(), current_setting('assay.test', true)")
        return cursor.fetchone()


@pytest.mark.django_db(transaction=True)
def test_what_is_read_ahead_is_found_once_by_the_statement_that_asks_next():
    connection.ensure_connection()
    raw = connection.connection

    done = read_ahead(raw, _ADD, [b"41"], Read(_WHEN, ("a",)))
    between, _ = now()
    first, second = (_WHEN.fetch_rows(("a",)) for _ in range(2))

    assert done.get_value(0, 0) == (42).to_bytes(4)
    assert [row[1] for row in (*first, *second)] == ["a", "a"]
    assert first[0][0] < between < second[0][0]


@pytest.mark.parametrize(("statement", "value"), [(_WHEN, "b"), (_ADD, "1")])
def test_what_is_read_ahead_is_forgotten_where_another_is_asked(db, statement, value):
    now()
    read_ahead(connection.connection, _ADD, [b"41"], Read(_WHEN, ("a",)))
    before = _WHEN.fetch_rows(("c",)) if statement is _ADD else None
    between, _ = now()

    found = statement.fetch_rows((value,))
    after = _WHEN.fetch_rows(("a",))

    assert found[0][-1] == {"b": "b", "1": 2}[value]
    assert before is None or before[0][1] == "c"
    assert after[0][0] > between


@pytest.mark.django_db(transaction=True)
def test_neither_is_done_where_what_is_read_ahead_is_refused():
    connection.ensure_connection()
    raw = connection.connection

    refused = read_ahead(raw, _SET, [b"kept"], Read(_DIVIDE, ("0",)))

    assert refused is None
    assert now()[1] in (None, "")
    with pytest.raises(psycopg.DataError):
        _DIVIDE.fetch_rows(("0",))
    assert _DIVIDE.fetch_rows(("2",)) == [(3,)]


@pytest.mark.django_db(transaction=True)
def test_nothing_is_read_ahead_on_a_connection_that_is_lost():
    connection.ensure_connection()
    raw = connection.connection
    _ADD.prepare(raw)
    _WHEN.prepare(raw)
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [raw.info.backend_pid])

    refused = read_ahead(raw, _ADD, [b"41"], Read(_WHEN, ("a",)))

    assert (refused, raw.closed) == (None, True)
    connection.close()

from __future__ import annotations

import logging
import sys

import orjson
import psycopg
import pytest
from django.db import OperationalError, connection, transaction

from portal.lib.database import slow_queries
from portal.lib.logs import JsonFormatter, LineFormatter, OutageFilter, RouteFilter
from portal.lib.web import request_ids
from tests.log_watch import LogWatch


def record(message, *given, error=None):
    made = logging.LogRecord(
        "assay.tests", logging.ERROR, __file__, 1, message, given, error
    )
    made.created = 1_772_000_000.123
    return made


def raised():
    try:
        try:
            {}["Ada Lovelace"]
        except KeyError:
            int("born 1815")
    except ValueError:
        return sys.exc_info()


@pytest.fixture
def request_id():
    token = request_ids._current.set("c0ffee")
    yield "c0ffee"
    request_ids._current.reset(token)


def test_a_line_of_json_names_the_request(request_id):
    line = JsonFormatter().format(record("%s jobs\nwait", 3))

    assert "\n" not in line
    assert orjson.loads(line) == {
        "time": "2026-02-25T06:13:20.123Z",
        "level": "ERROR",
        "logger": "assay.tests",
        "message": "3 jobs\nwait",
        "request_id": "c0ffee",
    }


@pytest.mark.parametrize("formatter", [LineFormatter(), JsonFormatter()])
def test_what_was_raised_is_told_without_its_words(formatter):
    line = formatter.format(record("failed", error=raised()))

    assert "KeyError" in line
    assert "ValueError" in line
    assert "test_logs.py" in line
    for word in ("Ada", "1815"):
        assert word not in line


def test_a_fault_of_an_outage_is_one_line():
    fault = OperationalError()
    fault.__cause__ = psycopg.OperationalError("no route to host 192.0.2.1")
    away = record("Service Unavailable", error=(OperationalError, fault, None))
    other = record("failed", error=raised())

    assert OutageFilter().filter(away)
    assert OutageFilter().filter(other)
    assert LineFormatter().format(away).splitlines() == [
        "2026-02-25T06:13:20.123Z ERROR assay.tests Service Unavailable"
    ]
    assert "ValueError" in LineFormatter().format(other)


@pytest.mark.parametrize("formatter", [LineFormatter(), JsonFormatter()])
def test_faults_that_lead_back_to_one_another_are_told_once_each(formatter):
    first, last = KeyError("Ada"), ValueError("1815")
    last.__cause__, first.__cause__ = first, last

    line = formatter.format(record("failed", error=(ValueError, last, None)))

    assert (line.count("KeyError"), line.count("ValueError")) == (1, 1)


def test_a_line_stays_one_line_whoever_chose_its_words():
    line = LineFormatter().format(record("%s", "a\r\n2026 INFO forged\x1b[2J\u2028b"))

    assert line.endswith("a\\r\\n2026 INFO forged\\x1b[2J\\u2028b")


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/v2/user/resolve/Ada Lovelace", "/v2/user/resolve/{client_user_id}"),
        ("/logos/Ada.svg", "/logos/{slug}.svg"),
        ("/nowhere/Ada Lovelace", "a path of no page"),
    ],
)
@pytest.mark.django_db
def test_a_refusal_is_logged_by_its_route(path, named, caplog, alice_api):
    # Not by logging's own table of names: a server's configuration in a test clears it.
    (handler,) = [one for one in logging.getLogger().handlers if one.name == "stderr"]
    assert [type(each) for each in handler.filters] == [RouteFilter, OutageFilter]
    caplog.handler.addFilter(RouteFilter())

    alice_api.get(path)

    items = [r.getMessage() for r in caplog.records if r.name == "django.request"]
    assert [line.partition(": ")[2] for line in items] == [named]


@pytest.mark.django_db
def test_slow_statements_are_logged_without_values(settings, caplog):
    settings.SLOW_QUERY_MS = 0.000001
    name = "Ada Lovelace"

    with connection.execute_wrapper(slow_queries._timed), connection.cursor() as opened:
        opened.execute("SELECT  %s", [name])
    with transaction.atomic():
        cursor = slow_queries.WatchedCursor(connection.connection)
        cursor.execute(b"SELECT %s::text AS name", [name])

    items = [each.getMessage().partition(" ms: ")[2] for each in caplog.records]
    assert [each for each in items if "SELECT" in each] == [
        "SELECT %s",
        "SELECT %s::text AS name",
    ]
    assert name not in caplog.text


def test_slow_statements_are_watched_on_new_connections_once():
    class Connection:
        execute_wrappers: list[object] = []

    slow_queries._watch(Connection)
    slow_queries._watch(Connection)

    assert Connection.execute_wrappers == [slow_queries._timed]


def test_the_watch_over_the_suites_logs_sees_what_is_planted():
    watch = LogWatch()
    said = ("Ada is unwell", "key sk_eu_" + "a" * 40, "whsec_" + "b" * 32)

    for message in (*said, "3 jobs wait", "Not Found: /v2/user/{user_id}"):
        watch.handle(record(message))

    assert watch.found == [
        "assay.tests logged Ada…",
        "assay.tests logged sk_eu_aaaaaa…",
        "assay.tests logged whsec_bbbbbb…",
    ]

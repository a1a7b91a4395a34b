from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError, connection, connections
from django.test import Client

from portal.lib.database.time_limits import (
    is_database_timeout,
    limit_database_statement_time,
)


@pytest.fixture
def options(monkeypatch):
    """What new connections are told, put back at the end."""
    kept = {}
    monkeypatch.setitem(connections.settings["default"], "OPTIONS", kept)
    return kept


@pytest.mark.django_db
def test_a_statement_of_a_web_process_ends(settings, options):
    settings.STATEMENT_TIMEOUT = timedelta(milliseconds=20)
    options["options"] = "-c lock_timeout=7s"

    limit_database_statement_time()
    asked = connections.create_connection("default")
    asked.settings_dict = {**connection.settings_dict, "OPTIONS": dict(options)}
    try:
        with asked.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            waits = cursor.fetchone()
            with pytest.raises(OperationalError) as ended:
                cursor.execute("SELECT pg_sleep(30)")
    finally:
        asked.close()

    assert is_database_timeout(ended.value)
    assert waits == ("7s",)  # as the installation says itself


def test_without_bounds_nothing_is_sent(settings, options):
    settings.STATEMENT_TIMEOUT = settings.LOCK_TIMEOUT = timedelta(0)
    settings.IDLE_TRANSACTION_TIMEOUT = timedelta(0)

    limit_database_statement_time()

    assert options == {}


@pytest.mark.django_db
def test_out_of_time_is_a_503_and_any_other_fault_a_500(alice_api, monkeypatch):
    alice_api.raise_request_exception = False
    page = Client(raise_request_exception=False)
    fault = OperationalError()

    def fail(*_args, **_more):
        raise fault

    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", fail)
    monkeypatch.setattr("accounts.api.auth.find_api_key_grant", fail)
    page.cookies["sessionid"] = "a" * 32
    broken = [alice_api.get("/v2/user"), page.get("/accounts/login/")]
    fault.__cause__ = psycopg.errors.LockNotAvailable()
    late = [alice_api.get("/v2/user"), page.get("/accounts/login/")]

    assert [reply.status_code for reply in broken] == [500, 500]
    assert [(r.status_code, r["Retry-After"]) for r in late] == [(503, "5")] * 2
    assert late[0].json()["code"] == "out_of_time"

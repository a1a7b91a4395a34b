"""Samples carry no policy on workers: who has no right to a user never gets there."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from portal.management.commands import isolation_report
from portal.ops.isolation.models import IsolationRun
from portal.ops.isolation.probing import list_tables_with_row_security
from tests.factories.samples import put_samples
from tests.factories.users import make_user
from tests.packed import EVER
from tests.portal.lib.worker_process import wait_until
from users.store.distribution import DISTRIBUTED_TABLES
from users.store.packed.packing import pack_days_of_user

RANGE = {"start_date": "2026-03-01", "end_date": "2026-03-02"}
# What was read of shards, of all sessions that have ended.
READ = """
    SELECT coalesce(sum(seq_scan + coalesce(idx_scan, 0) + n_tup_ins + n_tup_del), 0)
    FROM pg_stat_user_tables WHERE relname ~ '^users_(sample|packedday|origin)'
"""
SESSIONS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE application_name LIKE 'citus_internal%' AND usename = 'assay'
"""


@pytest.fixture
def user(cluster, alice_tenant):
    user = make_user(tenant=alice_tenant)
    put_samples(user, "heartrate", ("2026-03-01T10:00", 0, 60))
    pack_days_of_user(user_id=user.pk, before=EVER)
    put_samples(user, "heartrate", ("2026-03-02T10:00", 0, 61))
    return user


def count_reads(cluster):
    """How often shards were read or written, once all sessions have said so."""
    connection.close()
    number = 0
    for worker in cluster.workers:
        with worker.connect("postgres", cluster.database) as opened:
            wait_until(lambda on=opened: on.execute(SESSIONS).fetchone() == (0,))
            opened.execute("SET citus.override_table_visibility = off")  # of shards
            number += opened.execute(READ).fetchone()[0]
    return number


def ask_all(api, user):
    """The statuses of what reads or writes samples of a user."""
    base = f"/v2/timeseries/{user.uuid}/heartrate"
    sample = {"timestamp": "2026-03-03T10:00:00+00:00", "value": 62}
    return [
        api.get(f"{base}/grouped", RANGE).status_code,
        api.post(base, {"provider": "oura", "data": [sample]}).status_code,
        api.delete(f"/v2/user/{user.uuid}").status_code,
    ]


def test_a_stranger_is_refused_before_a_worker_is_asked(
    cluster, user, alice_api, charlie_api
):
    before = count_reads(cluster)
    assert ask_all(charlie_api, user) == [404, 404, 404]
    assert count_reads(cluster) == before

    # The same calls of the team itself are seen there.
    assert 404 not in ask_all(alice_api, user)
    assert count_reads(cluster) > before


def test_the_report_names_the_tables_without_a_policy(cluster, user, monkeypatch):
    of_users = list_tables_with_row_security(by="user_id")
    assert {*of_users}.isdisjoint(DISTRIBUTED_TABLES)

    # What it calls besides takes minutes.
    found = IsolationRun(team="a", endpoints=1, callers=1, tables=1, rows=1)
    monkeypatch.setattr(isolation_report, "create_isolation_report", lambda **_: found)
    out = StringIO()
    call_command("isolation_report", stdout=out)

    told = f"found in a table that has one: {', '.join(DISTRIBUTED_TABLES)}"
    assert told in out.getvalue()

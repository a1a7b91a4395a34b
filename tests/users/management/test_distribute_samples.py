"""On a PostgreSQL without Citus; with it: tests/scale/citus."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from users.operations import distribution
from users.operations.distribution import NotReadyError, check_readiness
from users.store.distribution import Worker

pytestmark = pytest.mark.django_db

FENCES = "SELECT count(*) FROM pg_policy WHERE polrelid = 'users_sample'::regclass"


@pytest.mark.parametrize("options", [[], ["--check"]])
def test_without_the_extension_nothing_is_changed(options):
    with pytest.raises(CommandError, match=r"^The database has no extension citus\.$"):
        call_command("distribute_samples", *options)

    with connection.cursor() as cursor:
        cursor.execute(FENCES)
        assert cursor.fetchone() == (1,)


def test_all_that_is_missing_is_said_at_once(monkeypatch):
    workers = [
        Worker("a:5432", 0, ()),
        Worker("b:5432", None, ()),
        Worker("c:5432", 100, ("assay_web", "assay_work")),
    ]
    monkeypatch.setattr(distribution, "has_citus", lambda: True)
    monkeypatch.setattr(distribution, "knows_coordinator", lambda: False)
    monkeypatch.setattr(distribution, "ask_workers", lambda roles: workers)

    with pytest.raises(NotReadyError) as refused:
        check_readiness(roles=("assay_web", "assay_work"))

    assert refused.value.reasons == [
        "Citus does not know its coordinator: call citus_set_coordinator_host.",
        "The worker a:5432 allows no prepared transactions: set"
        " max_prepared_transactions to its max_connections.",
        "The worker b:5432 can't be reached.",
        "The worker c:5432 has no role assay_web, assay_work.",
    ]

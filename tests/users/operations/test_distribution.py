"""What must be so before; the step itself: tests/scale/citus."""

from __future__ import annotations

import pytest

from users.operations import distribution
from users.operations.distribution import NotReadyError, check_readiness
from users.store.distribution import Worker


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

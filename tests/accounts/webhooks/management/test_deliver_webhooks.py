from __future__ import annotations

import pytest
from django.db import OperationalError

from accounts.webhooks.management.commands import deliver_webhooks


def test_a_database_that_is_still_starting_is_waited_for(monkeypatch, caplog):
    answers = iter([OperationalError("starting up"), OperationalError("gone"), None])
    slept: list[float] = []

    def ensure_connection() -> None:
        fault = next(answers)
        if fault:
            raise fault

    monkeypatch.setattr(
        deliver_webhooks.connection, "ensure_connection", ensure_connection
    )
    monkeypatch.setattr(deliver_webhooks.time, "sleep", slept.append)

    deliver_webhooks.wait_for_database()

    assert slept == [deliver_webhooks.DATABASE_POLL_S] * 2
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2
    with pytest.raises(StopIteration):
        next(answers)

"""Clients that send batches of samples, each until it is acknowledged."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING

from django.db import connection

from portal.lib.database import rows
from tests.clients import ApiClient
from tests.portal.lib.worker_process import wait_until

if TYPE_CHECKING:
    from uuid import UUID

    from users.models import User

BATCH = 20
START = datetime(2026, 3, 1, tzinfo=UTC)
_STORED = """
    SELECT count(*), count(DISTINCT ts), min(value), max(value) FROM users_sample
    WHERE user_id = %s
"""
_ARRIVED = "SELECT coalesce(sum(created), 0) FROM users_arrival WHERE user_id = %s"


def push_batch(client: ApiClient, user_uuid: UUID, number: int) -> int:
    """Send the batch of this number; returns the status of the answer."""
    moments = (
        START + timedelta(minutes=number * BATCH + each) for each in range(BATCH)
    )
    data = [{"timestamp": each.isoformat(), "value": 60} for each in moments]
    answer = client.post(
        f"/v2/timeseries/{user_uuid}/heartrate", {"provider": "oura", "data": data}
    )
    return int(answer.status_code)


def count_stored(user: User) -> tuple[int, int]:
    """Return the samples of a user on the workers, and those that arrivals count."""
    ((stored, distinct, *_),) = rows.fetch_rows(_STORED, [user.pk])
    assert stored == distinct
    ((arrived,),) = rows.fetch_rows(_ARRIVED, [user.pk])
    return stored, int(arrived)


class Traffic:
    """One client for each user, until `stop`."""

    def __init__(self, key: str, users: list[User]) -> None:
        self.users = users
        self.statuses: Counter[int] = Counter()
        self.acknowledged: Counter[int] = Counter()
        self._stopping, self._leaving = threading.Event(), threading.Event()
        self._key = key
        self._pool = ThreadPoolExecutor(len(users))
        self._running = [self._pool.submit(self._send, user) for user in users]

    def wait_for_more(self, status: int, number: int) -> None:
        """Wait until so many more were answered with this status."""
        before = self.statuses[status]

        def is_reached() -> bool:
            for each in self._running:
                if each.done():
                    each.result()  # which says what was answered
            return self.statuses[status] >= before + number

        wait_until(is_reached, seconds=300)

    def stop(self) -> None:
        """Let each client end with a batch that is acknowledged."""
        self._stopping.set()
        for each in self._running:
            each.result()
        self._pool.shutdown()

    def give_up(self) -> None:
        """Let clients leave whatever they were answered, if they run still."""
        self._leaving.set()
        self._pool.shutdown()

    def list_differences(self) -> list[tuple[int, int, int]]:
        """Return what was acknowledged, is stored, and arrived, where these differ."""
        compared = [
            (self.acknowledged[each.pk], *count_stored(each)) for each in self.users
        ]
        return [each for each in compared if len(set(each)) > 1]

    def _send(self, user: User) -> None:
        client = ApiClient(self._key)
        client.raise_request_exception = False
        try:
            for number in count():
                status = 0
                while status != 200:
                    if self._leaving.is_set():
                        return
                    status = push_batch(client, user.uuid, number)
                    self.statuses[status] += 1
                    assert status in {200, 503}, status
                self.acknowledged[user.pk] += BATCH
                if self._stopping.is_set():
                    return
        finally:
            connection.close()

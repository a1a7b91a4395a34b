"""Samples as packed days: what is stored is packed at once.

`pytest --packed` does so in every test but those of the store, which run both ways.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from users.store.extents import find_sample_extents
from users.store.packed.packing import pack_days_of_user
from users.store.samples import Written, get_sample_store

EVER = datetime(2500, 1, 1, tzinfo=UTC)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--packed", action="store_true", help="pack samples as soon as they are stored"
    )


def pack_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pack a user's samples after each batch until the test ends."""
    kind: Any = type(get_sample_store())
    write = kind.write_batch

    def write_and_pack(self: Any, *, user_id: int, **given: Any) -> Written:
        written: Written = write(self, user_id=user_id, **given)
        pack_days_of_user(user_id=user_id, before=EVER)
        return written

    monkeypatch.setattr(kind, "write_batch", write_and_pack)


class StoredSample(NamedTuple):
    """A sample as the store reads it."""

    ts: datetime
    series: int
    feed: int
    value: float
    tz_offset: int
    duration: int
    origin: int
    extra: dict[str, Any] | None


def list_samples(user_id: int) -> list[StoredSample]:
    """List a user's samples, in rows or packed, by (ts, series, feed)."""
    series = {each.series for each in find_sample_extents(user_id=user_id)}
    found = get_sample_store().read_range(
        user_id=user_id,
        series=sorted(series),
        start=datetime(1900, 1, 1, tzinfo=UTC),
        end=EVER,
        feeds=None,
        after=None,
        limit=10**6,
    )
    return [StoredSample(*row) for row in found]


@pytest.fixture(autouse=True)
def _packed(request, monkeypatch):
    # Tests of the store say by themselves what is packed, and when.
    is_store = request.node.path.parent.name == "store"
    if request.config.getoption("--packed") and not is_store:
        pack_at_once(monkeypatch)


@pytest.fixture(params=["rows", "packed"])
def both_ways(request, monkeypatch):
    """Run the test on samples in rows, and once more on packed days."""
    if request.param == "packed":
        pack_at_once(monkeypatch)
    return request.param

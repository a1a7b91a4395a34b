"""Calendar addresses; the sites are made up."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from labs.models import CalendarFeed


def make_site_calendar(*, tenant: Any, token: str = "hers") -> CalendarFeed:  # noqa: S107 - made up
    """The feed of a center, with this secret in its address."""
    feed = CalendarFeed(
        tenant=tenant,
        provider="quest",
        site_code="T1",
        site_name="Test Center",
        digest=sha256(token.encode()).digest(),
    )
    feed.save(force_insert=True)
    return feed

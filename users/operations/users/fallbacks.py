"""The fallback birth date of a user that a source gave (contract 2.1)."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from accounts.operations.audit.entries import record_change
from portal.lib.birth_dates import require_plausible_birth_date
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from portal.lib.actor import Actor
    from users.models import User
    from users.wearables.resources import SummaryReading


def adopt_birth_date(
    *,
    user: User,
    actor: Actor,
    provider: str,
    readings: Iterable[SummaryReading],
    now: datetime,
) -> None:
    """Take a missing fallback birth date from a source's profile, and name the source.

    What the team set stays; a source corrects its own. The time zone is left to the
    team: it decides on which day data without zone lies, and a source that set it in
    passing would move what is sent again. With the user locked. Source: Contract 2.1;
    Ours: what replaces what.
    """
    born = next(filter(None, map(_read_birth_date, readings)), None)
    is_manual = user.fallback_birth_date_source not in {"", provider}
    if born is None or is_manual or born == user.fallback_birth_date:
        return
    user.fallback_birth_date = born
    user.fallback_birth_date_source = provider
    user.fallback_birth_date_updated_at = now
    user.save(
        update_fields=[
            f"fallback_birth_date{suffix}" for suffix in ("", "_source", "_updated_at")
        ]
    )
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb="adopt_birth_date",
        subject="user",
        subject_id=user.uuid,
        user_uuid=user.uuid,
        changes={"fields": ["fallback_birth_date"], "source": provider},
    )


def _read_birth_date(reading: SummaryReading) -> date | None:
    """Return the birth date of a profile, None without a plausible one."""
    given = reading.body["birth_date"]
    if given is None:
        return None
    born = date.fromisoformat(given)
    try:
        require_plausible_birth_date(born)
    except DomainError:
        return None
    return born

"""Packing of samples: which users' closed days are packed, and by when."""

from __future__ import annotations

import logging
import time
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

import psycopg
from django.conf import settings

from users.models import Arrival, User
from users.store.partitions import drop_space_of_empty_partitions

if TYPE_CHECKING:
    from datetime import datetime

    from users.store.packed.packing import Packed

logger = logging.getLogger(__name__)

# Ours: of who wears something all week, a day stays rows this long after its end.
PACKED_AFTER = timedelta(days=7)
# One run; the next goes on with whoever still has rows.
RUN_SECONDS = 45 * 60


def pack_closed_days(*, now: datetime, run_seconds: float = RUN_SECONDS) -> Packed:
    """Pack the closed days of all users; return what was packed.

    A day (UTC) is closed when PACK_SAMPLES_QUIET_HOURS have passed since its end and
    since the user's last new sample of any day, seven days after its end at the latest.
    What fails for one user is logged and leaves the rows as they are.
    """
    from users.store.packed.packing import Packed, PackingFailedError, pack_days_of_user

    started = time.monotonic()
    quiet = timedelta(hours=settings.PACK_SAMPLES_QUIET_HOURS)
    late = _day_start(now - max(quiet, PACKED_AFTER))
    early = max(late, _day_start(now - quiet))
    days = samples = 0
    # Over all tenants: who has which setting makes no difference to how they are kept.
    for user_id in User.unscoped.order_by("pk").values_list("pk", flat=True).iterator():
        if time.monotonic() - started > run_seconds:
            break
        before = late if _is_busy(user_id, now - quiet) else early
        try:
            packed = pack_days_of_user(user_id=user_id, before=before)
        except (PackingFailedError, psycopg.Error, RuntimeError) as error:
            logger.error("user %d was not packed: %s", user_id, type(error).__name__)  # noqa: TRY400 - its text may show values
            continue
        days += packed.days
        samples += packed.samples
    if samples:
        drop_space_of_empty_partitions()
    return Packed(days, samples)


def _day_start(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _is_busy(user_id: int, since: datetime) -> bool:
    """Return whether a user got new or changed samples or summaries lately."""
    recent = Arrival.unscoped.filter(user_id=user_id, at__gt=since)
    return recent.exclude(created=0, updated=0).exists()

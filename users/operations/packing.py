"""Packing of samples: which users' closed days are packed, and by when."""

from __future__ import annotations

import logging
import time
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

import psycopg
from django.conf import settings

from users.store.packed.candidates import find_users_to_pack
from users.store.partitions import drop_space_of_empty_partitions

if TYPE_CHECKING:
    from datetime import datetime

    from users.store.packed.packing import Packed

logger = logging.getLogger(__name__)

# Ours: of who wears something all week, a day stays rows this long after its end, and
# up to a day longer until the user's turn.
PACKED_AFTER = timedelta(days=6)
# One run; the next goes on with whoever still has rows.
RUN_SECONDS = 45 * 60


def pack_closed_days(
    *, now: datetime, turn: int | None = None, run_seconds: float = RUN_SECONDS
) -> Packed:
    """Pack the closed days of all users, or of a 24th of them; return what was packed.

    A day (UTC) is closed when PACK_SAMPLES_QUIET_HOURS have passed since its end and
    since the user's last new sample of any day, seven days after its end at the latest
    if each `turn` from 0 to 23 comes once a day. What fails for one user is logged and
    leaves the rows as they are.
    """
    from users.store.packed.packing import Packed, PackingFailedError, pack_days_of_user

    started = time.monotonic()
    quiet = timedelta(hours=settings.PACK_SAMPLES_QUIET_HOURS)
    late = _day_start(now - max(quiet, PACKED_AFTER))
    early = max(late, _day_start(now - quiet))
    days = samples = 0
    for user_id, before in find_users_to_pack(
        early=early, late=late, quiet_since=now - quiet, turn=turn
    ):
        if time.monotonic() - started > run_seconds:
            break
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

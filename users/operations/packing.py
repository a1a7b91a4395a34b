"""Packing of samples: which users' closed days are packed, and by when."""

from __future__ import annotations

import logging
import time
from datetime import UTC, timedelta
from math import inf
from typing import TYPE_CHECKING

import psycopg
from django.conf import settings

from users.store.packed.candidates import PARTS, find_users_to_pack
from users.store.partitions import drop_space_of_empty_partitions

if TYPE_CHECKING:
    from datetime import datetime

    from users.store.packed.packing import Packed

logger = logging.getLogger(__name__)

# Ours: of who wears something all week, a day stays rows this long after its end, and
# up to a day longer until the user's turn.
PACKED_AFTER = timedelta(days=6)
# Of an hour, from the minute when its jobs are due; who still has rows then is packed
# at the next turn.
RUN_FROM, RUN = timedelta(minutes=7), timedelta(minutes=45)


def pack_part_of_turn(*, now: datetime, number: int) -> Packed:
    """Pack a quarter of the users whose turn the hour is, until RUN of it has passed.

    `number`, from 0 to 3, is another part each day: where there is time for one alone,
    none is always the last. Otherwise as pack_closed_days.
    """
    left = now.replace(minute=0, second=0, microsecond=0) + RUN_FROM + RUN - now
    return pack_closed_days(
        now=now,
        turn=now.hour,
        part=(number + now.toordinal()) % PARTS,
        run_seconds=left.total_seconds(),
    )


def pack_closed_days(
    *,
    now: datetime,
    turn: int | None = None,
    part: int | None = None,
    run_seconds: float = inf,
) -> Packed:
    """Pack the closed days of all users, or of a 24th of them; return what was packed.

    A day (UTC) is closed when PACK_SAMPLES_QUIET_HOURS have passed since its end and
    since the user's last new sample of any day, seven days after its end at the latest
    if each `turn` from 0 to 23 comes once a day; `part` is a quarter of it. What fails
    for one user is logged and leaves the rows as they are.
    """
    from users.store.packed.packing import Packed, PackingFailedError, pack_days_of_user

    started = time.monotonic()
    quiet = timedelta(hours=settings.PACK_SAMPLES_QUIET_HOURS)
    late = _day_start(now - max(quiet, PACKED_AFTER))
    early = max(late, _day_start(now - quiet))
    days = samples = 0
    for user_id, before in find_users_to_pack(
        early=early, late=late, quiet_since=now - quiet, turn=turn, part=part
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

"""Samples of a user's only source of a series: the usual read, in one statement.

Finding the sources of a series, reading them with what packed days hold, and looking
for extras are three statements, each planned for each call over months of partitions:
for a page of 1 000 samples more than the samples themselves. Here one statement reads
the source that the last read found, and says with its rows if that is not all there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portal.lib.database.prepared import StatementByIndex
from users.store.partitions import find_month_partition_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

# Of a sample as read here: ts (UTC), value, tz_offset, duration of intervals, origin.
SourceRow = tuple["datetime", float, int, int] | tuple["datetime", float, int, int, int]
# User, lowest and highest series, first month: what a read is of.
_Place = tuple[int, int, int, "datetime"]

_KNOWN_MAX = 10_000
# In place of an origin.
_NOT_ALL = -1
# The order of each look is that of an index: the planner would else take a table's
# pages one after the other, as it expects to find a row soon, where there is none.
_READ = {
    has_durations: StatementByIndex(
        f"read_only_source_{'spans' if has_durations else 'points'}",
        f"""
        SELECT ts, value, tz_offset, {"duration," if has_durations else ""}
            CASE WHEN (
                SELECT true FROM users_sample
                WHERE user_id = $1 AND series >= $6 AND (series, feed) < ($2, $3)
                    AND ts >= $8 AND ts < $9
                ORDER BY series DESC, feed DESC LIMIT 1
            ) OR (
                SELECT true FROM users_sample
                WHERE user_id = $1 AND series <= $7 AND (series, feed) > ($2, $3)
                    AND ts >= $8 AND ts < $9
                ORDER BY series, feed LIMIT 1
            ) OR (
                SELECT true FROM users_packedday
                WHERE user_id = $1 AND series >= $6 AND series <= $7
                    AND day >= ($8 AT TIME ZONE 'UTC')::date
                    AND day < ($9 AT TIME ZONE 'UTC')::date
                ORDER BY series, feed, day LIMIT 1
            ) OR (
                SELECT true FROM users_sampleextra
                WHERE user_id = $1 AND series = $2 AND feed = $3
                    AND ts >= $4 AND ts < $5
                ORDER BY ts LIMIT 1
            ) THEN {_NOT_ALL} ELSE origin END
        FROM users_sample
        WHERE user_id = $1 AND series = $2 AND feed = $3 AND ts >= $4 AND ts < $5
            AND (ts, series, feed) > ($4, $10::smallint, $11::smallint)
            AND (SELECT assay_is_user_of_tenant($1))
        ORDER BY ts LIMIT $12
        """,  # noqa: S608 - the parts are ours
    )
    for has_durations in (False, True)
}
# The last condition notes the user before a row is met (users.store.locks).
# What this process found to be the only source lately: a guess, which each read checks.
_only: dict[_Place, tuple[int, int]] = {}


@dataclass(frozen=True, slots=True)
class OneSource:
    """Samples of one series and feed by time, all that the user has in the range."""

    series: int
    feed: int
    rows: list[SourceRow]


def read_only_source(
    *,
    user_id: int,
    series: Sequence[int],
    start: datetime,
    end: datetime,
    behind: tuple[datetime, int, int],
    limit: int,
    has_durations: bool,
) -> OneSource | None:
    """Return at most `limit` samples, or None if they must be read in full.

    None where no source is known, others have samples too, some may be packed, have
    extras, or where there are none. `behind` is the key to go on behind, its time the
    start.
    """
    first, after = find_month_partition_bounds(start, end)
    place = (user_id, min(series), max(series), first)
    known = _only.get(place)
    if known is None:
        return None
    found = _READ[has_durations].fetch_rows(
        [
            str(user_id),
            *map(str, known),
            behind[0].isoformat(),
            end.isoformat(),
            str(place[1]),
            str(place[2]),
            first.isoformat(),
            after.isoformat(),
            *map(str, behind[1:]),
            str(limit),
        ]
    )
    if not found or found[0][-1] == _NOT_ALL:
        _only.pop(place, None)
        return None
    return OneSource(*known, rows=found)


def note_only_source(
    *,
    user_id: int,
    series: Sequence[int],
    start: datetime,
    end: datetime,
    source: tuple[int, int],
) -> None:
    """Note that a user's samples of these series were of one series and feed."""
    if len(_only) >= _KNOWN_MAX:
        _only.clear()
    first, _ = find_month_partition_bounds(start, end)
    _only[user_id, min(series), max(series), first] = source

"""Heart rate variability from the beats that a watch recorded.

HealthKit gives SDNN, our series is RMSSD: the two are not the same measure, but the
export has the beats of each reading.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

_CLOCK = re.compile(r"(\d{1,2}):(\d\d):(\d\d)[.,](\d{1,3})", re.ASCII)
_HALF_DAY = 12 * 3600
# Ours: a beat that comes this much off its own rate follows one that was missed.
_TOLERANCE = 0.25
_INTERVALS_MIN = 10


def compute_rmssd(record: _Element) -> float | None:
    """Return the RMSSD in ms; None for too few beats.

    Times have a hundredth of a second, the first of each stretch has no interval.
    Source: Ours: SDNN under the name of RMSSD would be wrong by half.
    """
    intervals: list[float | None] = []
    before: float | None = None
    for beat in record.iter("InstantaneousBeatsPerMinute"):
        at = _seconds(beat.get("time"))
        rate = _number(beat.get("bpm"))
        if at is None or not rate or not rate > 0:
            return None
        if before is not None:
            length = (at - before) % _HALF_DAY
            usual = 60 / rate
            is_whole = abs(length - usual) <= _TOLERANCE * usual
            intervals.append(length if is_whole else None)
        before = at
    squares = [
        (second - first) ** 2
        for first, second in pairwise(intervals)
        if first is not None and second is not None
    ]
    if len(squares) < _INTERVALS_MIN:
        return None
    return round(1000 * sqrt(sum(squares) / len(squares)), 1)


def _seconds(text: str | None) -> float | None:
    found = _CLOCK.search(text or "")
    if found is None:
        return None
    hours, minutes, seconds, part = found.groups()
    whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    return whole + float(f"0.{part}")


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None

"""Tables of lab report parsing and of its review; all of it is health data."""

from __future__ import annotations

from .jobs import (
    ParsingJob,
    ParsingJobQuerySet,
    ParsingJobTransition,
    ReportFile,
    ReportResult,
)
from .reviews import Review, ReviewQuerySet, ReviewRow, ReviewRowVersion, SignOff

__all__ = [
    "ParsingJob",
    "ParsingJobQuerySet",
    "ParsingJobTransition",
    "ReportFile",
    "ReportResult",
    "Review",
    "ReviewQuerySet",
    "ReviewRow",
    "ReviewRowVersion",
    "SignOff",
]

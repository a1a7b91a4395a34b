"""Tables of lab report parsing and of its review; nearly all is health data."""

from __future__ import annotations

from .aliases import LoincAlias
from .critical_limits import TeamCriticalLimit
from .jobs import (
    ParsingJob,
    ParsingJobQuerySet,
    ParsingJobTransition,
    ReportFile,
    ReportResult,
)
from .mail import ReceivedMail, ReportMailbox, UnmatchedDocument
from .outside import OutsideReport, OutsideReportQuerySet
from .reviews import (
    Rereading,
    Review,
    ReviewComment,
    ReviewQuerySet,
    ReviewRow,
    ReviewRowVersion,
    Signature,
)

__all__ = [
    "LoincAlias",
    "OutsideReport",
    "OutsideReportQuerySet",
    "ParsingJob",
    "ParsingJobQuerySet",
    "ParsingJobTransition",
    "ReceivedMail",
    "ReportFile",
    "ReportMailbox",
    "ReportResult",
    "Rereading",
    "Review",
    "ReviewComment",
    "ReviewQuerySet",
    "ReviewRow",
    "ReviewRowVersion",
    "Signature",
    "TeamCriticalLimit",
    "UnmatchedDocument",
]

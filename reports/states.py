"""Statuses of a parsing job, why one fails, and the moves between statuses.

Must not be here: the one writer of status (reports.operations.reports).
"""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.transitions import Transitions


class ParsingJobStatus(OpenChoices):
    """Where a job stands (contract 7.3; `pending_review` is contract D14)."""

    UPLOAD_PENDING = "upload_pending", "Uploaded"  # stored, waits for a worker
    STARTED = "started", "Reading"  # a worker reads it
    PENDING_REVIEW = "pending_review", "Waits for review"  # read, waits for a person
    COMPLETED = "completed", "Completed"  # its values may be used
    FAILED = "failed", "Failed"  # has no values; failure_reason says why

    @property
    def has_data(self) -> bool:
        """Whether a job in this status shows its values (contract 7.2)."""
        return self in {ParsingJobStatus.COMPLETED, ParsingJobStatus.PENDING_REVIEW}


class ParsingJobFailureReason(OpenChoices):
    """Why a job failed (contract 7.2); the values are the parser's own."""

    INVALID_INPUT = "invalid_input", "Not a lab report"
    LOW_QUALITY = "low_quality", "Too poor to read"
    NOT_ENGLISH = "not_english", "In a language we can't read"
    TOO_MANY_PAGES = "too_many_pages", "More than 30 pages"
    PROCESSING_ERROR = "processing_error", "Could not be processed"


JOB_MOVES = Transitions(
    {
        ParsingJobStatus.UPLOAD_PENDING: {
            ParsingJobStatus.STARTED,
            ParsingJobStatus.FAILED,
        },
        ParsingJobStatus.STARTED: {
            ParsingJobStatus.COMPLETED,
            ParsingJobStatus.FAILED,
            ParsingJobStatus.PENDING_REVIEW,
        },
        ParsingJobStatus.PENDING_REVIEW: {
            ParsingJobStatus.COMPLETED,
            ParsingJobStatus.FAILED,
        },
        ParsingJobStatus.COMPLETED: set(),
        ParsingJobStatus.FAILED: set(),
    }
)  # Contract 7.3.

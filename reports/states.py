"""Statuses of a parsing job and of its review, and the moves between statuses.

Must not be here: the writers of status (reports.operations.reports and
reports.operations.review_signing).
"""

from __future__ import annotations

from enum import StrEnum

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


class ReviewStatus(OpenChoices):
    """Where a review stands (Ours; the wire has the job's status alone)."""

    OPEN = "open", "To review"  # its rows are worked on
    SIGNED = "signed", "Signed"  # its rows are the job's results
    REJECTED = "rejected", "Rejected"  # the report has no usable values
    WITHDRAWN = "withdrawn", "Withdrawn"  # an amendment that was given up


REVIEW_MOVES = Transitions(
    {
        ReviewStatus.OPEN: {
            ReviewStatus.SIGNED,
            ReviewStatus.REJECTED,
            ReviewStatus.WITHDRAWN,
        },
        ReviewStatus.SIGNED: set(),
        ReviewStatus.REJECTED: set(),
        ReviewStatus.WITHDRAWN: set(),
    }
)  # Ours: what was signed stays; another version is another review.


class ReviewKind(OpenChoices):
    """What a review is for (Ours)."""

    FIRST = "first", "Review"  # of the machine's reading, or an amendment
    SECOND = "second", "Second read"  # blind to the first reader's work
    DISPUTE = "dispute", "Disputed"  # two readers disagreed: a third decides


class RowDecision(OpenChoices):
    """What a reviewer made of a row (Ours)."""

    UNDECIDED = "undecided", "Undecided"
    CONFIRMED = "confirmed", "Confirmed"  # as it stands
    EDITED = "edited", "Edited"
    EXCLUDED = "excluded", "Excluded"  # kept here, in no result
    ADDED = "added", "Added"  # by a person: the machine had no such row


class RowPart(OpenChoices):
    """A part of a row that has a place on the page (Ours)."""

    NAME = "name", "Name"
    VALUE = "value", "Value"
    UNITS = "units", "Unit"
    REFERENCE_RANGE = "reference_range", "Range"


class PictureSize(StrEnum):
    """How large a page is drawn (Ours)."""

    FULL = "full"
    SMALL = "small"  # to know a page by, not to read it


class AliasStatus(OpenChoices):
    """Where a team's alias stands (Ours)."""

    PROPOSED = "proposed", "Proposed"  # by the reviewer who chose the code
    LIVE = "live", "Live"  # a second person agreed: later reports use it
    ENDED = "ended", "Ended"  # declined, or taken back


ALIAS_MOVES = Transitions(
    {
        AliasStatus.PROPOSED: {AliasStatus.LIVE, AliasStatus.ENDED},
        AliasStatus.LIVE: {AliasStatus.ENDED},
        AliasStatus.ENDED: set(),
    }
)  # Ours: what was taken back is proposed anew.


class SignatureMeaning(OpenChoices):
    """What a signature says (Ours)."""

    ACCURACY = "accuracy", "Reviewed for accuracy"
    CLINICAL = "clinical", "Reviewed clinically"


class RejectionReason(OpenChoices):
    """Why a reviewer rejects a report (Ours; contract 7.2 has the wire's reasons)."""

    NOT_A_REPORT = "not_a_report", "Not a lab report"
    UNREADABLE = "unreadable", "Unreadable"
    WRONG_PERSON = "wrong_person", "Another person's report"
    OTHER_LANGUAGE = "other_language", "In another language"


REJECTED_AS = {
    RejectionReason.NOT_A_REPORT: ParsingJobFailureReason.INVALID_INPUT,
    RejectionReason.WRONG_PERSON: ParsingJobFailureReason.INVALID_INPUT,
    RejectionReason.UNREADABLE: ParsingJobFailureReason.LOW_QUALITY,
    RejectionReason.OTHER_LANGUAGE: ParsingJobFailureReason.NOT_ENGLISH,
}  # Contract 7.2.

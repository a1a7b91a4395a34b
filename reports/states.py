"""Statuses of a parsing job and of its review, and the moves between statuses."""

from __future__ import annotations

from enum import StrEnum

from accounts.states import ReportCheck
from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy


class ParsingJobStatus(OpenChoices):
    """Where a job stands (contract 7.3; `pending_review` is contract D14)."""

    UPLOAD_PENDING = (
        "upload_pending",
        gettext_lazy("Received"),
    )  # stored, waits for a worker
    STARTED = "started", gettext_lazy("Processing")  # a worker reads it
    PENDING_REVIEW = (
        "pending_review",
        gettext_lazy("Pending review"),
    )  # read, waits for a person
    COMPLETED = "completed", gettext_lazy("Completed")  # its values may be used
    FAILED = "failed", gettext_lazy("Failed")  # has no values; failure_reason says why

    @property
    def has_data(self) -> bool:
        """Whether a job in this status shows its values (contract 7.2)."""
        return self in {ParsingJobStatus.COMPLETED, ParsingJobStatus.PENDING_REVIEW}


class ParsingJobFailureReason(OpenChoices):
    """Why a job failed (contract 7.2); the values are the parser's own."""

    INVALID_INPUT = "invalid_input", gettext_lazy("Not a lab report")
    LOW_QUALITY = "low_quality", gettext_lazy("Image quality too low")
    NOT_ENGLISH = "not_english", gettext_lazy("Unsupported language")
    TOO_MANY_PAGES = "too_many_pages", gettext_lazy("More than 30 pages")
    PROCESSING_ERROR = "processing_error", gettext_lazy("Processing failed")


class UnreadScript(OpenChoices):
    """The script of a report that could not be read (Ours); the parser's own values."""

    CYRILLIC = "cyrillic", gettext_lazy("Cyrillic")
    GREEK = "greek", gettext_lazy("Greek")
    ARABIC = "arabic", gettext_lazy("Arabic")
    DEVANAGARI = "devanagari", gettext_lazy("Devanagari")
    HEBREW = "hebrew", gettext_lazy("Hebrew")
    THAI = "thai", gettext_lazy("Thai")
    HANGUL = "hangul", gettext_lazy("Hangul")
    BENGALI = "bengali", gettext_lazy("Bengali")
    TAMIL = "tamil", gettext_lazy("Tamil")


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

    OPEN = "open", gettext_lazy("To review")  # its rows are worked on
    SIGNED = "signed", gettext_lazy("Signed")  # its rows are the job's results
    REJECTED = "rejected", gettext_lazy("Rejected")  # the report has no usable values
    WITHDRAWN = "withdrawn", gettext_lazy("Withdrawn")  # an amendment that was given up


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

    FIRST = "first", gettext_lazy("Review")  # of the machine's reading, or an amendment
    SECOND = "second", gettext_lazy("Second read")  # blind to the first reader's work
    DISPUTE = (
        "dispute",
        gettext_lazy("Disputed"),
    )  # two readers disagreed: a third decides


class RowDecision(OpenChoices):
    """What a reviewer made of a row (Ours)."""

    UNDECIDED = "undecided", gettext_lazy("Undecided")
    CONFIRMED = "confirmed", gettext_lazy("Confirmed")  # as it stands
    EDITED = "edited", gettext_lazy("Edited")
    EXCLUDED = "excluded", gettext_lazy("Excluded")  # kept here, in no result
    ADDED = "added", gettext_lazy("Added")  # by a person: the machine had no such row


class RowPart(OpenChoices):
    """A part of a row that has a place on the page (Ours)."""

    NAME = "name", gettext_lazy("Name")
    VALUE = "value", gettext_lazy("Value")
    UNITS = "units", gettext_lazy("Unit")
    REFERENCE_RANGE = "reference_range", gettext_lazy("Range")


class PictureSize(StrEnum):
    """How large a page is drawn (Ours)."""

    FULL = "full"
    SMALL = "small"  # to know a page by, not to read it


class AliasStatus(OpenChoices):
    """Where a team's alias stands (Ours)."""

    PROPOSED = (
        "proposed",
        gettext_lazy("Proposed"),
    )  # by the reviewer who chose the code
    LIVE = (
        "live",
        gettext_lazy("Active"),
    )  # a second person agreed: later reports use it
    ENDED = "ended", gettext_lazy("Ended")  # declined, or taken back


ALIAS_MOVES = Transitions(
    {
        AliasStatus.PROPOSED: {AliasStatus.LIVE, AliasStatus.ENDED},
        AliasStatus.LIVE: {AliasStatus.ENDED},
        AliasStatus.ENDED: set(),
    }
)  # Ours: what was taken back is proposed anew.


class SignatureMeaning(OpenChoices):
    """What a signature says (Ours)."""

    ACCURACY = "accuracy", gettext_lazy("Reviewed for accuracy")
    CLINICAL = "clinical", gettext_lazy("Reviewed clinically")


class RejectionReason(OpenChoices):
    """Why a reviewer rejects a report (Ours; contract 7.2 has the wire's reasons)."""

    NOT_A_REPORT = "not_a_report", gettext_lazy("Not a lab report")
    UNREADABLE = "unreadable", gettext_lazy("Unreadable")
    WRONG_PERSON = "wrong_person", gettext_lazy("Wrong patient")
    OTHER_LANGUAGE = "other_language", gettext_lazy("Unsupported language")


REJECTED_AS = {
    RejectionReason.NOT_A_REPORT: ParsingJobFailureReason.INVALID_INPUT,
    RejectionReason.WRONG_PERSON: ParsingJobFailureReason.INVALID_INPUT,
    RejectionReason.UNREADABLE: ParsingJobFailureReason.LOW_QUALITY,
    RejectionReason.OTHER_LANGUAGE: ParsingJobFailureReason.NOT_ENGLISH,
}  # Contract 7.2.


class HoldReason(OpenChoices):
    """What a check found that holds a report (Ours; contract D14)."""

    NAME_MISMATCH = (
        "name_mismatch",
        gettext_lazy("The name on the report differs from the user's."),
    )
    BIRTH_DATE_MISMATCH = (
        "birth_date_mismatch",
        gettext_lazy("The birth date on the report differs from the user's."),
    )
    SEX_MISMATCH = (
        "sex_mismatch",
        gettext_lazy("The sex on the report differs from the user's."),
    )
    SEVERAL_PATIENTS = (
        "several_patients",
        gettext_lazy("Pages of the report name several patients."),
    )
    DUPLICATE_REPORT = (
        "duplicate_report",
        gettext_lazy("The same file was uploaded before."),
    )
    DUPLICATE_SPECIMEN = (
        "duplicate_specimen",
        gettext_lazy("A report of the same specimen was uploaded before."),
    )
    REPORT_TOO_OLD = "report_too_old", gettext_lazy("The report is too old.")
    DATE_IN_FUTURE = (
        "date_in_future",
        gettext_lazy("A date on the report is in the future."),
    )
    HIDDEN_TEXT = (
        "hidden_text",
        gettext_lazy("The file has text that its pages do not show."),
    )
    ORDER_MISMATCH = (
        "order_mismatch",
        gettext_lazy(
            "The report is of another order, or has nothing that was ordered."
        ),
    )
    ORDER_UNCONFIRMED = (
        "order_unconfirmed",
        gettext_lazy("Neither the sample ID nor name and birth date match the order."),
    )


HOLD_REASON_CHECKS = {
    HoldReason.NAME_MISMATCH: ReportCheck.NAME,
    HoldReason.BIRTH_DATE_MISMATCH: ReportCheck.BIRTH_DATE,
    HoldReason.SEX_MISMATCH: ReportCheck.SEX,
    HoldReason.SEVERAL_PATIENTS: ReportCheck.SEVERAL_PATIENTS,
    HoldReason.DUPLICATE_REPORT: ReportCheck.DUPLICATE,
    HoldReason.DUPLICATE_SPECIMEN: ReportCheck.DUPLICATE,
    HoldReason.REPORT_TOO_OLD: ReportCheck.REPORT_DATE,
    HoldReason.DATE_IN_FUTURE: ReportCheck.REPORT_DATE,
    HoldReason.HIDDEN_TEXT: ReportCheck.HIDDEN_TEXT,
    HoldReason.ORDER_MISMATCH: ReportCheck.ORDER,
    HoldReason.ORDER_UNCONFIRMED: ReportCheck.ORDER,
}  # Ours: the team's setting that decides about each.

# By the detail that is compared with the user's.
PATIENT_REASONS = {
    "name": HoldReason.NAME_MISMATCH,
    "dob": HoldReason.BIRTH_DATE_MISMATCH,
    "gender": HoldReason.SEX_MISMATCH,
}
ORDER_REASONS = {HoldReason.ORDER_MISMATCH, HoldReason.ORDER_UNCONFIRMED}
DUPLICATE_REASONS = {HoldReason.DUPLICATE_REPORT, HoldReason.DUPLICATE_SPECIMEN}


class DocumentStatus(OpenChoices):
    """Where a document that came without an order stands (Ours)."""

    READING = "reading", gettext_lazy("Processing")
    UNMATCHED = "unmatched", gettext_lazy("Unmatched")
    MATCHED = "matched", gettext_lazy("Matched")
    REJECTED = "rejected", gettext_lazy("Rejected")


DOCUMENT_MOVES = Transitions(
    {
        DocumentStatus.READING: {DocumentStatus.UNMATCHED, DocumentStatus.MATCHED},
        DocumentStatus.UNMATCHED: {DocumentStatus.MATCHED, DocumentStatus.REJECTED},
        DocumentStatus.MATCHED: set(),
        DocumentStatus.REJECTED: {DocumentStatus.UNMATCHED},
    }
)  # Ours, as of lab reports by message: a rejection that was wrong can be undone.


class DocumentReason(OpenChoices):
    """Why a document was not matched to an order (Ours)."""

    NO_ORDER = "no_order", gettext_lazy("No matching order")
    SEVERAL_ORDERS = "several_orders", gettext_lazy("Several orders match")
    PERSON_DIFFERS = "person_differs", gettext_lazy("Patient differs from the order")
    SEVERAL_PATIENTS = (
        "several_patients",
        gettext_lazy("Pages name several patients"),
    )
    NOTHING_ORDERED = "nothing_ordered", gettext_lazy("Has nothing that was ordered")
    NOT_EXPECTED = (
        "not_expected",
        gettext_lazy("Order does not accept results in its current status"),
    )
    UNREADABLE = "unreadable", gettext_lazy("Could not be read")
    REVIEW_DISABLED = (
        "review_disabled",
        gettext_lazy("Report reading or clinician review is turned off"),
    )


class MailOutcome(OpenChoices):
    """What became of a mail (Ours)."""

    ACCEPTED = "accepted", gettext_lazy("Accepted")  # its documents are stored
    HELD = "held", gettext_lazy("Held")  # judged again at the next poll
    REFUSED = "refused", gettext_lazy("Refused")  # nothing of it is stored


class MailReason(OpenChoices):
    """Why a mail was refused or is held (Ours); files add the codes of uploads."""

    SENDER_UNCLEAR = "sender_unclear", gettext_lazy("No single sender address")
    SENDER_NOT_LISTED = "sender_not_listed", gettext_lazy("Sender is not on the list")
    NOT_SIGNED = "not_signed", gettext_lazy("No DKIM signature of the sender's domain")
    SIGNATURE_INVALID = "signature_invalid", gettext_lazy("DKIM signature is not valid")
    OWN_MAIL = "own_mail", gettext_lazy("Sent by this mailbox or this server")
    AUTOMATIC_REPLY = "automatic_reply", gettext_lazy("Automatic reply or bounce")
    MAILING_LIST = "mailing_list", gettext_lazy("Mailing list or bulk mail")
    MAIL_TOO_LARGE = "mail_too_large", gettext_lazy("Mail is larger than 16 MB")
    MAIL_MALFORMED = "mail_malformed", gettext_lazy("Mail can't be read")
    MAIL_REMOVED = "mail_removed", gettext_lazy("Removed from the mailbox")
    NO_DOCUMENT = "no_document", gettext_lazy("No PDF, JPEG or PNG attached")
    KNOWN_DOCUMENT = "known_document", gettext_lazy("Received before")
    TOO_MANY_FILES = "too_many_files", gettext_lazy("More than 8 files attached")
    FILE_TOO_LARGE = "file_too_large", gettext_lazy("Attachments are over 10 MB")
    EMPTY_FILE = "empty_file", gettext_lazy("An attachment is empty")
    UNSUPPORTED_FILE = (
        "unsupported_file_type",
        gettext_lazy("An attachment is no PDF, JPEG or PNG"),
    )
    MISMATCH = (
        "file_type_mismatch",
        gettext_lazy("An attachment's content does not match its type"),
    )
    ENCRYPTED = "encrypted_file", gettext_lazy("A PDF is encrypted")
    UNREADABLE = "unreadable_file", gettext_lazy("An attachment is damaged")
    TOO_MANY_PIXELS = "too_many_pixels", gettext_lazy("An image is too large")
    INFECTED = "file_infected", gettext_lazy("The malware scanner rejected a file")
    PARSING_OFF = (
        "parsing_not_enabled",
        gettext_lazy("Report reading is turned off for this team"),
    )
    DNS_UNAVAILABLE = (
        "dns_unavailable",
        gettext_lazy("DNS did not answer, so the signature can't be checked"),
    )
    SCANNER_UNAVAILABLE = (
        "scanner_unavailable",
        gettext_lazy("The malware scanner did not answer"),
    )
    STORAGE_UNAVAILABLE = (
        "storage_unavailable",
        gettext_lazy("The file storage did not answer"),
    )


class MailboxFault(OpenChoices):
    """Why a mailbox could not be polled (Ours)."""

    UNREACHABLE = "unreachable", gettext_lazy("the server does not answer")
    NOT_ALLOWED = "not_allowed", gettext_lazy("the address is private")
    TLS = "tls", gettext_lazy("the server's certificate is not valid")
    SIGN_IN = "sign_in", gettext_lazy("the server refused the user name or password")
    FOLDER = "folder", gettext_lazy("there is no such folder")
    PROTOCOL = "protocol", gettext_lazy("the server's answer can't be understood")


class MailEncryption(OpenChoices):
    """How a connection to a mail server is encrypted (Ours)."""

    TLS = "tls", gettext_lazy("TLS (port 993)")
    STARTTLS = "starttls", gettext_lazy("STARTTLS (port 143)")
    NONE = "none", gettext_lazy("None, on this machine only")

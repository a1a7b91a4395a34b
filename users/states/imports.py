"""Statuses, formats, refusals and skip reasons of file imports."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy


class ImportFormat(OpenChoices):
    """Format of a file."""

    APPLE_HEALTH = "apple_health", gettext_lazy("Apple Health export")
    FIT = "fit", gettext_lazy("FIT activity")
    CSV = "csv", gettext_lazy("CSV of samples")
    NDJSON = "ndjson", gettext_lazy("NDJSON of samples")


class ImportStatus(OpenChoices):
    """Status of an import; nothing of the file is stored before `storing`."""

    WAITING = "waiting", gettext_lazy("Waiting")  # for a worker
    READING = "reading", gettext_lazy("Reading")  # the whole file is read and checked
    STORING = (
        "storing",
        gettext_lazy("Storing"),
    )  # what was read is stored, part by part
    COMPLETED = "completed", gettext_lazy("Completed")
    REFUSED = (
        "refused",
        gettext_lazy("Refused"),
    )  # the file is at fault; nothing was stored
    FAILED = "failed", gettext_lazy("Failed")  # we are; parts may be stored
    CANCELLED = "cancelled", gettext_lazy("Cancelled")  # parts may be stored

    @property
    def is_open(self) -> bool:
        """Return whether the import has not ended."""
        return self in OPEN_IMPORTS


OPEN_IMPORTS = frozenset(
    {ImportStatus.WAITING, ImportStatus.READING, ImportStatus.STORING}
)
_ENDS = {ImportStatus.FAILED, ImportStatus.CANCELLED}
IMPORT_MOVES: Transitions[ImportStatus] = Transitions(
    {
        ImportStatus.WAITING: {ImportStatus.READING, *_ENDS},
        # A run that was cut short reads again.
        ImportStatus.READING: {
            ImportStatus.STORING,
            ImportStatus.REFUSED,
            *_ENDS,
        },
        ImportStatus.STORING: {ImportStatus.COMPLETED, *_ENDS},
        ImportStatus.COMPLETED: set(),
        ImportStatus.REFUSED: set(),
        ImportStatus.FAILED: set(),
        ImportStatus.CANCELLED: set(),
    }
)


class ImportRefusal(OpenChoices):
    """Reason why a file is refused; also the code of the error."""

    EMPTY = "file_empty", gettext_lazy("The file is empty.")
    UNSUPPORTED = (
        "unsupported_file_type",
        gettext_lazy(
            "Upload an Apple Health export, a FIT activity, or samples (CSV, NDJSON)."
        ),
    )
    TOO_LARGE = "file_too_large", gettext_lazy("The file is larger than 2 GB.")
    DAMAGED = "file_damaged", gettext_lazy("The file is damaged or incomplete.")
    ENCRYPTED = "encrypted_file", gettext_lazy("The archive is encrypted.")
    UNPACKS_TOO_LARGE = (
        "archive_too_large",
        gettext_lazy("The unpacked archive is too large."),
    )
    NO_EXPORT = (
        "no_export_inside",
        gettext_lazy("The archive contains no health export."),
    )
    NOT_ALLOWED_XML = (
        "xml_not_allowed",
        gettext_lazy("The file declares XML entities, which are not allowed."),
    )
    NO_ROWS = (
        "nothing_to_import",
        gettext_lazy("The file contains no records that can be stored."),
    )
    PROCESSING_ERROR = (
        "processing_error",
        gettext_lazy("The file could not be processed."),
    )


class DropReason(OpenChoices):
    """Reason why rows of a file are skipped; faults of values use their type."""

    UNKNOWN_KIND = "unknown_kind", gettext_lazy("Kind not supported")
    UNKNOWN_UNIT = "unknown_unit", gettext_lazy("Unknown unit")
    NO_VALUE = "no_value", gettext_lazy("No readable value")
    SAME_MOMENT = "same_moment", gettext_lazy("Duplicate of the same time")
    IN_BED_ONLY = "in_bed_only", gettext_lazy("Time in bed without sleep")
    OUTSIDE_CYCLES = "outside_cycles", gettext_lazy("Before the first known cycle")
    PART_OF_ANOTHER = "part_of_another", gettext_lazy("Part of another record")
    OUT_OF_BOUNDS = "out_of_bounds", gettext_lazy("Outside the ingestion window")
    BAD_ROW = "bad_row", gettext_lazy("Malformed row")
    BAD_TIME = "datetime_parsing", gettext_lazy("Invalid time")
    TOO_LOW = "greater_than_equal", gettext_lazy("Below the allowed range")
    TOO_HIGH = (
        "less_than_equal",
        gettext_lazy("Above the allowed range or in the future"),
    )
    BAD_VALUE = "value_error", gettext_lazy("Invalid value")
    MISSING = "missing", gettext_lazy("Required field missing")
    NOT_ALLOWED = "enum", gettext_lazy("Value or unit not allowed")

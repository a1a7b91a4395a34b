"""Where an import of a file stands, what kind of file it is, why rows are left out.

Must not be here: the one writer of an import's status (users.operations.imports).
"""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.transitions import Transitions


class ImportFormat(OpenChoices):
    """What a file was found to be."""

    APPLE_HEALTH = "apple_health", "Apple Health export"
    FIT = "fit", "FIT activity"
    CSV = "csv", "CSV of samples"
    NDJSON = "ndjson", "NDJSON of samples"


class ImportStatus(OpenChoices):
    """How far an import is; nothing of the file is stored before `storing`."""

    WAITING = "waiting", "Waiting"  # for a worker
    READING = "reading", "Reading"  # the whole file is read and checked
    STORING = "storing", "Storing"  # what was read is stored, part by part
    COMPLETED = "completed", "Completed"
    REFUSED = "refused", "Refused"  # the file is at fault; nothing was stored
    FAILED = "failed", "Failed"  # we are; parts may be stored
    CANCELLED = "cancelled", "Cancelled"  # parts may be stored

    @property
    def is_open(self) -> bool:
        """Whether there is something left to do."""
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
    """Why a file is not taken; the code of the error as well."""

    EMPTY = "file_empty", "The file is empty."
    UNSUPPORTED = (
        "unsupported_file_type",
        "This is no Apple Health export, FIT activity, CSV or NDJSON of samples.",
    )
    TOO_LARGE = "file_too_large", "The file is too large."
    DAMAGED = "file_damaged", "The file is damaged or incomplete."
    ENCRYPTED = "encrypted_file", "The archive is encrypted."
    UNPACKS_TOO_LARGE = (
        "archive_too_large",
        "What the archive unpacks to is too large.",
    )
    NO_EXPORT = "no_export_inside", "There is no health export in the archive."
    NOT_ALLOWED_XML = (
        "xml_not_allowed",
        "The file declares entities, which health exports have none of.",
    )
    NO_ROWS = "nothing_to_import", "There is nothing in the file that can be stored."
    PROCESSING_ERROR = "processing_error", "The file could not be processed."


class DropReason(OpenChoices):
    """Why rows of a file are left out; a fault of a value is told by its own type."""

    UNKNOWN_KIND = "unknown_kind", "Of a kind that is not kept"
    UNKNOWN_UNIT = "unknown_unit", "In a unit that is not known"
    NO_VALUE = "no_value", "Without a value that can be read"
    SAME_MOMENT = "same_moment", "Told before for the same moment"
    IN_BED_ONLY = "in_bed_only", "Time in bed without any sleep"
    OUTSIDE_CYCLES = "outside_cycles", "Before the first cycle that is known"
    PART_OF_ANOTHER = "part_of_another", "Part of a record that is kept whole"
    OUT_OF_BOUNDS = "out_of_bounds", "Outside of the user's ingestion dates"
    BAD_ROW = "bad_row", "Not a row as it has to be"
    BAD_TIME = "datetime_parsing", "A time that can't be read"
    TOO_LOW = "greater_than_equal", "Below what is possible"
    TOO_HIGH = "less_than_equal", "Above what is possible, or in the future"
    BAD_VALUE = "value_error", "A value that can't be right"
    MISSING = "missing", "Something that is needed is missing"
    NOT_ALLOWED = "enum", "A word or unit that is not allowed"

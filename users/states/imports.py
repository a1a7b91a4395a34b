"""Statuses, formats, refusals and skip reasons of file imports."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy, pgettext_lazy


class ImportFormat(OpenChoices):
    """Format of a file."""

    APPLE_HEALTH = "apple_health", gettext_lazy("Apple Health export")
    FIT = "fit", gettext_lazy("FIT activity")
    CSV = "csv", gettext_lazy("CSV of samples")
    NDJSON = "ndjson", gettext_lazy("NDJSON of samples")
    GPX = "gpx", gettext_lazy("GPX track")
    TCX = "tcx", gettext_lazy("TCX activity")
    LIBREVIEW = "libreview", gettext_lazy("LibreView export")
    CLARITY = "clarity", gettext_lazy("Dexcom Clarity export")
    GOOGLE_FIT = "google_fit", gettext_lazy("Google Fit export")
    FITBIT = "fitbit", gettext_lazy("Fitbit export")
    SAMSUNG_HEALTH = "samsung_health", gettext_lazy("Samsung Health export")
    GARMIN = "garmin", gettext_lazy("Garmin Connect export")
    STRAVA = "strava", gettext_lazy("Strava export")
    WHOOP = "whoop", gettext_lazy("WHOOP export")
    WITHINGS = "withings", gettext_lazy("Withings export")
    OURA = "oura", gettext_lazy("Oura export")
    HEALTH_CONNECT = "health_connect", gettext_lazy("Health Connect database")
    NIGHTSCOUT = "nightscout", gettext_lazy("Nightscout export")


class ImportStatus(OpenChoices):
    """Status of an import; nothing of the file is stored before `storing`."""

    WAITING = "waiting", gettext_lazy("Waiting")  # for a worker
    READING = "reading", gettext_lazy("Reading")  # the whole file is read and checked
    READY = "ready", gettext_lazy("Ready to store")  # a member confirms the plan
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
    CANCELLED = "cancelled", pgettext_lazy("import", "Cancelled")  # parts may be stored

    @property
    def is_open(self) -> bool:
        """Return whether the import has not ended."""
        return self in OPEN_IMPORTS


OPEN_IMPORTS = frozenset(
    {
        ImportStatus.WAITING,
        ImportStatus.READING,
        ImportStatus.READY,
        ImportStatus.STORING,
    }
)
_ENDS = {ImportStatus.FAILED, ImportStatus.CANCELLED}
IMPORT_MOVES: Transitions[ImportStatus] = Transitions(
    {
        ImportStatus.WAITING: {ImportStatus.READING, *_ENDS},
        # A run that was cut short reads again.
        ImportStatus.READING: {
            ImportStatus.READY,
            ImportStatus.STORING,
            ImportStatus.REFUSED,
            *_ENDS,
        },
        ImportStatus.READY: {ImportStatus.STORING, *_ENDS},
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
            "This is not a health export that can be read. Upload an export of a health"
            " app, an activity (FIT, GPX, TCX), or samples (CSV, NDJSON)."
        ),
    )
    NOT_READ_YET = (
        "export_not_supported",
        gettext_lazy("This export was recognized, but cannot be read yet."),
    )
    DATES_AMBIGUOUS = (
        "dates_ambiguous",
        gettext_lazy(
            "The dates can be read in two ways, day or month first. Export more days,"
            " or export again with another date format."
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
    UNKNOWN_FILE = "unknown_file", gettext_lazy("File of the archive not supported")
    BAD_FILE = "bad_file", gettext_lazy("Damaged file of the archive")
    NO_BEATS = "no_beats", gettext_lazy("SDNN without beats to compute RMSSD from")
    OUT_OF_RANGE = (
        "out_of_sensor_range",
        gettext_lazy("Outside the range of the sensor, kept as a note"),
    )
    SALVAGED = "salvaged", gettext_lazy("Lost in the damaged part of a file")
    BAD_POINT = "bad_point", gettext_lazy("Impossible point of a track")
    NO_WORKOUT = "no_workout", gettext_lazy("Route that no workout of the file names")
    CLINICAL = (
        "clinical_record",
        gettext_lazy("Clinical record (FHIR) other than lab results"),
    )
    CALIBRATION = "calibration", gettext_lazy("Calibration or setting of a device")
    BAD_TIME = "datetime_parsing", gettext_lazy("Invalid time")
    TOO_LOW = "greater_than_equal", gettext_lazy("Below the allowed range")
    TOO_HIGH = (
        "less_than_equal",
        gettext_lazy("Above the allowed range or in the future"),
    )
    BAD_VALUE = "value_error", gettext_lazy("Invalid value")
    MISSING = "missing", gettext_lazy("Required field missing")
    NOT_ALLOWED = "enum", gettext_lazy("Value or unit not allowed")

"""Rows that file readers yield: samples, summaries, streams, reports and skips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from uuid import UUID

from users.states import SourceType

if TYPE_CHECKING:
    from users.states.imports import DropReason


class ReportedDevice(NamedTuple):
    """A device as a file describes it; `id` is the file's, stable across files."""

    id: str
    manufacturer: str | None = None
    model: str | None = None


class Origin(NamedTuple):
    """The device or app of a row's source (contract 3.3).

    A file names a device by the id that we gave it, or tells what it is. `provider` is
    empty but in an archive of several makers: then it is the row's own.
    """

    source_type: str = str(SourceType.UNKNOWN)
    app_id: str | None = None
    device_id: UUID | None = None
    device: ReportedDevice | None = None
    provider: str = ""


class SampleRow(NamedTuple):
    """A sample of a timeseries, as it would be pushed (contract 5.4)."""

    resource: str
    origin: Origin
    element: dict[str, Any]


class SummaryRow(NamedTuple):
    """A summary as it would be pushed; `rows` of the file make it."""

    resource: str
    origin: Origin
    element: dict[str, Any]
    rows: int = 1


class StreamRow(NamedTuple):
    """The stream of the workout that was yielded as `workout` before."""

    workout: dict[str, Any]
    body: dict[str, list[Any]]
    origin: Origin = Origin()


class LabReportRow(NamedTuple):
    """A report of a laboratory, see formats.fhir.lab_reports; of `rows` of the file.

    `at` is when it is of, in ISO 8601 and UTC.
    """

    element: dict[str, Any]
    at: str
    rows: int = 1


class MergedRows(NamedTuple):
    """Rows merged into a summary, which counts none itself."""

    rows: int = 1


class SkippedRows(NamedTuple):
    """Skipped rows: the reason, and their kind as the file names it."""

    reason: DropReason
    what: str
    rows: int = 1


Row = SampleRow | SummaryRow | StreamRow | LabReportRow | MergedRows | SkippedRows


class Reader(Protocol):
    """A file being read. `provider` and `bytes_total` are known once rows come."""

    provider: str
    bytes_total: int

    @property
    def bytes_read(self) -> int:
        """Return the progress in bytes of `bytes_total`."""
        ...

    def rows(self) -> Iterator[Row]:
        """Yield all rows in file order. Raises: FileRefused, at any point."""
        ...

"""What a reader of a file yields: samples, summaries, streams, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from uuid import UUID

from users.states import SourceType

if TYPE_CHECKING:
    from users.states.imports import DropReason


class ReportedDevice(NamedTuple):
    """A device as a file tells of it; `id` is the file's own, the same in each file."""

    id: str
    manufacturer: str | None = None
    model: str | None = None


class Origin(NamedTuple):
    """Which thing or app of the source a row comes from (contract 3.3).

    A file names a device by the id that we gave it, or tells what it is.
    """

    source_type: str = str(SourceType.UNKNOWN)
    app_id: str | None = None
    device_id: UUID | None = None
    device: ReportedDevice | None = None


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


class MergedRows(NamedTuple):
    """Rows that become part of a summary, which counts none of its own."""

    rows: int = 1


class SkippedRows(NamedTuple):
    """Rows that are left out, why, and what they are, by the file's own word."""

    reason: DropReason
    what: str
    rows: int = 1


Row = SampleRow | SummaryRow | StreamRow | MergedRows | SkippedRows


class Reader(Protocol):
    """A file being read. `provider` and `bytes_total` are known once rows come."""

    provider: str
    bytes_total: int

    @property
    def bytes_read(self) -> int:
        """How far it is, in bytes of `bytes_total`."""
        ...

    def rows(self) -> Iterator[Row]:
        """All of the file, in its order. Raises: FileRefused, at any point."""
        ...

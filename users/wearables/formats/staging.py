"""Staging: parse a file, check each row, and write valid ones in parts.

Nothing is stored before the whole file was read, so that a refusal leaves nothing
behind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from users.states.imports import DropReason, ImportFormat
from users.wearables.formats.apple.export import AppleHealthReader
from users.wearables.formats.fhir.lab_reports import LAB_REPORT_RESOURCE
from users.wearables.formats.moments import Moments
from users.wearables.formats.parts import Part, PartKind, PartsWriter
from users.wearables.formats.rows import (
    LabReportRow,
    MergedRows,
    Origin,
    SampleRow,
    SkippedRows,
    SummaryRow,
)
from users.wearables.formats.tables import CsvReader, NdjsonReader
from users.wearables.formats.upload_reader import UploadReader
from users.wearables.readings import ElementsInvalid
from users.wearables.streams import STREAM_RESOURCE, StreamInvalid, parse_workout_stream
from users.wearables.summaries import SUMMARIES, WORKOUTS
from users.wearables.timeseries import TIMESERIES
from users.wearables.timeseries.readings import parse_sample_batch

if TYPE_CHECKING:
    from pathlib import Path

    from users.wearables.formats.rows import Reader, Row, StreamRow
    from users.wearables.readings import Context
    from users.wearables.resources import SummaryReading
    from users.wearables.timeseries.readings import SampleReadings

# Ours: a transaction of some 100 ms, and a line of half a megabyte.
_PART_SAMPLES = 5000
_PART_SUMMARIES = 200
_PART_LAB_REPORTS = 50
# Elements that wait in memory, of all parts that are being filled.
_WAITING_MAX = 40_000
# Rows between two words about how far it is.
_TELL_EVERY = 2000
# Ours: a file may have any word for a kind of row; people read the first of them.
_WHATS_MAX = 60
_OTHERS = "others"
_WHAT_MAX_LENGTH = 100
_MICROSECOND = 1_000_000
READERS: dict[ImportFormat, Callable[[Path, Context, str], Reader]] = {
    **dict.fromkeys(ImportFormat, UploadReader),
    ImportFormat.APPLE_HEALTH: AppleHealthReader,
    ImportFormat.CSV: CsvReader,
    ImportFormat.NDJSON: NdjsonReader,
}


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of parsing a file."""

    bytes_read: int
    bytes_total: int
    rows_read: int
    rows_dropped: int


@dataclass(frozen=True, slots=True)
class Staged:
    """The result of parsing: `parts` to store, and skipped rows by reason.

    `drops` is {reason: {what: rows}}, `plan` {resource: {rows, first, last}} by the
    contract's names, of what would be stored.
    """

    provider: str
    bytes_total: int
    parts: int
    rows_read: int
    rows_dropped: int
    drops: dict[str, dict[str, int]]
    plan: dict[str, dict[str, Any]]


def parse_file_into_parts(
    path: Path,
    parts_path: Path,
    *,
    format_: ImportFormat,
    context: Context,
    on_progress: Callable[[Progress], None],
    file_name: str = "",
) -> Staged:
    """Parse a whole file and write its parts to `parts_path`.

    `context` names the source of formats that tell none. Of samples of one identity the
    first counts, so that the same file gives the same rows again. What `on_progress`
    raises ends it. `file_name` is the sender's, for members that only their name tells.
    Raises: FileRefused.
    """
    reader = READERS[format_](path, context, file_name)
    with PartsWriter(parts_path) as writer:
        staging = _Staging(writer, context)
        for number, row in enumerate(reader.rows()):
            if not number:
                staging.context = replace(context, provider=reader.provider)
            staging.take(row)
            if number % _TELL_EVERY == 0:
                on_progress(staging.progress(reader))
        staging.finish()
        return Staged(
            provider=reader.provider,
            bytes_total=reader.bytes_total,
            parts=writer.count,
            rows_read=staging.rows_read,
            rows_dropped=staging.rows_dropped,
            drops={reason: dict(whats) for reason, whats in staging.drops.items()},
            plan=staging.plan,
        )


class _Staging:
    """Elements of parts that are not full yet."""

    def __init__(self, writer: PartsWriter, context: Context) -> None:
        self.writer = writer
        self.context = context
        self.rows_read = 0
        self.rows_dropped = 0
        self.drops: dict[str, dict[str, int]] = {}
        self.plan: dict[str, dict[str, Any]] = {}
        self._samples: dict[tuple[str, Origin], list[dict[str, Any]]] = {}
        self._summaries: dict[tuple[str, Origin], list[SummaryRow]] = {}
        self._lab_reports: list[LabReportRow] = []
        self._waiting = 0
        self._told: dict[tuple[str, str, str, str | None], Moments] = defaultdict(
            Moments
        )
        self._ids: set[object] = set()

    def take(self, row: Row) -> None:
        """Add a row to its part, and write the part when full."""
        if isinstance(row, SampleRow):
            self.rows_read += 1
            self._add_sample(row)
        elif isinstance(row, SkippedRows):
            self.rows_read += row.rows
            self._drop(row.reason, row.what, row.rows)
        elif isinstance(row, MergedRows):
            self.rows_read += row.rows
        elif isinstance(row, LabReportRow):
            self.rows_read += row.rows
            self._lab_reports.append(row)
            if len(self._lab_reports) >= _PART_LAB_REPORTS:
                self._write_lab_reports()
        elif isinstance(row, SummaryRow):
            self.rows_read += row.rows
            key = (row.resource, row.origin)
            waiting = self._summaries.setdefault(key, [])
            waiting.append(row)
            if len(waiting) >= _PART_SUMMARIES:
                self._write_summaries(*key, self._summaries.pop(key))
        else:
            self._write_stream(row)

    def finish(self) -> None:
        """Write the remaining parts."""
        for key in sorted(self._samples, key=str):
            self._write_samples(*key, self._samples[key])
        self._samples = {}
        self._write_all_summaries()
        self._write_lab_reports()

    def progress(self, reader: Reader) -> Progress:
        """Return the progress."""
        return Progress(
            min(reader.bytes_read, reader.bytes_total),
            reader.bytes_total,
            self.rows_read,
            self.rows_dropped,
        )

    def _add_sample(self, row: SampleRow) -> None:
        key = (row.resource, row.origin)
        waiting = self._samples.setdefault(key, [])
        waiting.append(row.element)
        self._waiting += 1
        if len(waiting) >= _PART_SAMPLES:
            self._flush(key)
        elif self._waiting >= _WAITING_MAX:
            self._flush(max(self._samples, key=lambda each: len(self._samples[each])))

    def _flush(self, key: tuple[str, Origin]) -> None:
        elements = self._samples.pop(key)
        self._waiting -= len(elements)
        self._write_samples(*key, elements)

    def _write_samples(
        self, slug: str, origin: Origin, elements: list[dict[str, Any]]
    ) -> None:
        resource = TIMESERIES[slug]
        try:
            read = parse_sample_batch(resource, elements, self.context)
        except ElementsInvalid:
            # The provider of a sample says nothing of how it is read.
            elements = [each for each in elements if self._can_store(slug, each)]
            if not elements:
                return
            read = parse_sample_batch(resource, elements, self.context)
        places = self._find_new_samples(slug, origin, read)
        if len(places) < len(elements):
            self._drop(DropReason.SAME_MOMENT, slug, len(elements) - len(places))
            elements = [elements[place] for place in places]
        if elements:
            self._write(
                Part(
                    kind=PartKind.SAMPLES,
                    resource=slug,
                    origin=origin,
                    elements=elements,
                    first=min(read.ts).isoformat(),
                    last=max(read.ts).isoformat(),
                )
            )

    def _can_store(self, slug: str, element: dict[str, Any]) -> bool:
        try:
            parse_sample_batch(TIMESERIES[slug], [element], self.context)
        except ElementsInvalid as invalid:
            self._drop(_reason_of(invalid), slug)
            return False
        return True

    def _find_new_samples(
        self, slug: str, origin: Origin, read: SampleReadings
    ) -> list[int]:
        """Return the positions of samples with a new identity, in order."""
        moments = [round(ts.timestamp() * _MICROSECOND) for ts in read.ts]
        key = (slug, origin.provider, origin.source_type)
        types = set(read.types)
        if len(types) == 1:
            return self._told[(*key, types.pop())].add(moments)
        new_places: list[int] = []
        for type_ in types:
            places = [place for place, each in enumerate(read.types) if each == type_]
            seen = self._told[(*key, type_)]
            new_places += [
                places[each] for each in seen.add([moments[place] for place in places])
            ]
        return sorted(new_places)

    def _write_all_summaries(self) -> None:
        for key in sorted(self._summaries, key=str):
            self._write_summaries(*key, self._summaries[key])
        self._summaries = {}

    def _write_summaries(
        self, slug: str, origin: Origin, rows: list[SummaryRow]
    ) -> None:
        read: list[SummaryReading] = []
        elements = []
        context = self._context_of(origin)
        for row in rows:
            try:
                (reading,) = SUMMARIES[slug].read([row.element], context)
            except ElementsInvalid as invalid:
                self._drop(_reason_of(invalid), slug, row.rows)
                continue
            if reading.id in self._ids:
                self._drop(DropReason.SAME_MOMENT, slug, row.rows)
                continue
            self._ids.add(reading.id)
            read.append(reading)
            elements.append(row.element)
        if elements:
            places = [each.place for each in read]
            self._write(
                Part(
                    kind=PartKind.SUMMARIES,
                    resource=slug,
                    origin=origin,
                    elements=elements,
                    first=min(place.starts_at for place in places).isoformat(),
                    last=max(
                        place.ends_at or place.starts_at for place in places
                    ).isoformat(),
                )
            )

    def _write_lab_reports(self) -> None:
        """Write the reports that wait; readers yield each once."""
        rows, self._lab_reports = self._lab_reports, []
        if rows:
            self._write(
                Part(
                    kind=PartKind.LAB_REPORTS,
                    resource=LAB_REPORT_RESOURCE,
                    origin=Origin(),
                    elements=[row.element for row in rows],
                    first=min(row.at for row in rows),
                    last=max(row.at for row in rows),
                )
            )

    def _write_stream(self, row: StreamRow) -> None:
        """Write a stream after its workout; skip an invalid one."""
        self._write_all_summaries()
        try:
            (workout,) = WORKOUTS.read([row.workout], self._context_of(row.origin))
            parse_workout_stream(row.body, now=self.context.now)
        except (ElementsInvalid, StreamInvalid):
            self.rows_read += 1
            self._drop(DropReason.BAD_VALUE, STREAM_RESOURCE)
            return
        place = workout.place
        self._write(
            Part(
                kind=PartKind.STREAM,
                resource=STREAM_RESOURCE,
                origin=row.origin,
                elements=[row.body],
                first=place.starts_at.isoformat(),
                last=(place.ends_at or place.starts_at).isoformat(),
                workout_id=workout.id,
            )
        )

    def _write(self, part: Part) -> None:
        """Write a part, and add it to the plan."""
        self.writer.write(part)
        name = part.resource
        if part.kind == PartKind.SAMPLES:
            name = TIMESERIES[name].event_resource
        old = self.plan.get(name, {"rows": 0, "first": part.first, "last": part.last})
        # Both are UTC and of one form, so that they sort as texts.
        self.plan[name] = {
            "rows": old["rows"] + len(part.elements),
            "first": min(old["first"], part.first),
            "last": max(old["last"], part.last),
        }

    def _context_of(self, origin: Origin) -> Context:
        """Return the context of a row's source, of which the ID of a summary is."""
        if not origin.provider:
            return self.context
        return replace(self.context, provider=origin.provider)

    def _drop(self, reason: DropReason | str, what: str, rows: int = 1) -> None:
        if not rows:
            return
        self.rows_dropped += rows
        whats = self.drops.setdefault(str(reason), {})
        # PostgreSQL keeps no NUL.
        what = what.replace("\0", "")[:_WHAT_MAX_LENGTH]
        if what not in whats and len(whats) >= _WHATS_MAX:
            what = _OTHERS
        whats[what] = whats.get(what, 0) + rows


def _reason_of(invalid: ElementsInvalid) -> str:
    return invalid.faults[0].type

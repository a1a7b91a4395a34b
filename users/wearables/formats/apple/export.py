"""Apple Health exports (export.zip, export.xml), read record by record.

The document is never held whole: each element goes as soon as it is read. Must not be
here: which record becomes what (apple_types), or the checks of the bytes
(apple_source).
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from lxml import etree

from users.states import SourceType
from users.states.imports import DropReason, ImportRefusal
from users.wearables.formats.apple.attachments import open_attachments
from users.wearables.formats.apple.beats import compute_rmssd
from users.wearables.formats.apple.clinical import ClinicalRecords
from users.wearables.formats.apple.cycles import LOGS, Cycles
from users.wearables.formats.apple.days import Days
from users.wearables.formats.apple.sleep import Nights
from users.wearables.formats.apple.source import WatchedSource, open_apple_health_export
from users.wearables.formats.apple.times import (
    add_one_second,
    convert_apple_time_to_iso,
    find_apple_record_time_zone,
    parse_apple_time,
)
from users.wearables.formats.apple.types import (
    BLOOD_PRESSURE,
    CATEGORY,
    DIASTOLIC,
    EVENTS,
    HEART_RATE,
    INSULIN,
    INSULIN_DELIVERY,
    MEASURES,
    MINDFUL,
    QUANTITY,
    SLEEP,
    STAND_HOUR,
    STAND_HOURS,
    SYSTOLIC,
    TEMPERATURE_SENSORS,
    VARIABILITY,
    Measure,
)
from users.wearables.formats.apple.workouts import (
    HeartRates,
    Workouts,
    parse_apple_workout_statistic,
)
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import (
    MergedRows,
    Origin,
    ReportedDevice,
    Row,
    SampleRow,
    SkippedRows,
)
from users.wearables.formats.units import (
    find_conversion_to_resource_unit,
    find_unit_conversion,
)
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lxml.etree import _Element

    from users.wearables.formats.units import Conversion
    from users.wearables.readings import Context

PROVIDER = "apple_health_kit"
_ROOT = "HealthData"
_END_TAG = b"</HealthData"
_TAGS = ("Record", "Correlation", "Workout", "ActivitySummary", "Me")
_OTHERS = ("ClinicalRecord", "Audiogram", "VisionPrescription")
_HARDWARE = re.compile(r", (manufacturer|model|hardware):(.*?)(?=, \w+:|>)")
_KNOWN_MAX = 10_000
_TEXT_MAX = 255
_CREATED_BY_HAND = "HKWasUserEntered"


class AppleHealthReader:
    """A reader of Apple Health exports; samples first, combined records at the end."""

    provider = PROVIDER

    def __init__(self, path: Path, context: Context, _file_name: str) -> None:
        self.bytes_total = path.stat().st_size
        self._path = path
        self._now = context.now
        self._source: WatchedSource | None = None

    @property
    def bytes_read(self) -> int:
        """Return the progress in bytes of the unpacked export."""
        return 0 if self._source is None else self._source.bytes_read

    def rows(self) -> Iterator[Row]:
        """Yield all rows of the export. Raises: FileRefused."""
        with open_apple_health_export(self._path) as (source, length):
            self._source, self.bytes_total = source, length
            export = _Export()
            try:
                yield from export.rows(source)
            except etree.XMLSyntaxError:
                raise FileRefused(ImportRefusal.DAMAGED) from None
        with open_attachments(self._path) as attachments:
            yield from export.workouts.rows(export.heart, attachments, self._now)
            yield from attachments.rows()
            yield from export.clinical.rows(attachments)


class _Export:
    """The state of reading an export."""

    def __init__(self) -> None:
        self.clinical = ClinicalRecords()
        self.cycles = Cycles()
        self.days = Days()
        self.nights = Nights()
        self.workouts = Workouts()
        self.heart = HeartRates()
        self._origins: dict[tuple[str | None, str | None], Origin] = {}
        self._conversions: dict[tuple[str, str | None], Conversion | None] = {}

    def rows(self, source: WatchedSource) -> Iterator[Row]:
        is_first = True
        # No entity is resolved, nothing is fetched, and libxml2's own limits on what
        # markup may grow to stay on (huge_tree would lift them).
        events = etree.iterparse(
            source,
            events=("end",),
            tag=(*_TAGS, *_OTHERS),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            # Of attributes written twice, as iOS 16 does, the first counts.
            recover=True,
        )
        for _, element in events:
            parent = element.getparent()
            if is_first:
                _check_root(element)
                is_first = False
            if parent is None or parent.tag != _ROOT:
                continue  # part of a correlation, read with it
            yield from self._read(element)
            element.clear()
            while element.getprevious() is not None:
                del parent[0]
            source.mark()
        _check_end(events.root, events.error_log, source)
        yield from self.nights.rows()
        yield from self.cycles.rows()
        yield from self.days.rows()

    def _read(self, element: _Element) -> Iterator[Row]:
        tag = element.tag
        if tag == "Record":
            row = self._record(element)
            if row is not None:
                yield row
        elif tag == "Workout":
            yield from self._workout(element)
        elif tag == "Correlation":
            yield self._correlation(element)
        elif tag == "ActivitySummary":
            self._rings(element)
            yield MergedRows()
        elif tag == "Me":
            self.days.add_person(_attributes(element))
        elif tag == "ClinicalRecord":
            skipped = self.clinical.add(_attributes(element))
            if skipped is not None:
                yield skipped
        else:
            yield SkippedRows(DropReason.UNKNOWN_KIND, str(tag))

    def _record(self, element: _Element) -> Row | None:
        """Return the row of a record; None if it is combined at the end."""
        kind = element.get("type") or ""
        start = convert_apple_time_to_iso(element.get("startDate"))
        end = convert_apple_time_to_iso(element.get("endDate"))
        if kind.startswith(QUANTITY):
            name = kind[len(QUANTITY) :]
            read = self._quantity
        elif kind.startswith(CATEGORY):
            name = kind[len(CATEGORY) :]
            read = self._category
        else:
            return SkippedRows(DropReason.UNKNOWN_KIND, kind)
        if start is None or end is None:
            return SkippedRows(DropReason.BAD_TIME, name)
        return read(element, name, start, end)

    def _quantity(
        self, element: _Element, name: str, start: str, end: str
    ) -> Row | None:
        if name in (SYSTOLIC, DIASTOLIC):
            return SkippedRows(DropReason.PART_OF_ANOTHER, name)
        value = _number(element.get("value"))
        if value is None:
            return SkippedRows(DropReason.NO_VALUE, name)
        metadata = _metadata(element)
        origin = self._origin(element, metadata)
        if name == VARIABILITY:
            beats = compute_rmssd(element)
            if beats is None:
                return SkippedRows(DropReason.NO_BEATS, name)
            return SampleRow("hrv", origin, {"timestamp": start, "value": beats})
        measure = MEASURES.get(name)
        if name == INSULIN_DELIVERY:
            keys = INSULIN.get(metadata.get("HKInsulinDeliveryReason", ""))
            measure = None if keys is None else Measure("insulin_injection", keys=keys)
        if measure is None:
            return self._of_days(element, name, start, value)
        conversion = self._conversion(measure, element.get("unit"))
        if conversion is None:
            return SkippedRows(DropReason.UNKNOWN_UNIT, f"{name} {element.get('unit')}")
        value = conversion.apply(value)
        if name == HEART_RATE:
            self._keep_rate(start, value)
        self.days.add_body(name, start, value)
        if name == "BasalBodyTemperature":
            self.cycles.add_temperature(start, value)
        keys = measure.keys
        if name == "BodyTemperature":
            sensor = TEMPERATURE_SENSORS.get(
                metadata.get("HKBodyTemperatureSensorLocation", "")
            )
            keys = {"sensor_location": sensor} if sensor else {}
        return _sample(measure.slug, origin, start, end, value, keys)

    def _of_days(
        self, element: _Element, name: str, start: str, value: float
    ) -> Row | None:
        """Add a quantity of a day or the person, without a series."""
        unit = element.get("unit") or ""
        if name == "Height":
            conversion = find_unit_conversion(unit, "cm")
            if conversion is None:
                return SkippedRows(DropReason.UNKNOWN_UNIT, f"{name} {unit}")
            self.days.add_height(start, conversion.apply(value))
            return MergedRows()
        if self.days.add_heart(name, start, value):
            return MergedRows()
        return SkippedRows(DropReason.UNKNOWN_KIND, name)

    def _category(
        self, element: _Element, name: str, start: str, end: str
    ) -> Row | None:
        value = element.get("value") or ""
        metadata = _metadata(element)
        origin = self._origin(element, metadata)
        if name == SLEEP:
            began = parse_apple_time(element.get("startDate"))
            ended = parse_apple_time(element.get("endDate"))
            if began is None or ended is None:
                return SkippedRows(DropReason.BAD_TIME, name)
            if self.nights.add(
                origin, began, ended, value, find_apple_record_time_zone(metadata)
            ):
                return None
            return SkippedRows(DropReason.NO_VALUE, name)
        if name == MINDFUL:
            began = parse_apple_time(element.get("startDate"))
            ended = parse_apple_time(element.get("endDate"))
            if began is None or ended is None:
                return SkippedRows(DropReason.BAD_TIME, name)
            minutes = (ended - began).total_seconds() / 60
            return _sample("mindfulness_minutes", origin, start, end, minutes, {})
        if name == STAND_HOUR:
            word = value.removeprefix("HKCategoryValueAppleStandHour")
            if word not in STAND_HOURS:
                return SkippedRows(DropReason.NO_VALUE, name)
            keys = {"type": STAND_HOURS[word]}
            return _sample("stand_hour", origin, start, end, 1, keys)
        if name in LOGS:
            if self.cycles.add(name, start, value, metadata):
                return None
            return SkippedRows(DropReason.NO_VALUE, name)
        event = EVENTS.get(name)
        if event is None:
            return SkippedRows(DropReason.UNKNOWN_KIND, name)
        return _sample(event.slug, origin, start, end, 1, event.keys)

    def _correlation(self, element: _Element) -> Row:
        kind = element.get("type") or ""
        if kind != BLOOD_PRESSURE:
            return SkippedRows(
                DropReason.UNKNOWN_KIND,
                kind.removeprefix("HKCorrelationTypeIdentifier"),
            )
        start = convert_apple_time_to_iso(element.get("startDate"))
        parts = {
            (record.get("type") or "").removeprefix(QUANTITY): _number(
                record.get("value")
            )
            for record in element.iterchildren("Record")
        }
        if start is None:
            return SkippedRows(DropReason.BAD_TIME, "BloodPressure")
        systolic, diastolic = parts.get(SYSTOLIC), parts.get(DIASTOLIC)
        if systolic is None or diastolic is None:
            return SkippedRows(DropReason.NO_VALUE, "BloodPressure")
        return SampleRow(
            "blood_pressure",
            self._origin(element, _metadata(element)),
            {"timestamp": start, "systolic": systolic, "diastolic": diastolic},
        )

    def _workout(self, element: _Element) -> Iterator[Row]:
        start = parse_apple_time(element.get("startDate"))
        end = parse_apple_time(element.get("endDate"))
        if start is None or end is None:
            yield SkippedRows(DropReason.BAD_TIME, "Workout")
            return
        metadata = _metadata(element)
        statistics = {
            (each.get("type") or "").removeprefix(
                QUANTITY
            ): parse_apple_workout_statistic(_attributes(each))
            for each in element.iterchildren("WorkoutStatistics")
        }
        self.workouts.add(
            self._origin(element, metadata),
            start,
            end,
            _attributes(element),
            statistics,
            metadata,
            [each.get("path") or "" for each in element.iter("FileReference")],
        )

    def _rings(self, element: _Element) -> None:
        day = element.get("dateComponents") or ""
        unit = element.get("activeEnergyBurnedUnit") or "kcal"
        energy = _number(element.get("activeEnergyBurned"))
        conversion = find_unit_conversion(unit, "kcal")
        if energy is not None and conversion is not None:
            self.days.add_rings(day, conversion.apply(energy))

    def _keep_rate(self, start: str, value: float) -> None:
        with suppress(ValueError):  # told where the sample is checked
            self.heart.add(int(datetime.fromisoformat(start).timestamp()), value)

    def _conversion(self, measure: Measure, unit: str | None) -> Conversion | None:
        key = (measure.slug, unit)
        if key not in self._conversions:
            self._conversions[key] = _find_conversion(measure, unit)
        return self._conversions[key]

    def _origin(self, element: _Element, metadata: dict[str, str]) -> Origin:
        """Return the origin of a record, by its device and source name."""
        if metadata.get(_CREATED_BY_HAND) == "1":
            return Origin(str(SourceType.APP), element.get("sourceName") or None)
        key = (element.get("device"), element.get("sourceName"))
        found = self._origins.get(key)
        if found is None:
            if len(self._origins) >= _KNOWN_MAX:
                self._origins.clear()
            found = self._origins[key] = self._find_origin(*key)
        return found

    @staticmethod
    def _find_origin(device: str | None, source: str | None) -> Origin:
        fields = dict(_HARDWARE.findall(device or ""))
        model = fields.get("model", "")
        is_apple = fields.get("manufacturer", "").startswith("Apple")
        named = f"{model} {source or ''}"
        if not device:
            is_apple = any(word in named for word in ("iPhone", "Apple Watch", "iPad"))
        source_type = SourceType.UNKNOWN
        if "Watch" in named and (is_apple or "Watch" in model):
            source_type = SourceType.WATCH
        elif "iPhone" in named or "iPad" in named:
            source_type = SourceType.PHONE
        # What is named after its owner's device names its owner.
        app_id = "com.apple.health" if is_apple else source
        app_id = app_id and app_id[:_TEXT_MAX]
        return Origin(str(source_type), app_id, device=_device(fields))


def _check_end(root: _Element | None, faults: Any, source: WatchedSource) -> None:
    """Refuse a document that does not end or broke, which recovery would hide."""
    if root is None or root.tag != _ROOT:
        raise FileRefused(ImportRefusal.UNSUPPORTED)
    others = {fault.type_name for fault in faults} - {"ERR_ATTRIBUTE_REDEFINED"}
    if others or _END_TAG not in source.end:
        raise FileRefused(ImportRefusal.DAMAGED, "an Apple Health export")


def _check_root(element: _Element) -> None:
    """Refuse files that are not exports, beyond the checks of their bytes."""
    tree = element.getroottree()
    if tree.getroot().tag != _ROOT:
        raise FileRefused(ImportRefusal.UNSUPPORTED)
    declared = tree.docinfo.internalDTD
    # The stubs lack it.
    if declared is not None and list(declared.iterentities()):  # type: ignore[attr-defined]
        raise FileRefused(ImportRefusal.NOT_ALLOWED_XML)


def _device(fields: dict[str, str]) -> ReportedDevice | None:
    """Return the device by its hardware; software and name can change."""
    manufacturer, model = fields.get("manufacturer"), fields.get("model")
    hardware = fields.get("hardware") or model
    if not hardware:
        return None
    return ReportedDevice(
        f"{manufacturer or ''}/{hardware}"[:_TEXT_MAX],
        manufacturer and manufacturer[:_TEXT_MAX],
        hardware[:_TEXT_MAX],
    )


def _find_conversion(measure: Measure, unit: str | None) -> Conversion | None:
    resource = TIMESERIES[measure.slug]
    given = resource.unit if unit in (None, measure.unit) else unit
    found = find_conversion_to_resource_unit(resource, given or "")
    if found is None:
        return None
    return found._replace(factor=found.factor * measure.scale)


def _sample(
    slug: str, origin: Origin, start: str, end: str, value: float, keys: dict[str, Any]
) -> SampleRow:
    element: dict[str, Any] = {"value": value, **keys}
    if TIMESERIES[slug].is_interval:
        element["start"] = start
        element["end"] = end if end != start else add_one_second(start)
    else:
        element["timestamp"] = start
    if TIMESERIES[slug].is_whole:
        element["value"] = round(value)
    return SampleRow(slug, origin, element)


def _attributes(element: _Element) -> dict[str, str]:
    return {str(name): str(value) for name, value in element.attrib.items()}


def _metadata(element: _Element) -> dict[str, str]:
    if not len(element):
        return {}
    return {
        each.get("key") or "": each.get("value") or ""
        for each in element.iterchildren("MetadataEntry")
    }


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and isfinite(value) else None

"""Files beside export.xml in an Apple Health archive: routes and electrocardiograms.

A route is GPX that its workout names in FileReference; an electrocardiogram is a CSV of
a header and one voltage a line. Both are as tests of public readers have them (search
of public code, read 2026-11-24). The phone's language names the folders, not the files.
"""

from __future__ import annotations

import csv
import re
import zipfile
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from lxml import etree

from users.states import EcgClassification, EcgInconclusiveCause, SourceType
from users.states.imports import DropReason, ImportRefusal
from users.wearables.formats.apple.times import parse_apple_time
from users.wearables.formats.gpx import read_document
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import (
    Origin,
    ReportedDevice,
    SampleRow,
    SkippedRows,
    SummaryRow,
)
from users.wearables.formats.uploads.members import Budget, Member, MemberDamaged
from users.wearables.formats.uploads.values import parse_number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from users.wearables.formats.rows import Row

_ROUTE = re.compile(r"route_[^/]*\.gpx", re.IGNORECASE)
_ECG = re.compile(r"ecg_\d{4}-\d\d-\d\d[^/]*\.csv", re.IGNORECASE)
_RATE = re.compile(r"([\d.,]+)\s*(?:hertz|hz)", re.IGNORECASE)
_HARDWARE = re.compile(r"Watch\d+,\d+")
# The unit of voltages, both signs of micro, in mV.
_VOLTS = {"\u00b5V": 1e-3, "\u03bcV": 1e-3, "mV": 1.0, "V": 1e3}
# Ours: a recording is of 30 seconds at 512 Hz, some 150 kB.
_ECG_MAX = 4 * 1024**2
ECG_CLASSIFICATIONS: dict[str, tuple[str, str | None]] = {
    "sinus rhythm": (EcgClassification.SINUS_RHYTHM.value, None),
    "atrial fibrillation": (EcgClassification.ATRIAL_FIBRILLATION.value, None),
    "inconclusive": (EcgClassification.INCONCLUSIVE.value, None),
    "high heart rate": (
        EcgClassification.INCONCLUSIVE.value,
        EcgInconclusiveCause.HIGH_HEART_RATE.value,
    ),
    "low heart rate": (
        EcgClassification.INCONCLUSIVE.value,
        EcgInconclusiveCause.LOW_HEART_RATE.value,
    ),
    "poor recording": (
        EcgClassification.INCONCLUSIVE.value,
        EcgInconclusiveCause.POOR_READING.value,
    ),
}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
RoutePoint = tuple[float, dict[str, float | None]]


class Attachments:
    """The routes and electrocardiograms of an archive; none of a bare document."""

    def __init__(self, archive: zipfile.ZipFile | None, budget: Budget) -> None:
        self._archive = archive
        self._budget = budget
        self._members = {
            info.filename.rsplit("/", 1)[-1]: info
            for info in (archive.infolist() if archive else ())
        }

    def take_route(self, path: str) -> Iterator[RoutePoint]:
        """Yield the points of a route, once. Raises: MemberDamaged; FileRefused."""
        name = path.rsplit("/", 1)[-1]
        if _ROUTE.fullmatch(name) and name in self._members:
            yield from _route_points(self._member(name))
            del self._members[name]

    def rows(self) -> Iterator[Row]:
        """Yield electrocardiograms, and how many routes no workout names."""
        for name in sorted(filter(_ECG.fullmatch, self._members)):
            try:
                yield from _electrocardiogram(self._member(name))
            except (MemberDamaged, FileRefused):
                yield SkippedRows(DropReason.BAD_FILE, "ecg_#.csv")
        left = len([name for name in self._members if _ROUTE.fullmatch(name)])
        if left:
            yield SkippedRows(DropReason.NO_WORKOUT, "route_#.gpx", left)

    def read_file(self, path: str, limit: int) -> bytes | None:
        """Return a file that export.xml names; None if it is missing or damaged.

        Raises: FileRefused, where the archive unpacks to too much.
        """
        name = path.rsplit("/", 1)[-1]
        if name not in self._members:
            return None
        try:
            with self._member(name).open() as opened:
                content: bytes = opened.read(limit + 1)
        except MemberDamaged:
            return None
        return None if len(content) > limit else content

    def _member(self, name: str) -> Member:
        archive, info = self._archive, self._members[name]
        if archive is None:
            raise MemberDamaged
        return Member(name, lambda: archive.open(info), self._budget.spend)


@contextmanager
def open_attachments(path: Path) -> Iterator[Attachments]:
    """Open the files beside an export; its directory was checked before."""
    budget = Budget(path.stat().st_size)
    if not zipfile.is_zipfile(path):
        yield Attachments(None, budget)
        return
    with zipfile.ZipFile(path) as archive:
        yield Attachments(archive, budget)


def _route_points(member: Member) -> Iterator[RoutePoint]:
    """Yield the Unix second and values of each point of a route."""
    document = read_document(member, member.head(), "a GPX file")
    try:
        root = etree.fromstring(
            document.encode(),
            etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False),
        )
    except etree.XMLSyntaxError:
        raise FileRefused(ImportRefusal.DAMAGED, "a GPX file") from None
    for point in root.iter("{*}trkpt"):
        values = {
            "lat": parse_number(point.get("lat")),
            "lng": parse_number(point.get("lon")),
            "altitude": parse_number(point.findtext("{*}ele")),
            "velocity_smooth": parse_number(point.findtext(".//{*}speed")),
        }
        try:
            at = datetime.fromisoformat(point.findtext("{*}time") or "")
        except ValueError:
            continue
        if at.tzinfo is not None:
            yield at.timestamp(), values


def _electrocardiogram(member: Member) -> Iterator[Row]:
    """Yield the electrocardiogram of a file and its voltages.

    The labels are of the phone's language, so that a value is known by its form. A
    classification in another language than English stays unknown.
    """
    with member.open() as opened:
        content = opened.read(_ECG_MAX + 1)
    if len(content) > _ECG_MAX:
        raise FileRefused(ImportRefusal.UNPACKS_TOO_LARGE)
    start: datetime | None = None
    rate: float | None = None
    factor: float | None = None
    found: dict[str, Any] = {}
    hardware = ""
    voltages: list[float] = []
    lines = content.decode("utf-8-sig", "replace").splitlines()
    for cells in csv.reader(lines):
        values = [cell.strip() for cell in cells]
        number = _voltage(values)
        if number is not None:
            voltages.append(number)
        elif len(values) >= 2 and not voltages:
            value = values[1]
            start = start or parse_apple_time(value)
            hertz = _RATE.fullmatch(value)
            rate = rate or (parse_number(hertz[1].replace(",", ".")) if hertz else None)
            if value in _VOLTS:
                factor = _VOLTS[value]
            if _HARDWARE.fullmatch(value):
                hardware = value
            if value.lower() in ECG_CLASSIFICATIONS:
                word, cause = ECG_CLASSIFICATIONS[value.lower()]
                found = {"classification": word, "inconclusive_cause": cause}
            if values[0] == "Software Version":
                found["algorithm_version"] = value
    if start is None or not rate or factor is None or not voltages:
        yield SkippedRows(DropReason.NO_VALUE, "Electrocardiogram")
        return
    device = (
        ReportedDevice(f"Apple Inc./{hardware}", "Apple Inc.", hardware)
        if hardware
        else None
    )
    origin = Origin(str(SourceType.WATCH), "com.apple.health", device=device)
    element = {
        "session_start": start.isoformat(),
        "session_end": _after(start, len(voltages) / rate),
        "voltage_sample_count": len(voltages),
        "sampling_frequency_hz": rate,
        "source_device_model": hardware or None,
    }
    if "classification" not in found:
        yield SkippedRows(DropReason.NO_VALUE, "Electrocardiogram classification")
    yield SummaryRow(
        "electrocardiogram",
        origin,
        {name: each for name, each in (element | found).items() if each is not None},
    )
    for number, voltage in enumerate(voltages):
        at = _after(start, number / rate)
        element = {"timestamp": at, "value": voltage * factor, "type": "I"}
        yield SampleRow("electrocardiogram_voltage", origin, element)


def _after(start: datetime, seconds: float) -> str:
    return (start + timedelta(seconds=seconds)).isoformat()


def _voltage(cells: list[str]) -> float | None:
    """Return the number of a line that is nothing else, with a point or comma."""
    text = ".".join(cells)
    return parse_number(text) if _NUMBER.fullmatch(text) else None

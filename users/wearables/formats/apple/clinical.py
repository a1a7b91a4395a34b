"""Clinical records of an Apple archive: FHIR of a person's institutions.

export.xml lists them, each a file of clinical-records/, and alone names the
institution. Laboratory results are kept; other records are counted by kind. Attributes
are those of Apple's document type (type, identifier, sourceName, sourceURL,
fhirVersion, receivedDate, resourceFilePath; public exports and readers, 2026-11-26).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from users.states.imports import DropReason
from users.wearables.formats.apple.times import parse_apple_time
from users.wearables.formats.fhir.lab_reports import (
    OBSERVATION,
    REPORT,
    describe_resource_kind,
    find_report_time,
    get_resource_key,
    is_laboratory_resource,
    list_result_keys,
    read_lab_report,
)
from users.wearables.formats.fhir.values import load_fhir_json, read_dicts, read_text
from users.wearables.formats.rows import LabReportRow, SkippedRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.apple.attachments import Attachments
    from users.wearables.formats.rows import Row

_PREFIX = "HKClinicalTypeIdentifier"
_LAB_RESULT = "LabResultRecord"
# Older exports name the resource instead.
_READ = frozenset({_LAB_RESULT, REPORT, OBSERVATION})
# Ours: a report with a scanned document inside is of some megabytes.
_FILE_MAX = 16 * 1024**2
# Ours: a person of thirty years of results has some thousands.
_RECORDS_MAX = 50_000
_FILE_KIND = "clinical-records/#.json"


class _Record(NamedTuple):
    """A line of export.xml about one file."""

    path: str
    kind: str
    source: str
    fhir_version: str
    received: str


class ClinicalRecords:
    """The laboratory results that export.xml lists, until their files are read."""

    def __init__(self) -> None:
        self._records: dict[str, _Record] = {}

    def add(self, attributes: dict[str, str]) -> SkippedRows | None:
        """Add a ClinicalRecord; return it as skipped if it is not read."""
        kind = attributes.get("type", "").removeprefix(_PREFIX)
        path = attributes.get("resourceFilePath", "")
        if kind not in _READ or len(self._records) >= _RECORDS_MAX:
            return SkippedRows(DropReason.CLINICAL, kind or "ClinicalRecord")
        if not path or path in self._records:
            reason = DropReason.SAME_MOMENT if path else DropReason.MISSING
            return SkippedRows(reason, kind)
        received = parse_apple_time(attributes.get("receivedDate"))
        self._records[path] = _Record(
            path,
            kind,
            read_text(attributes.get("sourceName")),
            read_text(attributes.get("fhirVersion")),
            received.isoformat() if received else "",
        )
        return None

    def rows(self, attachments: Attachments) -> Iterator[Row]:
        """Yield reports with their results, then results that are in no report.

        Files are read twice, so that only results of reports are held.
        """
        records = [self._records[path] for path in sorted(self._records)]
        groups: dict[tuple[str, str], tuple[_Record, dict[str, Any]]] = {}
        for record in records:
            resource = _load(attachments, record)
            if resource is None:
                continue
            is_report = resource.get("resourceType") == REPORT
            if is_report or list_result_keys(resource):
                key = (record.source, get_resource_key(resource))
                groups.setdefault(key, (record, resource))
        wanted = {
            (record.source, key)
            for record, resource in groups.values()
            if _is_laboratory(record, resource)
            for key in list_result_keys(resource)
            if key != get_resource_key(resource)
        }
        results: dict[tuple[str, str], dict[str, Any]] = {}
        seen: set[tuple[str, str]] = set()
        for record in records:
            resource = _load(attachments, record)
            if resource is None:
                yield SkippedRows(DropReason.BAD_FILE, _FILE_KIND)
                continue
            key = (record.source, get_resource_key(resource))
            if not key[1]:
                yield SkippedRows(DropReason.MISSING, record.kind)
            elif resource.get("resourceType") not in (REPORT, OBSERVATION):
                yield SkippedRows(DropReason.CLINICAL, describe_resource_kind(resource))
            elif key in seen:
                yield SkippedRows(DropReason.SAME_MOMENT, record.kind)
            elif key in wanted:
                results[key] = resource
            elif not _is_laboratory(record, resource):
                yield SkippedRows(DropReason.CLINICAL, describe_resource_kind(resource))
                groups.pop(key, None)
            elif key not in groups:
                yield _build_row(record, resource, {}, set())
            seen.add(key)
        used: set[tuple[str, str]] = set()
        for key, (record, resource) in groups.items():
            if key not in wanted:
                yield _build_row(record, resource, results, used)
        # Only results that refer to one another in a circle are left.
        left = len(results.keys() - used)
        if left:
            yield SkippedRows(DropReason.PART_OF_ANOTHER, _LAB_RESULT, left)


def _build_row(
    record: _Record,
    resource: dict[str, Any],
    results: dict[tuple[str, str], dict[str, Any]],
    used: set[tuple[str, str]],
) -> Row:
    """Return the row of a report; `used` gains the results that it counts."""
    mine: set[tuple[str, str]] = set()

    def find(key: str) -> dict[str, Any] | None:
        place = (record.source, key)
        if place in results:
            mine.add(place)
        return results.get(place)

    report = read_lab_report(resource, find)
    report |= {
        "source": record.source,
        "fhir_version": record.fhir_version,
        "received": record.received,
    }
    rows = 1 + len(mine - used)
    used |= mine
    at = find_report_time(report)
    if not at:
        return SkippedRows(DropReason.BAD_TIME, record.kind, rows)
    return LabReportRow(report, at, rows)


def _is_laboratory(record: _Record, resource: dict[str, Any]) -> bool:
    """Return whether its category says so, or Apple where the category is silent."""
    said = is_laboratory_resource(resource)
    return record.kind == _LAB_RESULT if said is None else said


def _load(attachments: Attachments, record: _Record) -> dict[str, Any] | None:
    content = attachments.read_file(record.path, _FILE_MAX)
    if content is None:
        return None
    try:
        resource = load_fhir_json(content)
    except ValueError:
        return None
    # Reports wait for their results, and the text of pages is larger than they are.
    resource.pop("text", None)
    for form in read_dicts(resource.get("presentedForm")):
        form.pop("data", None)
    return resource

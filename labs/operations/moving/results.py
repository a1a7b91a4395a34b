"""Keep results of another platform as versions of a moved order's results."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from labs.models import MissingResult, Result, ResultVersion, SampleData
from labs.queries.results.results import (
    find_current_result_version,
    get_result_identity_key,
    list_missing_results_of_version,
    list_results_of_version,
)
from labs.states.catalogue import ResultType
from labs.states.orders import Interpretation
from labs.states.results import ResultStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labs.models import Order
    from portal.lib.actor import Actor

_WRITTEN_BY_US = {"id", "tenant", "version", "position", "expected_result"}
_TIMES = ("collected", "received", "reported")
_CLINICAL = ("notes", "information", "total_volume")


def store_past_results(
    *, order: Order, actor: Actor, theirs: Mapping[str, Any]
) -> ResultVersion | None:
    """Store results as contract 6.15 has them, as they are.

    No value is interpreted here. They are a version of their own where they differ from
    the one before; returns None where they do not. No critical alert is opened: the
    platform's users were told. The caller locked the order. Source: Ours.
    """
    about = theirs["metadata"]
    reported_at = _moment(about["date_reported"])
    rows = [_build_result(each, reported_at) for each in theirs["results"]]
    _number_repeated(rows)
    gaps = [_build_gap(each) for each in theirs.get("missing_results") or ()]
    samples = [
        _build_sample(name, each or {})
        for name, each in sorted((theirs.get("sample_information") or {}).items())
    ]
    before = find_current_result_version(order=order)
    version = ResultVersion(
        tenant=order.tenant,
        order=order,
        number=before.number + 1 if before else 1,
        status=about.get("status") or ResultStatus.FINAL,
        is_correction=before is not None and before.status == ResultStatus.FINAL,
        interpretation=about.get("interpretation") or Interpretation.UNKNOWN,
        laboratory=about.get("laboratory") or "",
        clia_number=about.get("clia_#") or about.get("clia") or "",
        collected_at=_moment(about.get("date_collected")),
        received_at=_moment(about.get("date_received")),
        reported_at=reported_at,
        actor_kind=str(actor.kind),
        actor_label=actor.label,
    )
    if before is not None:
        if _is_same(before, version, rows, gaps, samples):
            return None
        versions = ResultVersion.objects.for_tenant(order.tenant)
        versions.filter(pk=before.pk).update(is_current=False)
    version.save(force_insert=True)
    of_version: tuple[tuple[Any, list[Any]], ...] = (
        (Result, rows),
        (MissingResult, gaps),
        (SampleData, samples),
    )
    for model, found in of_version:
        for position, row in enumerate(found):
            row.tenant, row.version = order.tenant, version
            if model is not SampleData:
                row.position = position
        model.objects.for_tenant(order.tenant).bulk_create(found)
    return version


def _is_same(
    before: ResultVersion,
    version: ResultVersion,
    rows: Sequence[Result],
    gaps: Sequence[MissingResult],
    samples: Sequence[SampleData],
) -> bool:
    of_version = ("status", "interpretation", "laboratory", "clia_number")
    times = ("collected_at", "received_at", "reported_at")
    return (
        all(getattr(before, n) == getattr(version, n) for n in (*of_version, *times))
        and _describe(list_results_of_version(before)) == _describe(rows)
        and _describe(list_missing_results_of_version(before)) == _describe(gaps)
        and _describe(sorted(before.samples.all(), key=lambda one: one.sample_id))
        == _describe(samples)
    )


def _describe(rows: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {
            column.name: getattr(row, column.attname)
            for column in row._meta.concrete_fields
            if column.name not in _WRITTEN_BY_US
        }
        for row in rows
    ]


def _build_result(theirs: Mapping[str, Any], reported_at: datetime) -> Result:
    kind, text = theirs["type"], theirs["result"]
    notes = theirs.get("notes") or ""
    if kind in {ResultType.RANGE, ResultType.COMMENT}:
        # The wire repeats such a text before the notes (contract 6.15).
        notes = notes.removeprefix(text).removeprefix("\n")
    return Result(
        type=kind,
        result=text,
        value=_read_number(text) if kind == ResultType.NUMERIC else None,
        unit=theirs.get("unit") or "",
        observed_at=_moment(theirs.get("timestamp")),
        reported_at=reported_at,
        notes=notes,
        reference_range=theirs.get("reference_range") or "",
        min_range_value=theirs.get("min_range_value"),
        max_range_value=theirs.get("max_range_value"),
        is_above_max_range=theirs.get("is_above_max_range"),
        is_below_min_range=theirs.get("is_below_min_range"),
        interpretation=theirs.get("interpretation") or "",
        source_interpretation=theirs.get("source_interpretation") or "",
        performing_laboratory=theirs.get("performing_laboratory") or "",
        source_sample_id=theirs.get("source_sample_id") or "",
        **_read_shared(theirs),
    )


def _number_repeated(rows: Sequence[Result]) -> None:
    """Number results of one code, which the wire does not tell apart."""
    known = Counter[tuple[str, str]]()
    for row in rows:
        key = get_result_identity_key(row)
        known[key] += 1
        if known[key] > 1:
            row.sub_id = str(known[key])


def _build_gap(theirs: Mapping[str, Any]) -> MissingResult:
    return MissingResult(
        failure_type=theirs["inferred_failure_type"],
        note=theirs.get("note") or "",
        **_read_shared(theirs),
    )


def _read_shared(theirs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": theirs["name"],
        "slug": theirs.get("slug") or "",
        "loinc": theirs.get("loinc") or "",
        "loinc_slug": theirs.get("loinc_slug") or "",
        "provider_id": theirs.get("provider_id") or "",
        "source_markers": theirs.get("source_markers") or [],
    }


def _build_sample(name: str, theirs: Mapping[str, Any]) -> SampleData:
    row = SampleData(
        sample_id=theirs.get("sample_id") or name,
        control_number=theirs.get("control_number") or "",
        laboratories=theirs.get("performing_laboratories") or {},
    )
    for which in _TIMES:
        given = theirs.get(f"date_{which}")
        at, offset = given, None
        if isinstance(given, dict):
            at, offset = given["timestamp"], given["timezone_offset"]
        setattr(row, f"{which}_at", _moment(at))
        setattr(row, f"{which}_offset", offset)
    clinical = theirs.get("clinical_information") or {}
    row.fasting = clinical.get("fasting")
    for field in _CLINICAL:
        setattr(row, field, clinical.get(field) or "")
    return row


def _read_number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def _moment(text: str | None) -> Any:
    """Return a time; one without offset is UTC, as texts of the metadata are."""
    if not text:
        return None
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)

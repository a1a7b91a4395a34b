"""Conversion of ORU^R01 reports into result deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.gateways.hl7.reports import GIVEN_STANDINGS, ObservationStatus
from labs.gateways.results import (
    ReportedGap,
    ReportedResult,
    ReportedSample,
    ResultDelivery,
)
from labs.states.results import FailureType, ResultStatus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from labs.gateways.hl7.reports import Observation, Report, Specimen, Test

_SAMPLE_MAX_LENGTH = 100
_NO_VALUE = "The lab sent this result without a value."
_TAKEN_BACK = "The lab withdrew this result."
_REFUSED = "The lab did not perform this test."
_HELD = "The lab's message was unclear: {says} It reads: {value}"
_NAMELESS = "Result without a name"
_VALUE_MAX_LENGTH = 1_000
# What labs write in place of a value: there is none.
_NO_VALUES = {
    "QNS": FailureType.QUANTITY_NOT_SUFFICIENT,
    "QUANTITY NOT SUFFICIENT": FailureType.QUANTITY_NOT_SUFFICIENT,
    "TNP": FailureType.UNKNOWN,
    "TEST NOT PERFORMED": FailureType.UNKNOWN,
    "TEST NOT DONE": FailureType.UNKNOWN,
    "NOT PERFORMED": FailureType.UNKNOWN,
    "DNR": FailureType.UNKNOWN,
    "DO NOT REPORT": FailureType.UNKNOWN,
    "DID NOT REPORT": FailureType.UNKNOWN,
}


def build_result_delivery_from_report(
    report: Report, *, is_final: bool, received_at: datetime, accepts_held: bool = False
) -> ResultDelivery:
    """Build a report's delivery; `received_at` replaces missing lab times.

    What is held is no part of it; with `accepts_held` that alone is, each a missing
    result with the lab's words. Source: HL7 v2.5.1, table 0085 (OBX-11): P is
    preliminary, X, D and W are missing results, C marks a correction, what is awaited
    is nothing yet. Ours: a value in doubt never becomes a result, also if a person
    accepts it.
    """
    lab_time = report.reported_at
    rows: list[ReportedResult | ReportedGap] = []
    for test in report.tests:
        if accepts_held:
            rows += (_build_held_result(test, one) for one in test.held)
        else:  # the first carries the patient's notes
            rows += _build_test(test, [] if rows else report.notes)
    collected = (test.collected_at for test in report.tests)
    received = (test.received_at for test in report.tests)
    return ResultDelivery(
        status=ResultStatus.FINAL if is_final else ResultStatus.PARTIAL,
        reported_at=lab_time.at if lab_time else received_at,
        results=tuple(one for one in rows if isinstance(one, ReportedResult)),
        missing=tuple(one for one in rows if isinstance(one, ReportedGap)),
        samples=tuple(_build_samples(report)),
        is_correction=any(
            observation.standing is ObservationStatus.CORRECTED
            for test in report.tests
            for observation in test.observations
        ),
        collected_at=next((moment.at for moment in collected if moment), None),
        received_at=next((moment.at for moment in received if moment), None),
    )


def _build_test(test: Test, notes: list[str]) -> list[ReportedResult | ReportedGap]:
    """Return a test's results and gaps; the first carries `notes` and the test's."""
    reported = [
        one
        for one in test.observations
        if one.standing is not ObservationStatus.AWAITED
    ]
    notes = [*notes, *test.notes]
    is_without_value = test.is_refused or (test.is_done and bool(test.notes))
    if not reported and not test.held and is_without_value:
        return [_build_missing_test(test, notes)]
    return [
        _build_observation(test, one, notes if one is reported[0] else [])
        for one in reported
    ]


def _build_observation(
    test: Test, observation: Observation, notes: list[str]
) -> ReportedResult | ReportedGap:
    text = observation.text
    has_value = text and text.strip(" .*").upper() not in _NO_VALUES
    if observation.standing in GIVEN_STANDINGS and (
        has_value or (not text and observation.notes)
    ):
        return _build_result(test, observation, notes)
    return _build_missing_result(test, observation, notes)


def _build_result(
    test: Test, observation: Observation, notes_of_test: list[str]
) -> ReportedResult:
    notes = observation.notes
    text = observation.text
    if not text:  # some labs write the value of a result into its note
        text, notes = "\n".join(notes), []
    return ReportedResult(
        name=observation.name,
        text=text,
        type=observation.type,
        unit=observation.unit,
        reference_range=observation.reference_range,
        flag="~".join(observation.flags),
        ordered_code=test.code,
        provider_id=observation.code,
        loinc=observation.loinc,
        sub_id=observation.sub_id,
        notes="\n".join([*notes, *notes_of_test]),
        sample_id=next((one.sample_id for one in test.specimens), ""),
        laboratory=observation.laboratory,
        observed_at=observation.observed_at.at if observation.observed_at else None,
        reported_at=test.reported_at.at if test.reported_at else None,
        is_preliminary=observation.standing is ObservationStatus.PRELIMINARY,
    )


def _build_missing_result(
    test: Test, observation: Observation, notes_of_test: list[str]
) -> ReportedGap:
    taken_back = observation.standing is ObservationStatus.WITHDRAWN
    failure = _NO_VALUES.get(observation.text.strip(" .*").upper(), FailureType.UNKNOWN)
    notes = [observation.text, *observation.notes]
    if not any(notes):
        notes = [_TAKEN_BACK if taken_back else _NO_VALUE]
    return ReportedGap(
        name=observation.name,
        failure_type=FailureType.INTERNAL_LAB if taken_back else failure,
        note="\n".join(filter(None, [*notes, *notes_of_test])),
        ordered_code=test.code,
        provider_id=observation.code,
        loinc=observation.loinc,
        sub_id=observation.sub_id,
    )


def _build_held_result(test: Test, observation: Observation) -> ReportedGap:
    """Return what a person accepted as missing, with the lab's words."""
    doubt = observation.doubt
    value = " ".join(filter(None, (observation.text, observation.unit))) or "-"
    words = _HELD.format(
        says=doubt.says if doubt else "", value=value[:_VALUE_MAX_LENGTH]
    )
    return ReportedGap(
        name=observation.name or test.name or _NAMELESS,
        note="\n".join([words, *observation.notes]),
        ordered_code=test.code,
        provider_id=observation.code,
        loinc=observation.loinc,
        sub_id=observation.sub_id,
    )


def _build_missing_test(test: Test, notes: list[str]) -> ReportedGap:
    return ReportedGap(
        name=test.name,
        failure_type=FailureType.UNKNOWN,
        note="\n".join(notes) or _REFUSED,
        ordered_code=test.code,
        provider_id=test.code,
    )


def _build_samples(report: Report) -> Iterator[ReportedSample]:
    seen: set[str] = set()
    for test in report.tests:
        for specimen in test.specimens:
            number = specimen.sample_id[:_SAMPLE_MAX_LENGTH]
            if number and number not in seen:
                seen.add(number)
                yield _build_sample(test, specimen, number)


def _build_sample(test: Test, specimen: Specimen, number: str) -> ReportedSample:
    collected, received = specimen.collected_at, specimen.received_at
    return ReportedSample(
        sample_id=number,
        collected_at=collected.at if collected else None,
        collected_offset=collected.offset if collected else None,
        received_at=received.at if received else None,
        received_offset=received.offset if received else None,
        notes="\n".join(specimen.notes),
        information=test.information,
    )

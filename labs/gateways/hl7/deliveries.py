"""Conversion of ORU^R01 reports into result deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.gateways.hl7.results import ObservationStatus
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

    from labs.gateways.hl7.results import Observation, Report, Test

_SAMPLE_MAX_LENGTH = 100
_GIVEN = {
    ObservationStatus.FINAL,
    ObservationStatus.CORRECTED,
    ObservationStatus.PRELIMINARY,
}
_NO_VALUE = "The lab sent this result without a value."
_TAKEN_BACK = "The lab withdrew this result."
_REFUSED = "The lab did not perform this test."


def build_result_delivery_from_report(
    report: Report, *, is_final: bool, received_at: datetime
) -> ResultDelivery:
    """Build a report's delivery; `received_at` replaces missing lab times.

    Source: HL7 v2.5.1, table 0085 (OBX-11): P is preliminary, X, D and W are missing
    results, C marks a correction, what is awaited is nothing yet.
    """
    lab_time = report.reported_at
    reported_at = lab_time.at if lab_time else received_at
    results: list[ReportedResult] = []
    missing: list[ReportedGap] = []
    for test in report.tests:
        if test.is_refused and not test.observations:
            missing.append(_build_rejected_test(test))
        for observation in test.observations:
            if observation.standing is ObservationStatus.AWAITED:
                continue
            if observation.standing in _GIVEN and (
                observation.text or observation.notes
            ):
                results.append(_build_result(test, observation))
            else:
                missing.append(_build_missing_result(test, observation))
    collected = (test.collected_at for test in report.tests)
    received = (test.received_at for test in report.tests)
    return ResultDelivery(
        status=ResultStatus.FINAL if is_final else ResultStatus.PARTIAL,
        reported_at=reported_at,
        results=tuple(results),
        missing=tuple(missing),
        samples=tuple(_build_samples(report)),
        is_correction=any(
            observation.standing is ObservationStatus.CORRECTED
            for test in report.tests
            for observation in test.observations
        ),
        collected_at=next((moment.at for moment in collected if moment), None),
        received_at=next((moment.at for moment in received if moment), None),
    )


def _build_result(test: Test, observation: Observation) -> ReportedResult:
    notes = list(observation.notes)
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
        notes="\n".join([*notes, *_notes_of_test(test, observation)]),
        sample_id=next((one.sample_id for one in test.specimens), ""),
        laboratory=observation.laboratory,
        observed_at=observation.observed_at.at if observation.observed_at else None,
        reported_at=test.reported_at.at if test.reported_at else None,
        is_preliminary=observation.standing is ObservationStatus.PRELIMINARY,
    )


def _notes_of_test(test: Test, observation: Observation) -> list[str]:
    """Return a test's notes, which its first result carries."""
    return test.notes if observation is test.observations[0] else []


def _build_missing_result(test: Test, observation: Observation) -> ReportedGap:
    taken_back = observation.standing is ObservationStatus.WITHDRAWN
    notes = [observation.text, *observation.notes]
    if not any(notes):
        notes = [_TAKEN_BACK if taken_back else _NO_VALUE]
    return ReportedGap(
        name=observation.name,
        failure_type=FailureType.INTERNAL_LAB if taken_back else FailureType.UNKNOWN,
        note="\n".join(filter(None, notes)),
        ordered_code=test.code,
        provider_id=observation.code,
        loinc=observation.loinc,
        sub_id=observation.sub_id,
    )


def _build_rejected_test(test: Test) -> ReportedGap:
    return ReportedGap(
        name=test.name,
        failure_type=FailureType.UNKNOWN,
        note="\n".join(test.notes) or _REFUSED,
        ordered_code=test.code,
        provider_id=test.code,
    )


def _build_samples(report: Report) -> Iterator[ReportedSample]:
    seen: set[str] = set()
    for test in report.tests:
        for specimen in test.specimens:
            number = specimen.sample_id[:_SAMPLE_MAX_LENGTH]
            if not number or number in seen:
                continue
            seen.add(number)
            collected, received = specimen.collected_at, specimen.received_at
            yield ReportedSample(
                sample_id=number,
                collected_at=collected.at if collected else None,
                collected_offset=collected.offset if collected else None,
                received_at=received.at if received else None,
                received_offset=received.offset if received else None,
                information=test.information,
            )

"""Results as reported by a lab, before interpretation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from labs.states.results import FailureType

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from labs.states.results import ResultStatus


@dataclass(frozen=True, slots=True)
class ReportedResult:
    """One result as the lab wrote it; empty where the lab gave nothing.

    `text` is the value as written, `type` a ResultType where the lab declares one.
    `ordered_code` is the lab's code of the orderable it was ordered by, `provider_id`
    that of the result itself; `sub_id` tells repeated ones apart. `flag` is the lab's
    own, several joined by `~`. `low` and `high` bound a range whose text says no two
    numbers. `interpretation` is that of whoever read the value, such as by critical
    limits; the worst of all counts. Of a value that was read from a report,
    `parsed_report_id` is its parsing job and `parsed_position` its row. `observed_at`
    is when the sample was as measured, `reported_at` when the lab reported it, by
    default that of the delivery.
    """

    name: str
    text: str
    type: str = ""
    unit: str = ""
    reference_range: str = ""
    flag: str = ""
    ordered_code: str = ""
    provider_id: str = ""
    loinc: str = ""
    sub_id: str = ""
    notes: str = ""
    sample_id: str = ""
    laboratory: str = ""
    observed_at: datetime | None = None
    reported_at: datetime | None = None
    is_preliminary: bool = False
    low: float | None = None
    high: float | None = None
    interpretation: str = ""
    parsed_report_id: UUID | None = None
    parsed_position: int | None = None


@dataclass(frozen=True, slots=True)
class ReportedGap:
    """A result the lab could not report or withdrew."""

    name: str
    failure_type: str = FailureType.UNKNOWN
    note: str = ""
    ordered_code: str = ""
    provider_id: str = ""
    loinc: str = ""
    sub_id: str = ""


@dataclass(frozen=True, slots=True)
class ReportedSample:
    """A sample; offsets are seconds east of UTC where the lab gave them.

    `laboratories` maps a laboratory's code to name, phone_number, medical_director and
    address (contract 6.15), which holds first_line, city, state, zip and country.
    """

    sample_id: str
    control_number: str = ""
    collected_at: datetime | None = None
    collected_offset: int | None = None
    received_at: datetime | None = None
    received_offset: int | None = None
    reported_at: datetime | None = None
    reported_offset: int | None = None
    laboratories: Mapping[str, Any] = field(default_factory=dict)
    fasting: bool | None = None
    notes: str = ""
    information: str = ""
    total_volume: str = ""


@dataclass(frozen=True, slots=True)
class ResultDelivery:
    """One delivery of an order's results: partial or final.

    A final one says that nothing more is expected; what earlier ones gave need not be
    repeated. `is_correction` is the lab's own word for it.
    """

    status: ResultStatus
    reported_at: datetime
    results: tuple[ReportedResult, ...] = ()
    missing: tuple[ReportedGap, ...] = ()
    samples: tuple[ReportedSample, ...] = ()
    is_correction: bool = False
    laboratory: str = ""
    clia_number: str = ""
    collected_at: datetime | None = None
    received_at: datetime | None = None

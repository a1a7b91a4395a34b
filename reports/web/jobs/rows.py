"""Reports and their values as the pages show them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING

from django.utils import timezone

from portal.ui.charts import draw_reference_range_bar
from reports.parser.report import Interpretation, LoincMatchStatus, ResultType
from reports.states import ParsingJobStatus, RowPart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.utils.safestring import SafeString

    from reports.models import ParsingJob, ReportResult

# How long the page waits before it asks again, by the age of what it waits for.
_POLLS = ((60, 3), (600, 10))
_SLOW_POLL_S = 30


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One biomarker as shown; `flag` is a status of the pills, or empty."""

    result: ReportResult
    flag: str
    bar: SafeString | str

    @property
    def loinc_code(self) -> str:
        """Return the best LOINC candidate's code, or empty."""
        matches = self.result.loinc_matches
        return str(matches[0]["loinc_code"]) if matches else ""

    @property
    def is_match_sure(self) -> bool:
        """Return whether the candidate was matched without review."""
        return self.result.loinc_match_status == LoincMatchStatus.AUTO_MATCH

    @property
    def page(self) -> int | None:
        """Return the page of the value; None if it was typed."""
        places = filter(None, map(self.result.provenance.get, RowPart))
        return next((place["page"] for place in places), None)

    @property
    def is_out_of_range(self) -> bool:
        """Return whether the value is outside its range, or flagged by the lab."""
        return self.flag not in {"", Interpretation.NORMAL}


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows printed under one heading, which may be empty."""

    name: str
    rows: list[ResultRow]


def build_result_row_with_range_bar(result: ReportResult) -> ResultRow:
    """Return a stored value as a row with its flag and range bar."""
    if result.interpretation == Interpretation.CRITICAL:
        flag = "critical"
    elif result.is_above_max_range:
        flag = "high"
    elif result.is_below_min_range:
        flag = "low"
    elif result.interpretation == Interpretation.UNKNOWN:
        flag = ""
    else:
        flag = result.interpretation
    return ResultRow(result=result, flag=flag, bar=_bar(result))


def group_rows_by_panel(rows: Iterable[ResultRow]) -> list[Panel]:
    """Group rows under their headings, in reading order."""
    return [
        Panel(name, list(found))
        for name, found in groupby(rows, lambda row: row.result.source_panel_name or "")
    ]


def get_polling_interval_seconds(jobs: Iterable[ParsingJob]) -> int | None:
    """Return the polling interval in seconds, None if no job is in progress.

    The newest job sets the pace: a fresh one ends within seconds. Source: Ours (design
    guide, polling).
    """
    waiting = [
        job.created_at
        for job in jobs
        if job.status in {ParsingJobStatus.UPLOAD_PENDING, ParsingJobStatus.STARTED}
    ]
    if not waiting:
        return None
    age = (timezone.now() - max(waiting)).total_seconds()
    return next((pause for limit, pause in _POLLS if age < limit), _SLOW_POLL_S)


def _bar(result: ReportResult) -> SafeString | str:
    if result.type != ResultType.NUMERIC:
        return ""
    try:
        value = float(result.value)
    except ValueError:
        return ""
    if not isfinite(value):
        return ""
    return draw_reference_range_bar(
        value,
        low=result.min_reference_range,
        high=result.max_reference_range,
        unit=result.units or "",
    )

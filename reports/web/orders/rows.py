"""Rows of the page that compares a report with its order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.states.trends import convert_result_to_unit
from reports.parser.text.values import parse_printed_number
from reports.web.signing.rows import crop_page_around_row

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest
    from reports.models import ParsingJob
    from reports.operations.orders.comparing import OrderedLine
    from reports.web.signing.rows import PageCrop


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A line of the comparison; `pill` is its family and words, `ink` as printed.

    `in_ordered_unit` is the value in the unit that was ordered, where it converts.
    """

    line: OrderedLine
    pill: tuple[str, str]
    ink: PageCrop | None
    needs_look: bool
    in_ordered_unit: str = ""


def build_comparison_row(
    request: TenantRequest, job: ParsingJob, line: OrderedLine
) -> ComparisonRow:
    """Return a line with what stands out about it."""
    row = line.row
    ink = crop_page_around_row(request, job=job, values=row.values) if row else None
    pill = _pill(line)
    return ComparisonRow(
        line=line,
        pill=pill,
        ink=ink,
        needs_look=pill[0] not in {"ok", "mute"},
        in_ordered_unit=_convert(line) if line.has_other_unit else "",
    )


def _pill(line: OrderedLine) -> tuple[str, str]:
    if line.row is not None and line.row.is_critical:
        return "bad", _("Critical")
    if line.is_extra:
        return "info", _("Not ordered")
    if line.has_other_unit:
        return "rev", _("Unit differs")
    if line.row is not None:
        changed = line.before is not None and line.before.result != line.row.value
        return ("rev", _("Corrected")) if changed else ("ok", _("Match"))
    if line.is_not_performed:
        return "mute", _("Not performed")
    if line.is_missing:
        return "warn", _("Missing")
    return "mute", _("Received before") if line.before else _("Optional")


def _convert(line: OrderedLine) -> str:
    """Return the value in the ordered unit, empty where it does not convert."""
    if line.row is None or line.ordered is None:
        return ""
    value = parse_printed_number(line.row.value, decimal_comma=False)
    if value is None:
        return ""
    converted = convert_result_to_unit(
        value,
        unit=line.row.unit,
        to=line.ordered.unit,
        loinc=line.row.loinc or line.ordered.loinc,
    )
    return "" if converted is None else f"{converted:.4g} {line.ordered.unit}"

"""A marker beside daily life, as chosen on its page, as a CSV file."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from django.views.decorators.http import require_GET

from accounts.states import Area
from accounts.web.rights import require_right
from labs.web.results.beside_life import (
    read_labs_beside_life,
    record_beside_life_read,
)
from labs.web.results.rows import format_reference_range
from portal.lib.web.csv_files import build_csv_download, format_csv_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.web.results.beside_life import BesideLife, BesideRow

_COLUMNS = (
    "day",
    "life",
    "value",
    "value_unit",
    "source",
    "marker",
    "loinc",
    "result",
    "unit",
    "reference_range",
    "interpretation",
    "collected_at",
    "median_before",
    "days_before",
    "annotations",
)


@require_GET
@require_right(Area.USERS)
@require_right(Area.ORDERS)
def download_labs_beside_life(request: TenantRequest, user_id: str) -> HttpResponse:
    """Download the days that the page shows with the same query string, each by itself.

    A day has a row if it has a value, a result or an annotation; one a result if it has
    several. Oldest first.
    """
    found = read_labs_beside_life(request, user_id)
    record_beside_life_read(request, found, suffix="_file")
    return build_csv_download(
        name="labs-beside-life", columns=_COLUMNS, rows=list(_list_rows(found))
    )


def _list_rows(found: BesideLife) -> Iterator[list[str]]:
    results: dict[date, list[BesideRow]] = defaultdict(list)
    for row in reversed(found.rows):
        results[row.day].append(row)
    for number in range((found.last - found.first).days + 1):
        day = found.first + timedelta(days=number)
        titles = "; ".join(
            each.title
            for each in found.annotations
            if each.annotation.first_day <= day <= each.annotation.last_day
        )
        value = found.values.get(day)
        known = results.get(day, ())
        if value is None and not known and not titles:
            continue
        shown = [
            day.isoformat(),
            found.life.key,
            "" if value is None else f"{value:.4g}",
            str(found.life.unit),
            found.provider if value is not None else "",
        ]
        results_of_day = [_list_result_cells(found, row) for row in known]
        for cells in results_of_day or [[""] * 9]:
            yield [*shown, *cells, titles]


def _list_result_cells(found: BesideLife, row: BesideRow) -> list[str]:
    result = row.result
    return [
        found.trend.name if found.trend else "",
        found.trend.loinc if found.trend else "",
        result.text,
        result.unit,
        result.reference_range or format_reference_range(result),
        result.interpretation,
        format_csv_timestamp(result.at),
        row.median.replace(",", ""),
        str(row.days),
    ]

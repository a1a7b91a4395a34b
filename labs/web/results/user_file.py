"""A user's results, as filtered on their page, as a CSV file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from labs.web.results.user_page import find_user, list_user_results
from portal.lib.web.csv_files import build_csv_download, format_csv_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.web.results.user_page import UserResultRow

_COLUMNS = (
    "marker",
    "loinc",
    "result",
    "unit",
    "reference_range",
    "interpretation",
    "collected_at",
    "lab",
    "panel",
    "order_id",
    "report_id",
    "reviewed_at",
    "compared_result",
    "compared_at",
)


@require_GET
@require_right(Area.USERS)
@require_right(Area.ORDERS)
def download_user_results(request: TenantRequest, user_id: str) -> HttpResponse:
    """Download the results that the page shows with the same query string."""
    user = find_user(request, user_id).user
    found = list_user_results(request, user.uuid)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="result_trends_file",
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )
    return build_csv_download(
        name="results", columns=_COLUMNS, rows=map(list, map(_cells, found.rows))
    )


def _cells(row: UserResultRow) -> Iterator[str]:
    shown = row.shown
    yield row.trend.name
    yield row.trend.loinc
    yield shown.text
    yield shown.unit
    yield shown.reference_range or row.ranges
    yield shown.interpretation
    yield format_csv_timestamp(shown.at)
    yield shown.lab
    yield shown.panel
    yield str(shown.order_id or "")
    yield str(shown.report_id or "")
    yield format_csv_timestamp(shown.reviewed_at)
    yield row.compared.result.text if row.compared else ""
    yield format_csv_timestamp(row.compared.result.at if row.compared else None)

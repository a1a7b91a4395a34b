"""Serves images of report pages; each view is audited.

Crops need no address of their own: the page shows a part of this picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.database.time_limits import RETRY_AFTER_S
from portal.lib.errors import Unavailable
from reports.operations.reading.page_images import (
    DRAWING_BUSY,
    load_or_render_page_jpeg,
)
from reports.queries import get_parsing_job
from reports.states import PictureSize

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest


@require_GET
@require_right(Area.REPORTS)
def show_report_page_image(
    request: TenantRequest, job_id: str, page: int
) -> HttpResponse:
    """Return one page as an image, small with `size=small`; never cached.

    503 with Retry-After where it can't be drawn yet: the desk asks again, and nobody
    reads a page of ours in a picture's place.
    """
    try:
        job = get_parsing_job(tenant=request.tenant, job_id=UUID(job_id))
        size = PictureSize(request.GET.get("size", PictureSize.FULL))
    except ValueError:
        raise Http404 from None
    try:
        picture = load_or_render_page_jpeg(job=job, page=page, size=size)
    except Unavailable as refusal:
        if refusal.code != DRAWING_BUSY:
            raise
        return HttpResponse(status=503, headers={"Retry-After": str(RETRY_AFTER_S)})
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="report_page",
        subject_id=f"{job.id} {page}" + (f" {size}" if size != "full" else ""),
        user_uuid=job.user.uuid,
    )
    return HttpResponse(picture, content_type="image/jpeg")

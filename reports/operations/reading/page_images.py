"""Images of report pages: rendered once in the child process, then stored.

They are kept beside the upload and go with it (operations.storage).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.models import Tenant
from portal.lib.errors import NotFound, Unavailable
from portal.lib.slots import NoSlot, Work, hold_work_slot
from reports.operations.reading.extraction import (
    is_complete_jpeg,
    render_report_page,
    render_report_pages,
)
from reports.operations.reading.files import (
    load_stored_page_image,
    open_local_copies_of_files,
    store_page_image,
)
from reports.parser.report import UnreadableReport
from reports.queries import get_parsing_job, list_report_files
from reports.states import PictureSize

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from reports.models import ParsingJob, ReportFile

DRAW_JOB = "reports.draw_pages"
DRAWING_BUSY = "drawing_busy"
_AT_ONCE = 6  # pages a child, which says them together, within a bound on its output


def load_or_render_page_jpeg(
    *, job: ParsingJob, page: int, size: PictureSize = PictureSize.FULL
) -> bytes:
    """Return a page, counted from 1, as a JPEG, rendering it if needed.

    What was not drawn before is drawn now, in some 0.5 s. Raises: page_unknown (404);
    page_undrawable (404); drawing_busy, while others of the tenant are drawn, and
    storage_unavailable (503). Source: Ours (workflow D1): what a stranger uploaded is
    opened in no web process.
    """
    if not 1 <= page <= (job.pages or 0):
        raise NotFound("page_unknown", _("The report has no such page."), "page")
    files = list_report_files(job)
    stored = _find_stored_picture(files, page, size)
    if stored is not None:
        return stored
    try:
        with (
            hold_work_slot(Work.STORED, tenant=job.tenant),
            open_local_copies_of_files(files) as paths,
        ):
            drawn = render_report_page(*paths, page=page)
    except NoSlot:
        raise Unavailable(
            DRAWING_BUSY,
            _("Other pages are being rendered. Try again in a few seconds."),
        ) from None
    except UnreadableReport:
        drawn = None
    if drawn is None:
        raise NotFound("page_undrawable", _("This page can't be rendered."))
    return _store_pictures(files[0], page, drawn)[size]


def render_pages_of_report_in_review(*, tenant_pk: int, job_id: UUID) -> None:
    """Render all pages of a report that is pending review (run by the worker).

    Safe to repeat: what is kept is not drawn again, and a page that can't be drawn is
    tried once more when it is looked at. Source: Ours (workflow D1): nobody waits for
    ten pages on the desk.
    """
    tenant = Tenant.objects.get(pk=tenant_pk)
    try:
        job = get_parsing_job(tenant=tenant, job_id=job_id)
    except NotFound:  # its user was deleted meanwhile
        return
    files = list_report_files(job)
    missing = [
        page
        for page in range(1, (job.pages or 0) + 1)
        if _find_stored_picture(files, page, PictureSize.SMALL) is None
    ]
    if not missing:
        return
    with suppress(UnreadableReport), open_local_copies_of_files(files) as paths:
        for start in range(0, len(missing), _AT_ONCE):
            pages = missing[start : start + _AT_ONCE]
            for page, drawn in zip(
                pages, render_report_pages(*paths, pages=pages), strict=True
            ):
                if drawn is not None:
                    _store_pictures(files[0], page, drawn)


def _find_stored_picture(
    files: Sequence[ReportFile], page: int, size: PictureSize
) -> bytes | None:
    """Return a stored image, None if there is none or it is incomplete."""
    stored = load_stored_page_image(files[0].stored_as, page, size)
    return stored if stored is not None and is_complete_jpeg(stored) else None


def _store_pictures(
    first: ReportFile, page: int, drawn: tuple[bytes, bytes]
) -> dict[PictureSize, bytes]:
    """Store a page's two images beside the report's first file."""
    sizes = dict(zip(PictureSize, drawn, strict=True))
    for size, content in sizes.items():
        store_page_image(first.stored_as, page, size, content)
    return sizes

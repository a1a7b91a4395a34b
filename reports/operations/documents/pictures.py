"""Images of a received document's pages, drawn in the child process when shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.errors import NotFound, Unavailable
from portal.lib.slots import NoSlot, Work, hold_work_slot
from reports.models import ReportFile
from reports.operations.reading.extraction import render_report_page
from reports.operations.reading.files import open_local_copies_of_files
from reports.parser.report import UnreadableReport

if TYPE_CHECKING:
    from reports.models import UnmatchedDocument


def render_document_page(*, document: UnmatchedDocument, page: int) -> bytes:
    """Return a page, counted from 1, as a JPEG. Nothing of it is kept.

    Raises: page_unknown (404), also of a document that was matched; page_undrawable
    (404); drawing_busy, storage_unavailable (503). Source: Ours: what a stranger mailed
    is opened in no web process, and no link or script of it reaches a browser.
    """
    if not document.stored_as or not 1 <= page <= (document.pages or 0):
        raise NotFound("page_unknown", _("The document has no such page."), "page")
    file = ReportFile(stored_as=document.stored_as, content_type=document.content_type)
    try:
        with (
            hold_work_slot(Work.STORED, tenant=document.tenant),
            open_local_copies_of_files([file]) as paths,
        ):
            drawn = render_report_page(*paths, page=page)
    except NoSlot:
        raise Unavailable(
            "drawing_busy",
            _("Other pages are being rendered. Try again in a few seconds."),
        ) from None
    except UnreadableReport:
        drawn = None
    if drawn is None:
        raise NotFound("page_undrawable", _("This page can't be rendered."))
    return drawn[0]

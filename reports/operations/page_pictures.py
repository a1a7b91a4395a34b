"""Pages of stored reports as pictures, drawn in the bounded child.

Must not be here: who may see them, or the audit of a view (the face says so).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portal.lib.errors import DomainError, NotFound
from reports.operations.extraction import draw_page
from reports.operations.storage import path_of
from reports.parser import UnreadableReport
from reports.queries import report_files

if TYPE_CHECKING:
    from reports.models import ParsingJob


def page_picture(*, job: ParsingJob, page: int) -> bytes:
    """A page of a report, counted from 1, as a JPEG in the frame of its polygons.

    Raises: page_unknown (404); page_undrawable. Source: Ours (workflow D1): what a
    stranger uploaded is opened in no web process.
    """
    if not 1 <= page <= (job.pages or 0):
        raise NotFound("page_unknown", "The report has no such page.", "page")
    try:
        return draw_page(*map(path_of, report_files(job)), page=page)
    except UnreadableReport:
        raise DomainError("page_undrawable", "This page can't be shown.") from None

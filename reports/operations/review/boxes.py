"""Reads the text in a box that a reviewer draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.errors import DomainError, Unavailable
from portal.lib.slots import NoSlot, Work, hold_work_slot
from reports.operations.reading.extraction import read_text_in_stored_page_box
from reports.operations.reading.files import open_local_copies_of_files
from reports.operations.review.saving import require_box_inside_page
from reports.parser.report import UnreadableReport
from reports.queries import get_review, list_report_files

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from reports.parser.boxes import BoxReading
    from reports.parser.report import Place


def read_text_in_drawn_box(
    *, tenant: Tenant, review_id: UUID, place: Place
) -> BoxReading:
    """Read a box on a page of a review's report, for a reviewer to confirm.

    Takes some 0.4 s from a page's own text, a few seconds from a picture. Nothing is
    stored, and no row is locked. Raises: review_not_found (404); place_not_on_page,
    box_unreadable; reader_busy, storage_unavailable (503). Source: Ours (workflow D1).
    """
    review = get_review(tenant=tenant, review_id=review_id)
    require_box_inside_page(review=review, place=place)
    try:
        with (
            hold_work_slot(Work.STORED, tenant=tenant),
            open_local_copies_of_files(list_report_files(review.job)) as paths,
        ):
            return read_text_in_stored_page_box(*paths, place=place)
    except NoSlot:
        raise Unavailable(
            "reader_busy",
            _("Other pages are being read. Draw the box again in a few seconds."),
        ) from None
    except UnreadableReport:
        raise DomainError(
            "box_unreadable",
            _("No text could be read in the box. Type the row instead."),
        ) from None

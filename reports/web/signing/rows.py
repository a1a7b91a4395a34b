"""Changes, gaps and page crops as the pages of signing show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url
from portal.ui.pills import format_wire_value_as_words
from reports.states import RowPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from accounts.web.requests import TenantRequest
    from reports.models import ParsingJob, Review, ReviewRow
    from reports.operations.signing.signing import Gap
    from reports.queries import RowDiff

_MARGIN = 6.0  # around the ink, in the page's units at 72 a inch
_SHOWN = {
    "test_name": gettext_lazy("Name"),
    "value": gettext_lazy("Value"),
    "units": gettext_lazy("Unit"),
    "reference_range": gettext_lazy("Range"),
    "flag": gettext_lazy("Flag"),
    "source_panel_name": gettext_lazy("Panel"),
    "sample_type": gettext_lazy("Specimen"),
}
_GAPS = {
    "flagged_row_undecided": gettext_lazy("Decide the flagged rows"),
    "row_unconfirmed": gettext_lazy("Confirm the remaining rows"),
    "page_not_shown": gettext_lazy("View all pages"),
    "critical_unacknowledged": gettext_lazy("Acknowledge the critical values"),
    "identity_undecided": gettext_lazy("Check the patient's identity"),
    "duplicate_undecided": gettext_lazy("Resolve the possible duplicate"),
    "no_rows_left": gettext_lazy("No rows left: reject the report instead"),
}


@dataclass(frozen=True, slots=True)
class PageCrop:
    """A part of a page image, in the page's units."""

    url: str
    page: int
    view: str  # an SVG viewBox
    width: float
    height: float
    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a row before and after, empty if absent."""

    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A row with its list of changes."""

    position: int
    name: str
    decision: str
    reason: str
    changes: tuple[FieldChange, ...]
    ink: PageCrop | None


@dataclass(frozen=True, slots=True)
class GapLinks:
    """An unmet rule, with a link to each row or page that it names."""

    code: str
    says: str
    links: tuple[tuple[str, str], ...]


def build_review_page_url(request: TenantRequest, review: Review) -> str:
    """Return the address of a review's page."""
    here = page_url(request, "reports:approve", review_id=review.id)
    return here.removesuffix("approve/")


def list_unmet_signing_rules_with_links(
    request: TenantRequest,
    *,
    review: Review,
    rows: Sequence[ReviewRow],
    gaps: Iterable[Gap],
) -> list[GapLinks]:
    """Return the unmet rules of signing, each with links to resolve it."""
    desk = build_review_page_url(request, review)
    names = {row.position: str(row.values["test_name"]) for row in rows}
    found = []
    for gap in gaps:
        if gap.code == "page_not_shown":
            links = [
                (_("Page %(page)d") % {"page": page}, f"{desk}?page={page}")
                for page in gap.at
            ]
        elif gap.code == "critical_unacknowledged":
            links = [(names[at], f"#critical-{at}") for at in gap.at]
        elif gap.at:
            links = [(names[at], f"{desk}?row={at}#name-{at}") for at in gap.at]
        else:
            links = [(_("Open report"), desk)]
        found.append(GapLinks(gap.code, _GAPS[gap.code], tuple(links)))
    return found


def build_changed_row_for_diff(
    request: TenantRequest, *, job: ParsingJob, diff: RowDiff, reason: str = ""
) -> ChangedRow:
    """Return a row of a review's diff as shown."""
    shown = diff.after or diff.before or {}
    return ChangedRow(
        position=diff.position,
        name=str(shown.get("test_name", "")),
        decision=diff.decision,
        reason=reason,
        changes=list_changed_row_fields(diff.before, diff.after),
        ink=crop_page_around_row(request, job=job, values=shown),
    )


def list_changed_row_fields(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> tuple[FieldChange, ...]:
    """Return the fields that differ between two versions of a row."""
    pairs = [
        (label, _text(before, name), _text(after, name))
        for name, label in _SHOWN.items()
    ]
    pairs.append(("LOINC", _loinc(before), _loinc(after)))
    if before and after and before["provenance"] != after["provenance"]:
        pairs.append((_("Box"), _("as read"), _("redrawn")))
    return tuple(FieldChange(*pair) for pair in pairs if pair[1] != pair[2])


def crop_page_around_row(
    request: TenantRequest, *, job: ParsingJob, values: Mapping[str, Any]
) -> PageCrop | None:
    """Return the page crop around a row; None if it was typed."""
    places = [
        place
        for part in RowPart
        if (place := values.get("provenance", {}).get(part.value))
    ]
    sizes = {size["page"]: size for size in job.page_sizes or []}
    if not places or places[0]["page"] not in sizes:
        return None
    page = places[0]["page"]
    size = sizes[page]
    points = [
        point for place in places if place["page"] == page for point in place["polygon"]
    ]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    # A picture's unit is a pixel, of which a page has far more than points.
    margin = _MARGIN * max(1.0, size["width"] / 612)
    left, top = max(0.0, min(xs) - margin), max(0.0, min(ys) - margin)
    right = min(size["width"], max(xs) + margin)
    bottom = min(size["height"], max(ys) + margin)
    return PageCrop(
        url=page_url(request, "reports:page_image", job_id=job.id, page=page),
        page=page,
        view=f"{left:.1f} {top:.1f} {right - left:.1f} {bottom - top:.1f}",
        width=size["width"],
        height=size["height"],
        x=left,
        y=top,
        w=right - left,
        h=bottom - top,
    )


def _text(values: Mapping[str, Any] | None, name: str) -> str:
    found = (values or {}).get(name) or ""
    return (
        format_wire_value_as_words(str(found))
        if name == "sample_type" and found
        else str(found)
    )


def _loinc(values: Mapping[str, Any] | None) -> str:
    matches = (values or {}).get("loinc_matches") or []
    if not matches:
        return ""
    first = matches[0]
    return f"{first['loinc_code']} {first['display_name'] or first['loinc_name']}"

"""A report's pages as the review page shows them: images, boxes, open rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from portal.lib.web.views import page_url
from reports.states import PictureSize, RowPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from accounts.web.requests import TenantRequest
    from reports.models import Review, ReviewRow
    from reports.web.review.rows import DeskRow


@dataclass(frozen=True, slots=True)
class Box:
    """A polygon on a page, as SVG points."""

    position: int
    part: str
    points: str
    label: str
    state: str


@dataclass(frozen=True, slots=True)
class DeskPage:
    """A page: its images, the boxes of its rows, and text not in any row.

    needing: how many of its rows need a person. positions: of all rows on it.
    """

    number: int
    url: str
    small_url: str
    needing: int
    positions: frozenset[int]
    width: float
    height: float
    wholes: tuple[Box, ...]
    parts: tuple[Box, ...]
    unread: tuple[str, ...]
    is_shown: bool
    pattern: float
    stroke: float


def list_page_images_with_boxes(
    request: TenantRequest, review: Review, rows: Sequence[DeskRow]
) -> list[DeskPage]:
    """Return each page with its boxes, in the page's own units."""
    job = review.job
    pages = []
    for size in job.page_sizes or []:
        number = size["page"]
        url = page_url(request, "reports:page_image", job_id=job.id, page=number)
        wholes, parts, needing = [], [], 0
        for row in rows:
            own = [
                (part, place)
                for part in RowPart
                if (place := row.row.values["provenance"].get(part.value))
                and place["page"] == number
            ]
            if not own:
                continue
            needing += row.needs
            label = f"{row.row.values['test_name']}, {row.row.values['value']}"
            at = row.row.position
            wholes.append(Box(at, "", _around([p for _, p in own]), label, row.state))
            parts += [
                Box(at, part.value, _around([place]), part.label, "")
                for part, place in own
            ]
        scale = max(size["width"], size["height"]) / 842
        pages.append(
            DeskPage(
                number=number,
                url=url,
                small_url=f"{url}?size={PictureSize.SMALL}",
                needing=needing,
                positions=frozenset(box.position for box in wholes),
                width=size["width"],
                height=size["height"],
                wholes=tuple(wholes),
                parts=tuple(parts),
                unread=tuple(
                    _points(place["polygon"])
                    for place in job.unread or []
                    if place["page"] == number
                ),
                is_shown=number in review.pages_shown,
                pattern=round(6 * scale, 2),
                stroke=round(scale, 2),
            )
        )
    return pages


def list_page_numbers_of_rows(*rows: ReviewRow) -> set[int]:
    """Return the numbers of the pages that rows are on."""
    return {
        place["page"]
        for row in rows
        for place in row.values["provenance"].values()
        if place
    }


def _points(polygon: Iterable[Sequence[float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in polygon)


def _around(places: Sequence[Mapping[str, Any]]) -> str:
    points = [point for place in places for point in place["polygon"]]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    margin = (max(ys) - min(ys)) * 0.15
    left, right = min(xs) - margin, max(xs) + margin
    top, bottom = min(ys) - margin, max(ys) + margin
    return _points([(left, top), (right, top), (right, bottom), (left, bottom)])

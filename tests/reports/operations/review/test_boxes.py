"""A drawn box is read in the child, from the page's own text or its picture."""

from __future__ import annotations

from io import BytesIO

import pypdfium2 as pdfium
import pytest

from portal.lib.errors import DomainError, NotFound, Unavailable
from portal.lib.slots import Work, hold_work_slot
from reports.operations.reading import extraction
from reports.operations.review.boxes import read_text_in_drawn_box
from reports.parser.boxes import read_text_in_box
from reports.parser.report import PageSize, Place, Point
from tests.factories.reports import make_endless_pdf, make_parsed, make_pdf, make_review
from tests.factories.users import make_user

HEIGHT = 841.89  # points, of the page that make_pdf draws


def box(left, top, right, bottom, *, page=1, scale=1.0):
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return Place(page, tuple(Point(x * scale, y * scale) for x, y in corners))


ROW = (50, HEIGHT - 692, 560, HEIGHT - 672)


@pytest.mark.django_db
def test_a_box_over_a_row_says_its_parts(alice_tenant, charlie_tenant):
    review = make_review(
        user=make_user(tenant=alice_tenant),
        content=make_pdf(),
        report=make_parsed(page_sizes=(PageSize(1, 595.28, HEIGHT),)),
    )
    fields = {"tenant": alice_tenant, "review_id": review.id}

    found = read_text_in_drawn_box(**fields, place=box(*ROW))

    parts = (found.test_name, found.value, found.units, found.reference_range)
    assert parts == ("Glucose", "105", "mg/dL", "70 - 99")
    assert (found.sure, found.from_picture) == (1.0, False)
    with pytest.raises(DomainError) as refusal:
        read_text_in_drawn_box(**fields, place=box(*ROW, page=2))
    assert refusal.value.code == "place_not_on_page"
    with pytest.raises(NotFound):
        read_text_in_drawn_box(
            tenant=charlie_tenant, review_id=review.id, place=box(*ROW)
        )


def test_a_file_that_can_not_be_opened_is_a_refusal(alice_tenant, db):
    review = make_review(
        user=make_user(tenant=alice_tenant),
        content=b"no report",
        report=make_parsed(page_sizes=(PageSize(1, 595.28, HEIGHT),)),
    )

    with pytest.raises(DomainError) as refusal:
        read_text_in_drawn_box(
            tenant=alice_tenant, review_id=review.id, place=box(*ROW)
        )

    assert refusal.value.code == "box_unreadable"


@pytest.mark.django_db
def test_a_box_is_read_in_a_slot_and_within_its_time(alice_tenant, monkeypatch):
    review = make_review(
        user=make_user(tenant=alice_tenant),
        content=make_endless_pdf(),
        report=make_parsed(page_sizes=(PageSize(1, 595.28, HEIGHT),)),
    )
    fields = {"tenant": alice_tenant, "review_id": review.id, "place": box(*ROW)}
    monkeypatch.setattr(extraction, "BOX_CPU_SECONDS", 1)

    with (
        hold_work_slot(Work.STORED, tenant=alice_tenant),
        pytest.raises(Unavailable) as busy,
    ):
        read_text_in_drawn_box(**fields)
    with pytest.raises(DomainError) as refusal:
        read_text_in_drawn_box(**fields)

    assert busy.value.code == "reader_busy"
    assert refusal.value.code == "box_unreadable"


def test_a_value_alone_and_a_name_alone_are_told_apart(tmp_path):
    path = tmp_path / "report"
    path.write_bytes(make_pdf())

    value = read_text_in_box([path], box(235, HEIGHT - 692, 560, HEIGHT - 672))
    name = read_text_in_box([path], box(50, HEIGHT - 692, 150, HEIGHT - 672))

    assert (value.test_name, value.value, value.units) == (None, "105", "mg/dL")
    assert (name.test_name, name.value) == ("Glucose", None)


@pytest.mark.long
def test_a_box_on_a_picture_is_read_from_it(tmp_path):
    scale = 200 / 72
    document = pdfium.PdfDocument(BytesIO(make_pdf()))
    path = tmp_path / "picture"
    document[0].render(scale=scale).to_pil().save(path, "PNG")
    document.close()

    found = read_text_in_box([path], box(*ROW, scale=scale))

    assert (found.test_name, found.value, found.units) == ("Glucose", "105", "mg/dL")
    assert (found.from_picture, found.reference_range) == (True, "70 - 99")

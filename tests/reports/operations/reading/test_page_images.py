"""Pages as pictures: drawn in the child, once, and nothing beyond the last page."""

from __future__ import annotations

from io import BytesIO
from uuid import uuid4

import pytest
from PIL import Image

from portal.lib.errors import NotFound, Unavailable
from portal.lib.slots import Work, hold_work_slot
from reports.operations.reading import extraction, page_images
from reports.operations.reading.files import store_page_image
from reports.operations.reading.page_images import (
    load_or_render_page_jpeg,
    render_pages_of_report_in_review,
)
from reports.parser.report import FailureReason, UnreadableReport
from reports.parser.showing import render_page_thumbnail, render_report_page_jpeg
from reports.queries import list_report_files
from reports.states import PictureSize
from tests.factories.reports import (
    make_endless_pdf,
    make_parsing_job,
    make_pdf,
    make_picture,
)
from tests.factories.users import make_user
from tests.reports.uploads import stored_files


def look_of(content):
    with Image.open(BytesIO(content)) as picture:
        return picture.size, picture.format


@pytest.fixture
def drawn(monkeypatch):
    """The pages that the child is asked for, call by call; it knows two."""
    items = []

    def draw(*_paths, pages):
        items.append(list(pages))
        jpeg = make_picture("JPEG")
        return [(jpeg, jpeg) if page < 3 else None for page in pages]

    monkeypatch.setattr(page_images, "render_report_pages", draw)
    monkeypatch.setattr(
        page_images,
        "render_report_page",
        lambda *paths, page: draw(*paths, pages=[page])[0],
    )
    return items


@pytest.mark.django_db
def test_a_page_is_drawn_once_in_the_frame_of_its_polygons(alice_tenant, monkeypatch):
    user = make_user(tenant=alice_tenant)
    job = make_parsing_job(user=user, content=make_pdf(), pages=1)

    first = load_or_render_page_jpeg(job=job, page=1)
    monkeypatch.setattr(
        page_images, "render_report_page", None
    )  # nothing is drawn any more
    again = load_or_render_page_jpeg(job=job, page=1)
    small = load_or_render_page_jpeg(job=job, page=1, size=PictureSize.SMALL)

    assert look_of(first) == ((1191, 1684), "JPEG")  # A4 at two pixels a point
    assert again == first
    assert look_of(small) == ((160, 226), "JPEG")
    for page in (0, 2):
        with pytest.raises(NotFound) as unknown:
            load_or_render_page_jpeg(job=job, page=page)
        assert unknown.value.code == "page_unknown"


@pytest.mark.django_db
def test_what_cannot_be_drawn_is_refused_and_not_kept(alice_tenant):
    user = make_user(tenant=alice_tenant)
    broken = make_parsing_job(user=user, content=b"%PDF-1.7 no more", pages=1)

    with pytest.raises(NotFound) as refusal:
        load_or_render_page_jpeg(job=broken, page=1)

    assert refusal.value.code == "page_undrawable"
    assert len(stored_files()) == 1


@pytest.mark.django_db
def test_a_page_is_drawn_in_a_slot_and_within_the_time_of_a_look(
    alice_tenant, charlie_tenant, monkeypatch
):
    job, theirs = (
        make_parsing_job(user=make_user(tenant=tenant), content=make_pdf(), pages=1)
        for tenant in (alice_tenant, charlie_tenant)
    )

    with hold_work_slot(Work.STORED, tenant=alice_tenant):
        with pytest.raises(Unavailable) as refusal:
            load_or_render_page_jpeg(job=job, page=1)
        drawn = load_or_render_page_jpeg(job=theirs, page=1)
    first = load_or_render_page_jpeg(job=job, page=1)
    with hold_work_slot(Work.STORED, tenant=alice_tenant):
        kept = load_or_render_page_jpeg(job=job, page=1)

    assert refusal.value.code == "drawing_busy"
    assert first == kept == drawn
    evil = make_parsing_job(user=job.user, content=make_endless_pdf(), pages=1)
    monkeypatch.setattr(extraction, "QUICK_INSPECT_CPU_SECONDS", 1)
    with pytest.raises(NotFound) as undrawable:
        load_or_render_page_jpeg(job=evil, page=1)
    assert undrawable.value.code == "page_undrawable"


@pytest.mark.django_db
def test_half_a_picture_is_drawn_again(alice_tenant, drawn):
    job = make_parsing_job(user=make_user(tenant=alice_tenant), pages=1)
    (file,) = list_report_files(job)
    store_page_image(file.stored_as, 1, PictureSize.FULL, make_picture("JPEG")[:-2])

    pictures = [load_or_render_page_jpeg(job=job, page=1) for _ in range(2)]

    assert pictures == [make_picture("JPEG")] * 2
    assert drawn == [[1]]


@pytest.mark.django_db
def test_a_report_is_drawn_in_batches_but_for_what_is_kept(alice_tenant, drawn):
    job = make_parsing_job(user=make_user(tenant=alice_tenant), pages=8)
    load_or_render_page_jpeg(job=job, page=2)

    for _ in range(2):
        render_pages_of_report_in_review(tenant_pk=alice_tenant.pk, job_id=job.id)
    render_pages_of_report_in_review(tenant_pk=alice_tenant.pk, job_id=uuid4())

    assert drawn == [[2], [1, 3, 4, 5, 6, 7], [8], [3, 4, 5, 6, 7, 8]]
    assert len(stored_files()) == 1 + 2 * 2


@pytest.mark.django_db
def test_a_report_that_kills_its_child_is_left_undrawn(alice_tenant, monkeypatch):
    job = make_parsing_job(user=make_user(tenant=alice_tenant), pages=8)

    def die(*_paths, pages):
        raise UnreadableReport(FailureReason.PROCESSING_ERROR)

    monkeypatch.setattr(page_images, "render_report_pages", die)

    render_pages_of_report_in_review(tenant_pk=alice_tenant.pk, job_id=job.id)

    assert len(stored_files()) == 1


def test_a_picture_of_a_page_is_shown_as_it_is(tmp_path):
    path = tmp_path / "picture"
    path.write_bytes(make_picture("PNG", size=(30, 20)))

    shown = render_report_page_jpeg([path], 1)

    assert look_of(shown) == look_of(render_page_thumbnail(shown)) == ((30, 20), "JPEG")

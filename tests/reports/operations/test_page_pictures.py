"""Pages as pictures: drawn in the child, and nothing beyond the last page."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image

from portal.lib.errors import DomainError, NotFound
from reports.operations.page_pictures import page_picture
from reports.parser.showing import show_page
from tests.factories.reports import make_parsing_job, make_pdf, make_picture
from tests.factories.users import make_user


@pytest.mark.django_db
def test_a_page_is_drawn_in_the_frame_of_its_polygons(alice_tenant):
    user = make_user(tenant=alice_tenant)
    job = make_parsing_job(user=user, content=make_pdf(), pages=1)

    with Image.open(BytesIO(page_picture(job=job, page=1))) as picture:
        size, kind = picture.size, picture.format

    assert (size, kind) == ((1191, 1684), "JPEG")  # A4 at two pixels a point
    for page in (0, 2):
        with pytest.raises(NotFound) as unknown:
            page_picture(job=job, page=page)
        assert unknown.value.code == "page_unknown"
    broken = make_parsing_job(user=user, content=b"%PDF-1.7 no more", pages=1)
    with pytest.raises(DomainError) as refusal:
        page_picture(job=broken, page=1)
    assert refusal.value.code == "page_undrawable"


def test_a_picture_of_a_page_is_shown_as_it_is(tmp_path):
    path = tmp_path / "picture"
    path.write_bytes(make_picture("PNG", size=(30, 20)))

    with Image.open(BytesIO(show_page([path], 1))) as picture:
        assert picture.size == (30, 20)

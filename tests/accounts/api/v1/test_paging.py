from __future__ import annotations

from datetime import UTC, datetime

import pytest

from accounts.api.v1.paging import read_page_after_cursor
from accounts.models import Organisation
from portal.lib.api.errors import RequestInvalid
from portal.lib.api.pagination import encode_page_cursor

pytestmark = pytest.mark.django_db


def test_pages_follow_one_another_without_gap_or_repeat():
    at = datetime(2026, 2, 1, tzinfo=UTC)
    made = {Organisation.objects.create(name="A", created_at=at).pk for _ in range(5)}
    rows = Organisation.objects.all()

    first, second = read_page_after_cursor(rows, None, size=2), None
    second = read_page_after_cursor(rows, first[1], size=2)
    last = read_page_after_cursor(rows, second[1], size=2)

    pages = [first[0], second[0], last[0]]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert {row.pk for page in pages for row in page} == made
    assert last[1] is None


@pytest.mark.parametrize(
    "parts", [["2026-02-01", "x"], ["2026-02-01T00:00:00", "1" * 32], ["x", "y"]]
)
def test_what_no_answer_gave_is_no_cursor(parts):
    with pytest.raises(RequestInvalid):
        read_page_after_cursor(Organisation.objects.all(), encode_page_cursor(parts))

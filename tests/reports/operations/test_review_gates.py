"""What a review settles beside its rows."""

from __future__ import annotations

import pytest
from django.utils import timezone

from portal.lib.errors import Conflict, DomainError, NotFound
from reports.models import Review
from reports.operations.review_gates import (
    Notice,
    acknowledge_critical,
    decide_identity,
    keep_duplicate,
    show_page,
)
from reports.operations.review_saving import RowRef
from reports.parser.report import Interpretation
from tests.factories.reports import make_parsed, make_parsed_result, make_review
from tests.factories.users import make_user
from tests.reports.desk import NORA, ref_of, rows_of, working

pytestmark = pytest.mark.django_db


@pytest.fixture
def review(alice_tenant):
    report = make_parsed(
        results=(
            make_parsed_result(interpretation=Interpretation.CRITICAL),
            make_parsed_result(),
        )
    )
    user = make_user(tenant=alice_tenant)
    return make_review(user=user, report=report, claimed_by=NORA, pages=2)


def stored(review):
    return Review.objects.for_tenant(review.tenant).get(id=review.id)


def notice():
    return Notice(told="Dr. Example", at=timezone.now(), way="phone")


def test_pages_are_noted_once_each_in_order(review):
    for page in (2, 1, 2):
        show_page(**working(review), review_id=review.id, page=page)

    assert stored(review).pages_shown == [1, 2]


@pytest.mark.parametrize("page", [0, 3])
def test_a_page_the_report_lacks_is_refused(review, page):
    with pytest.raises(DomainError) as refusal:
        show_page(**working(review), review_id=review.id, page=page)

    assert refusal.value.code == "page_unknown"
    assert stored(review).pages_shown == []


@pytest.mark.parametrize("settle", [decide_identity, keep_duplicate])
def test_what_is_settled_says_why(review, settle):
    with pytest.raises(DomainError) as refusal:
        settle(**working(review), review_id=review.id, reason="  ")
    assert refusal.value.code == "reason_missing"
    assert (stored(review).identity_decided, stored(review).duplicate_decided) == (
        "",
        "",
    )

    settle(**working(review), review_id=review.id, reason=" asked by phone ")

    settled = stored(review)
    assert "asked by phone" in {settled.identity_decided, settled.duplicate_decided}


def test_a_critical_value_is_acknowledged_with_who_was_told(review):
    acknowledge_critical(**working(review), ref=ref_of(review), notice=notice())

    told = rows_of(review)[0].acknowledged
    assert (told["told"], told["way"]) == ("Dr. Example", "phone")


def test_only_a_critical_row_as_it_stands_is_acknowledged(review):
    for ref, error, code in (
        (ref_of(review, 1), DomainError, "not_critical"),
        (RowRef(review.id, 0, 9), Conflict, "row_changed"),
        (RowRef(review.id, 9, 1), NotFound, "row_not_found"),
    ):
        with pytest.raises(error) as refusal:
            acknowledge_critical(**working(review), ref=ref, notice=notice())
        assert refusal.value.code == code

    assert [row.acknowledged for row in rows_of(review)] == [None, None]

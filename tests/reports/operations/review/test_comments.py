"""Remarks stay as they were written."""

from __future__ import annotations

import pytest

from portal.lib.errors import DomainError
from reports.models import ReviewComment
from reports.operations.review.comments import add_review_comment
from tests.factories.reports import make_review
from tests.factories.users import make_user
from tests.reports.desk import NORA, tenant_and_actor


@pytest.mark.django_db
def test_a_remark_is_kept_of_a_row_or_of_the_whole_review(alice_tenant):
    review = make_review(user=make_user(tenant=alice_tenant), claimed_by=NORA)
    fields = {**tenant_and_actor(review), "review_id": review.id}

    add_review_comment(**fields, text=" smudged ", position=0)
    add_review_comment(**fields, text="call the lab")
    refusals = []
    for text, position in ((" ", None), ("where?", 7)):
        with pytest.raises(DomainError) as refusal:
            add_review_comment(**fields, text=text, position=position)
        refusals.append(refusal.value.code)

    assert refusals == ["reason_missing", "row_not_found"]
    kept = ReviewComment.objects.for_tenant(alice_tenant).order_by("id")
    assert [(one.text, one.position, one.actor_key) for one in kept] == [
        ("smudged", 0, NORA.key),
        ("call the lab", None, NORA.key),
    ]

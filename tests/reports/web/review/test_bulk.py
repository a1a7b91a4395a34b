from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from reports.models import Review
from reports.operations.review.reviews import LEASE, claim_review
from reports.queries.review_queue import find_next_review
from tests.audit import audited
from tests.factories.accounts import make_member
from tests.factories.reports import make_review
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db
QUEUE = "/t/alice-health/sandbox/reviews/"
PLAN = f"{QUEUE}selected/"


@pytest.fixture
def nora(alice_team):
    return make_member(
        team=alice_team, email="nora@assay.example", roles=(Role.CLINICIAN,)
    )


@pytest.fixture
def otto(alice_team):
    return make_member(
        team=alice_team, email="otto@assay.example", roles=(Role.CLINICIAN,)
    )


def web_of(member):
    web = Client()
    web.force_login(member)
    return web


def actor_of(member):
    return Actor(ActorKind.MEMBER, str(member.pk), member.email)


def holders(tenant):
    rows = Review.objects.for_tenant(tenant).order_by("created_at", "id")
    return [row.claimed_by_label for row in rows]


def test_reviews_are_claimed_together_and_returned_by_one_link(
    nora, otto, alice_tenant, charlie_tenant
):
    user = make_user(tenant=alice_tenant)
    free, held, other = (make_review(user=user) for _ in range(3))
    stranger = make_review(user=make_user(tenant=charlie_tenant))
    claim_review(tenant=alice_tenant, actor=actor_of(otto), review_id=held.pk)
    chosen = [str(one.pk) for one in (free, held, other, stranger)]
    web = web_of(nora)

    plan = web.get(PLAN, {"action": "claim", "review": chosen})

    assert {each.row.pk for each in plan.context["doing"]} == {free.pk, other.pk}
    assert [each.row.pk for each in plan.context["skipping"]] == [held.pk]
    assert holders(alice_tenant) == ["", otto.email, ""]
    assert audited(alice_tenant)[-1] == ("read", "review_queue", "selected=3")

    web.post(PLAN, {"action": "claim", "review": chosen})

    assert holders(alice_tenant) == [nora.email, otto.email, nora.email]
    assert holders(charlie_tenant) == [""]
    page = web.get(QUEUE).content.decode()
    undo = unescape(re.search(rf'href="({PLAN}[^"]+)"', page)[1])
    plan = web.get(undo)
    assert {each.row.pk for each in plan.context["doing"]} == {free.pk, other.pk}
    web.post(PLAN, {"action": "return", "review": chosen})
    assert holders(alice_tenant) == ["", otto.email, ""]


def test_assigned_reviews_are_the_reviewers_until_someone_claims_them(
    nora, otto, alice_tenant, alice_team
):
    user = make_user(tenant=alice_tenant)
    review = make_review(user=user)
    viewer = make_member(team=alice_team, roles=(Role.VIEWER,))
    sent = {"action": "assign", "review": [str(review.pk)]}
    web = web_of(nora)

    plan = web.get(PLAN, sent)
    for wrong in ({}, {"choice": str(viewer.pk)}, {"choice": "x"}):
        web.post(PLAN, {**sent, **wrong})

    names = {value for value, _name in plan.context["choices"]}
    assert {str(nora.pk), str(otto.pk)} <= names
    assert str(viewer.pk) not in names
    assert holders(alice_tenant) == [""]

    web.post(PLAN, {**sent, "choice": str(otto.pk)})

    assert holders(alice_tenant) == [otto.email]
    assert audited(alice_tenant)[-1][0] == "assign_review"
    listed = web_of(otto).get(QUEUE, {"tab": "mine"})
    assert [row.review.pk for row in listed.context["rows"]] == [review.pk]
    assert "Assigned" in listed.content.decode()
    assert find_next_review(tenant=alice_tenant, member=str(nora.pk)) is None
    mine = find_next_review(tenant=alice_tenant, member=str(otto.pk))
    assert mine == review
    claim_review(tenant=alice_tenant, actor=actor_of(otto), review_id=review.pk)
    review.refresh_from_db()
    assert review.claimed_until is not None
    assert review.claimed_until > timezone.now() + LEASE - timedelta(minutes=1)
    web.post(PLAN, {**sent, "choice": str(nora.pk)})
    assert holders(alice_tenant) == [otto.email]


def test_who_may_not_sign_changes_nothing(alice_team, alice_tenant):
    review = make_review(user=make_user(tenant=alice_tenant))
    viewer = web_of(make_member(team=alice_team, roles=(Role.VIEWER,)))
    before = audited(alice_tenant)

    sent = {"action": "claim", "review": [str(review.pk)]}

    assert viewer.post(PLAN, sent).status_code == 403
    assert holders(alice_tenant) == [""]
    assert audited(alice_tenant) == before

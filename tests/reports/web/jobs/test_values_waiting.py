"""A user's results say how many values wait in reports that nobody has signed."""

from __future__ import annotations

import pytest

from accounts.models import Membership
from accounts.states import Role
from tests.factories.reports import make_parsed, make_parsed_result, make_review
from tests.factories.users import make_user
from tests.reports.desk import NORA, decide_all, sign

pytestmark = pytest.mark.django_db
HEADER = {"lab_name": "Example Laboratory", "date_collected": "2026-03-02"}
TEAM = "/t/alice-health/sandbox"


def test_unsigned_values_are_counted_until_their_report_is_signed(
    alice, alice_web, alice_tenant, charlie_tenant
):
    user = make_user(tenant=alice_tenant)
    two = (
        make_parsed_result(),
        make_parsed_result(test_name="Odd", loinc_matches=(), value="1"),
    )
    review = make_review(
        user=user, report=make_parsed(results=two), claimed_by=NORA, metadata=HEADER
    )
    reports = f'href="{TEAM}/users/{user.uuid}/reports/"'

    def look():
        page = alice_web.get(f"{TEAM}/users/{user.uuid}/results/")
        notes = page.content.decode().partition('id="user-results"')[2]
        return page.context["unsigned"], notes.count(reports)

    assert look() == (2, 1)
    record = alice_web.get(f"{TEAM}/users/{user.uuid}/")
    assert [(tile.number, tile.status) for tile in record.context["attention"]] == [
        ("2", "pending_review")
    ]
    Membership.objects.filter(member=alice).update(roles=[Role.DEVELOPER])
    assert look() == (0, 0)
    Membership.objects.filter(member=alice).update(roles=[Role.OWNER])
    decide_all(review)
    sign(review)
    # Those of others count for nothing.
    one = make_parsed(results=two[:1])
    make_review(user=make_user(tenant=alice_tenant), report=one, metadata={})
    make_review(user=make_user(tenant=charlie_tenant), report=one, metadata={})
    assert look() == (0, 0)

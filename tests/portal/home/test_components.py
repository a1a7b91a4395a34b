from __future__ import annotations

import pytest

from portal.ui.pills import PILLS

PAGE = "/t/alice-health/sandbox/components/"


@pytest.mark.django_db
def test_an_operator_sees_every_part(alice, alice_tenant, alice_web):
    alice.is_staff = True
    alice.save(update_fields=["is_staff"])

    reply = alice_web.get(PAGE)

    assert reply.status_code == 200
    assert reply.context["statuses"] == [*PILLS, "awaiting_partner_hold"]


@pytest.mark.django_db
def test_a_member_who_is_no_operator_finds_nothing(alice_tenant, alice_web):
    assert alice_web.get(PAGE).status_code == 404


@pytest.mark.django_db
def test_an_operator_of_no_such_team_finds_nothing(alice_tenant, charlie, charlie_web):
    charlie.is_staff = True
    charlie.save(update_fields=["is_staff"])

    assert charlie_web.get(PAGE).status_code == 404

"""Three walks to what members open a person for, each with its number of actions.

An action is a link or button pressed. Without script, so that nothing depends on it.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts.operations.audit.entries import record_read
from portal.lib.actor import Actor, ActorKind
from tests.factories.accounts import ACTOR, make_member
from tests.factories.reports import make_parsed, make_parsed_result, make_parsing_job
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.users import make_user
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.sources import connect_source
from users.states import ConnectionFault

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class Walk:
    """A walk through pages, counted."""

    def __init__(self, page):
        self.page = page
        self.actions = 0

    def press(self, role, name):
        self.page.get_by_role(role, name=name, exact=True).first.click()
        self.actions += 1

    def open_user(self):
        self.page.goto("/")
        self.press("link", "Users")
        self.press("link", "mbr_007")


@pytest.fixture
def user(alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="mbr_007")
    oura = connect_source(user=user, actor=ACTOR, provider="oura")
    mark_connection_failed(
        connection=oura, actor=ACTOR, fault=ConnectionFault.TOKEN_REFRESH_FAILED
    )
    order = make_order_awaiting_results(tenant=alice_tenant, user=user)
    make_results(
        order=order,
        results=(make_reported_result("Potassium", "7.1", interpretation="critical"),),
        collected_at=timezone.now() - timedelta(days=3),
    )
    make_parsing_job(
        user=user,
        status="pending_review",
        report=make_parsed(results=(make_parsed_result(),)),
    )
    return user


def test_a_person_is_understood_in_few_actions(
    visit, alice, alice_team, alice_tenant, user
):
    other = make_member(team=alice_team, email="noor@assay.example")
    record_read(
        tenant=alice_tenant,
        actor=Actor(ActorKind.MEMBER, str(other.pk), other.email),
        subject="result_trends",
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )
    with visit.page(member=alice, scripts=False) as page:
        # Why is this user silent? Two when only the user's page said it, as it still
        # does, with since when.
        walk = Walk(page)
        page.goto("/")
        walk.press("link", "Users")
        row = page.get_by_role("row").filter(has_text="mbr_007")
        expect(row).to_contain_text(
            "Oura: The source no longer accepts the user's permission."
        )
        assert walk.actions == 1
        walk.press("link", "mbr_007")
        needs = page.get_by_role("region", name="Needs attention")
        expect(needs).to_contain_text("Oura")
        expect(needs).to_contain_text("since")

        # A look before a call: results, orders and reports. Five when each had a tab.
        walk = Walk(page)
        walk.open_user()
        expect(needs).to_contain_text("Potassium")
        expect(needs).to_contain_text("7.1")
        expect(needs).to_contain_text("Pending review")
        feed = page.locator("#feed")
        expect(feed).to_contain_text("Potassium 7.1 mg/dL, critical")
        expect(feed).to_contain_text("Oura stopped")
        assert walk.actions == 2

        # Who saw this person? Three when only the access log said it.
        walk = Walk(page)
        walk.open_user()
        readers = page.get_by_role("region", name="Read by")
        expect(readers).to_contain_text(other.email)
        assert walk.actions == 2
        readers.get_by_role("link", name="Access log").click()
        expect(page.get_by_role("main")).to_contain_text(other.email)

from __future__ import annotations

import pytest
from django.test import Client

from accounts.states import Role
from labs.models import PatientNotice, TextProvider
from labs.operations.order_status.status import advance_order
from labs.operations.orders.requisitions import create_requisition
from tests.clients import confirm
from tests.factories.accounts import ACTOR, make_member
from tests.factories.labs import make_lab_test, make_order
from tests.factories.texts import make_text_provider
from tests.labs.gateways.twilio_server import NUMBER, SID, TOKEN

pytestmark = pytest.mark.django_db
PLACE = "/t/alice-health/sandbox/settings/texts/"
GIVEN = {"account_sid": SID, "auth_token": TOKEN, "sender": NUMBER}


def stored(tenant):
    return TextProvider.objects.for_tenant(tenant).first()


def test_an_account_is_entered_checked_rotated_and_removed(
    alice_web, alice_tenant, twilio_server
):
    confirm(alice_web)
    empty = alice_web.get(PLACE).content.decode()
    saved = alice_web.post(f"{PLACE}save/", GIVEN, follow=True)
    page = saved.content.decode()
    checked = alice_web.post(f"{PLACE}check/", follow=True)
    alice_web.post(
        f"{PLACE}save/", {**GIVEN, "auth_token": "", "sender": "+15555550199"}
    )
    changed = stored(alice_tenant)
    asked = alice_web.get(f"{PLACE}remove/")
    removed = alice_web.post(f"{PLACE}remove/", follow=True)

    assert "No account is set up. Texts are logged, not sent." in empty
    assert "Account checked and saved." in page
    assert SID in page
    assert TOKEN not in page
    assert "The account answered. No text was sent." in checked.content.decode()
    assert changed.sender == "+15555550199"
    assert "Remove the text account?" in asked.content.decode()
    assert "Account removed." in removed.content.decode()
    assert (stored(alice_tenant), twilio_server.sent) == (None, [])
    assert twilio_server.looked_up == 3


def test_what_twilio_refuses_stays_in_the_form_without_its_token(
    alice_web, alice_tenant, twilio_server
):
    confirm(alice_web)

    reply = alice_web.post(f"{PLACE}save/", {**GIVEN, "auth_token": "not-the-token"})

    assert reply.status_code == 422
    assert reply.context["form"].errors == {
        "auth_token": [
            "Twilio did not accept this account SID and auth token."
            " Nothing was changed."
        ]
    }
    assert "not-the-token" not in reply.content.decode()
    assert stored(alice_tenant) is None


def test_a_provider_that_does_not_answer_is_said_above_the_form(
    alice_web, alice_tenant, twilio_server
):
    confirm(alice_web)
    twilio_server.faults = [(503, b"", {})]

    reply = alice_web.post(f"{PLACE}save/", GIVEN)

    words = "Twilio did not answer. Try again in a minute. Nothing was changed."
    assert (reply.status_code, stored(alice_tenant)) == (422, None)
    assert words in reply.content.decode()


@pytest.mark.parametrize("role", [Role.CLINICIAN, Role.LAB_STAFF, Role.VIEWER])
def test_who_may_not_change_the_team_sees_the_page_and_changes_nothing(
    alice_team, alice_tenant, twilio_server, role
):
    make_text_provider(tenant=alice_tenant)
    client = Client()
    client.force_login(make_member(team=alice_team, roles=(role,)))
    confirm(client)

    replies = [
        client.post(f"{PLACE}save/", {**GIVEN, "sender": "+15555550199"}),
        client.post(f"{PLACE}check/"),
        client.post(f"{PLACE}remove/"),
    ]

    assert client.get(PLACE).status_code == 200
    assert [reply.status_code for reply in replies] == [403, 403, 403]
    assert stored(alice_tenant).sender == NUMBER
    assert twilio_server.looked_up == 0


def test_identity_is_confirmed_before_the_account_changes(
    alice_web, alice_tenant, twilio_server
):
    replies = [
        alice_web.post(f"{PLACE}save/", GIVEN),
        alice_web.get(f"{PLACE}remove/"),
    ]

    places = {reply["Location"].partition("?")[0] for reply in replies}
    assert places == {"/accounts/confirm/"}
    assert stored(alice_tenant) is None


def test_the_order_page_says_to_whom_what_went_and_what_came_back(
    alice_web, alice_tenant
):
    panel = make_lab_test(tenant=alice_tenant, method="testkit")
    order = make_order(tenant=alice_tenant, lab_test=panel)
    create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=order.pk)
    order.refresh_from_db()
    order.tenant = alice_tenant
    advance_order(order=order, actor=ACTOR, to="transit_customer")
    PatientNotice.objects.for_tenant(alice_tenant).filter(channel="sms").update(
        status="undelivered", error_code="30006", recipient="•••0123"
    )

    page = alice_web.get(f"/t/alice-health/sandbox/orders/{order.pk}/")

    words = " ".join(page.content.decode().split())
    assert "SMS to •••0123: not delivered, error 30006" in words

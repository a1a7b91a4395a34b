from __future__ import annotations

import re
import time

import pytest
from allauth.account.internal.flows.login import (
    _AUTHENTICATION_METHODS_USER_SESSION_KEY as OF_MEMBER,
)
from allauth.account.internal.flows.login import (
    AUTHENTICATION_METHODS_SESSION_KEY as FACTORS,
)
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core import mail
from django.test import Client
from playwright.sync_api import expect

from accounts.states import Role
from labs.models import Appointment
from labs.operations.appointments.booking import BookingRequest, book_appointment
from labs.operations.appointments.site_confirmation import mail_visit_to_site
from tests.browser.conftest import complaints
from tests.factories.accounts import ACTOR, make_member
from tests.factories.appointments import free_slots, make_bookable_order, make_center
from tests.factories.labs import make_lab_test, make_order
from tests.factories.physicians import make_signature, require_approval
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def signed_in(member):
    TOTP.activate(member, generate_totp_secret())
    client = Client()
    client.force_login(member)
    session = client.session
    session[FACTORS] = [{"method": "mfa", "at": time.time(), "type": "totp"}]
    session[OF_MEMBER] = str(member.pk)
    session.save()
    return client


def test_a_physician_enters_a_profile_and_decides_on_orders(
    visit, alice_team, alice_tenant
):
    vera = make_member(
        team=alice_team, email="vera@alice.example", roles=(Role.PHYSICIAN,)
    )
    with visit.page(client=signed_in(vera)) as page:
        page.goto("/t/alice-health/sandbox/approvals/")
        expect(page.get_by_text("Complete your profile")).to_be_visible()
        assert complaints(page) == []
        page.get_by_role("link", name="Your profile").click()
        page.get_by_label("First name").fill("Vera")
        page.get_by_label("Last name").fill("Example")
        page.get_by_label("NPI").fill("1234567890")
        page.get_by_label("Licensed in").fill("AZ, NM")
        page.get_by_label("Signature").set_input_files(
            {"name": "ink.png", "mimeType": "image/png", "buffer": make_signature()}
        )
        page.get_by_role("button", name="Save profile").click()
        expect(page.get_by_text("its check digit is wrong")).to_be_visible()
        assert complaints(page) == []
        page.get_by_label("NPI").fill("1234567893")
        page.get_by_label("Signature").set_input_files(
            {"name": "ink.png", "mimeType": "image/png", "buffer": make_signature()}
        )
        page.get_by_role("button", name="Save profile").click()
        expect(page.get_by_text("Profile saved.", exact=True)).to_be_visible()
        page.goto("/t/alice-health/sandbox/physicians/profile/")
        expect(page.get_by_role("img", name="Stored signature")).to_be_visible()
        assert complaints(page) == []
        page.goto("/t/alice-health/sandbox/physicians/")
        expect(page.get_by_role("cell", name="Vera Example")).to_be_visible()
        assert complaints(page) == []

        require_approval(alice_tenant)
        panel = make_lab_test(tenant=alice_tenant, name="Lipids and A1c")
        orders = [
            make_order(
                tenant=alice_tenant,
                lab_test=panel,
                user=make_user(tenant=alice_tenant, client_user_id=f"mbr_{number}"),
                icd_codes=("E11.9",),
                priority=number == 2,
                comments="Fasting since yesterday evening",
            )
            for number in range(3)
        ]
        page.goto("/t/alice-health/sandbox/approvals/")
        expect(page.locator("tbody tr")).to_have_count(3)
        assert complaints(page) == []
        for order in orders:
            page.get_by_label(f"Choose order {str(order.pk)[:8]}").check()
        page.get_by_role("button", name="Review chosen orders").click()
        expect(page.get_by_text("Ada Example")).to_have_count(3)
        assert complaints(page) == []
        last = f"Decide on order {str(orders[2].pk)[:8]}"
        page.get_by_label(last).uncheck()
        page.get_by_role("button", name="Approve orders").click()
        expect(page.get_by_text("2 orders approved.", exact=True)).to_be_visible()

        page.get_by_label(f"Choose order {str(orders[2].pk)[:8]}").check()
        page.get_by_role("button", name="Review chosen orders").click()
        page.get_by_role("button", name="Refuse orders").click()
        expect(page.get_by_text("Enter the reason.").first).to_be_visible()
        assert complaints(page) == []
        page.get_by_label("Reason for refusal").fill("Same tests last week")
        page.get_by_role("button", name="Refuse orders").click()
        expect(page.get_by_text("1 order refused.", exact=True)).to_be_visible()
        expect(page.get_by_text("Same tests last week")).to_be_visible()
        assert complaints(page) == []

    for order in orders:
        order.refresh_from_db()
    assert [one.status_parts.low for one in orders] == ["ordered"] * 2 + ["cancelled"]
    assert [one.physician and one.physician["npi"] for one in orders] == [
        *("1234567893", "1234567893"),
        None,
    ]


def test_a_site_confirms_a_mailed_visit_and_staff_another(
    visit, alice, alice_production
):
    by_mail = make_center(
        tenant=alice_production, confirmed_by="mail", email="desk@site.example"
    )
    by_staff = make_center(tenant=alice_production, confirmed_by="staff")
    mailed, asked = (
        book_appointment(
            order=make_bookable_order(tenant=alice_production),
            actor=ACTOR,
            request=BookingRequest(
                booking_key=free_slots(alice_production, center)[-1].booking_key
            ),
        )
        for center in (by_mail, by_staff)
    )
    mail.outbox.clear()
    mail_visit_to_site(tenant=alice_production, appointment_id=mailed.pk)
    [link] = re.findall(r"https?://\S+", mail.outbox[0].body)
    path = "/" + link.split("/", 3)[3]

    with visit.page() as page:
        page.goto(path)
        expect(page.get_by_role("heading", name="Confirm a visit")).to_be_visible()
        assert complaints(page) == []
        mailed.refresh_from_db()
        assert mailed.status == "pending"
        page.get_by_role("button", name="Confirm visit").click()
        expect(page.get_by_role("heading", name="Visit confirmed")).to_be_visible()
        assert complaints(page) == []
    visit.expected.append("the server responded with a status of 410")
    with visit.page() as page:
        page.goto(path)
        expect(page.get_by_role("heading", name="link has ended")).to_be_visible()
        assert complaints(page) == []

    with visit.page(member=alice) as page:
        page.goto(f"/t/alice-health/production/orders/{asked.order_id}/")
        expect(page.get_by_text("Ask the site, and record")).to_be_visible()
        assert complaints(page) == []
        page.get_by_role("link", name="Record confirmation").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Confirmed by").fill("Front desk")
        assert complaints(page, "#d-form") == []
        dialog.get_by_role("button", name="Confirm visit").click()
        expect(page.get_by_text("Visit confirmed.", exact=True)).to_be_visible()

    visits = Appointment.objects.for_tenant(alice_production)
    assert [one.status for one in visits] == ["confirmed", "confirmed"]

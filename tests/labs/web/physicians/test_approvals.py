from __future__ import annotations

import time

import pytest
from allauth.account.internal.flows.login import (
    _AUTHENTICATION_METHODS_USER_SESSION_KEY as OF_MEMBER,
)
from allauth.account.internal.flows.login import (
    AUTHENTICATION_METHODS_SESSION_KEY as FACTORS,
)
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.test import Client
from django.urls import reverse

from accounts.states import Role
from labs.models import OrderApproval, Physician
from tests.audit import audited
from tests.factories.accounts import make_member
from tests.factories.labs import make_order
from tests.factories.physicians import make_physician, make_signature, require_approval

pytestmark = pytest.mark.django_db


def place(tenant, name, **ids):
    team = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(f"labs:{name}", kwargs={**team, **ids})


def sign_in(member, *, with_factor=True):
    client = Client()
    client.force_login(member)
    if with_factor:
        TOTP.activate(member, generate_totp_secret())
        session = client.session
        session[FACTORS] = [{"method": "mfa", "at": time.time(), "type": "totp"}]
        session[OF_MEMBER] = str(member.pk)
        session.save()
    return client


@pytest.fixture
def vera(alice_tenant):
    require_approval(alice_tenant)
    return make_physician(tenant=alice_tenant)


@pytest.fixture
def order(alice_tenant, vera):
    return make_order(tenant=alice_tenant, comments="Please hurry")


def tokens(page):
    return [row.token for row in page.context["rows"]]


def decide(client, tenant, page, decision, **fields):
    return client.post(
        place(tenant, "decide_approvals"),
        {"seen": tokens(page), "decision": decision, **fields},
    )


def status_of(order):
    return OrderApproval.objects.for_tenant(order.tenant).get(order=order).status


def test_a_physician_chooses_looks_and_approves_many(alice_tenant, vera, order):
    second = make_order(tenant=alice_tenant)
    client = sign_in(vera.member)

    queue = client.get(place(alice_tenant, "approvals"))
    ids = [str(row.order_id) for row in queue.context["waiting"]]
    page = client.get(place(alice_tenant, "review_approvals"), {"order": ids})
    done = decide(client, alice_tenant, page, "approve")

    assert ids == [str(order.pk), str(second.pk)]
    text = page.content.decode()
    assert "Ada Example" in text
    assert "Please hurry" in text
    assert "Ada" not in queue.content.decode()
    assert ("read", "order_approval", str(order.pk)) in audited(alice_tenant)
    assert done["Location"] == place(alice_tenant, "approvals")
    assert (status_of(order), status_of(second)) == ("approved", "approved")
    after = client.get(place(alice_tenant, "approvals")).context
    assert after["waiting"] == []
    assert [row.physician for row in after["decided"]] == [vera, vera]


def test_a_refusal_without_reason_stays_on_the_page(alice_tenant, vera, order):
    client = sign_in(vera.member)
    page = client.get(place(alice_tenant, "review_approvals"), {"order": order.pk})

    bare = decide(client, alice_tenant, page, "refuse", order=str(order.pk))
    nothing = client.post(
        place(alice_tenant, "decide_approvals"), {"order": str(order.pk)}
    )
    assert (bare.status_code, nothing.status_code) == (422, 422)
    assert "Enter the reason." in bare.content.decode()
    assert status_of(order) == "waiting"

    decide(client, alice_tenant, page, "refuse", reason="Done last week")
    order.refresh_from_db()
    assert order.status == "cancelled.walk_in_test.cancelled"


def test_without_a_second_factor_nobody_looks_or_decides(alice_tenant, vera, order):
    client = sign_in(vera.member, with_factor=False)
    token = f"{order.pk}|{order.updated_at.isoformat()}"

    looked = client.get(place(alice_tenant, "review_approvals"), {"order": order.pk})
    decided = client.post(
        place(alice_tenant, "decide_approvals"), {"seen": token, "decision": "approve"}
    )
    profile = client.get(place(alice_tenant, "physician_profile"))

    for reply in (looked, decided, profile):
        assert reply["Location"].startswith("/accounts/second-factor/?next=")
    assert status_of(order) == "waiting"


@pytest.mark.parametrize("role", [Role.OWNER, Role.LAB_STAFF])
def test_who_only_reads_sees_the_queue_without_choices(
    alice_team, alice_tenant, order, role
):
    client = sign_in(make_member(team=alice_team, roles=(role,), email="o@a.example"))

    page = client.get(place(alice_tenant, "approvals"))

    assert [row.order_id for row in page.context["waiting"]] == [order.pk]
    assert b'name="order"' not in page.content
    assert client.post(place(alice_tenant, "decide_approvals")).status_code == 403


def test_another_teams_physician_reaches_nothing(alice_tenant, charlie_tenant, order):
    stranger = make_physician(tenant=charlie_tenant, npi="1245319599")
    client = sign_in(stranger.member)
    token = f"{order.pk}|{order.updated_at.isoformat()}"

    outside = client.get(place(alice_tenant, "approvals")).status_code
    client.post(
        place(charlie_tenant, "decide_approvals"),
        {"seen": token, "decision": "approve"},
    )

    assert outside == 404
    assert status_of(order) == "waiting"


def test_a_profile_is_entered_and_its_faults_stand_at_their_fields(
    alice_team, alice_tenant
):
    member = make_member(team=alice_team, roles=(Role.PHYSICIAN,), email="n@a.example")
    client = sign_in(member)
    address = place(alice_tenant, "physician_profile")
    fields = {
        "first_name": "Nora",
        "last_name": "Example",
        "npi": "1234567890",
        "licensed_states": "az, XX",
    }

    wrong = client.post(address, fields)
    wrong_npi = client.post(address, {**fields, "licensed_states": "az, nm"})
    with_ink = {
        **fields,
        "npi": "1234567893",
        "licensed_states": "az NM",
        "signature": _upload(make_signature()),
    }
    right = client.post(address, with_ink)

    assert set(wrong.context["form"].errors) == {"licensed_states"}
    assert set(wrong_npi.context["form"].errors) == {"npi"}
    assert right["Location"] == place(alice_tenant, "approvals")
    stored = Physician.objects.for_tenant(alice_tenant).get()
    assert (stored.licensed_states, bool(stored.signature)) == (["AZ", "NM"], True)
    shown = client.get(place(alice_tenant, "physicians")).content.decode()
    assert "Nora Example" in shown


def _upload(content):
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile("ink.png", content, "image/png")

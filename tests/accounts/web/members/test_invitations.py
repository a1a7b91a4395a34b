from __future__ import annotations

import re
from http import HTTPStatus
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.test import Client

from accounts.models import AuditEntry, Invitation, Member, Membership
from accounts.operations.members.invitations import (
    build_mailed_invitation_link,
    find_invitation,
    invite_member,
    revoke_invitation,
)
from accounts.states import Role
from tests.factories.accounts import ACTOR, PASSWORD, make_member

MEMBERS = "/t/alice-health/sandbox/members/"
INVITE = f"{MEMBERS}invite/"
PAGE = "/invitation/"
EMAIL = "dana@assay.example"
DETAILS = {"name": "Dana Reyes", "password": PASSWORD}

pytestmark = pytest.mark.django_db


@pytest.fixture
def invited(alice, alice_team):
    """An open invitation of Dana and its token."""
    return invite_member(
        team=alice_team, actor=ACTOR, email=EMAIL, roles=[Role.CLINICIAN]
    )


@pytest.fixture
def newcomer(invited):
    """A browser that has opened the link."""
    client = Client()
    client.get(urlsplit(build_mailed_invitation_link(invited[1])).path)
    return client


def link_in(text):
    return text.partition(PAGE)[2].partition("/")[0]


def written():
    return (
        sorted(map(str, Invitation.objects.values())),
        Membership.objects.count(),
        Member.objects.count(),
        AuditEntry.unscoped.count(),
    )


def test_an_owner_invites_by_mail_and_sees_the_link_once(alice_web):
    reply = alice_web.post(INVITE, {"email": EMAIL, "roles": ["clinician", "viewer"]})

    shown = link_in(reply.context["link"])
    invitation = Invitation.objects.get()
    assert reply.status_code == HTTPStatus.OK
    assert "no-store" in reply["Cache-Control"]
    assert shown in reply.content.decode()
    assert shown == link_in(mail.outbox[0].body)
    assert find_invitation(shown) == invitation
    assert invitation.roles == ["clinician", "viewer"]
    assert shown not in alice_web.get(MEMBERS).content.decode()


def test_in_the_dialog_the_page_behind_shows_the_link(alice_web):
    reply = alice_web.post(
        INVITE,
        {"email": EMAIL, "roles": ["viewer"]},
        headers={"HX-Request": "true"},
    )

    assert (reply["HX-Retarget"], reply["HX-Push-Url"]) == ("#content", MEMBERS)
    assert reply.context["is_mailed"] is True


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"email": "dana", "roles": ["viewer"]}, "email"),
        ({"email": EMAIL}, "roles"),
        ({"email": "alice@assay.example", "roles": ["viewer"]}, "email"),
    ],
)
def test_a_refused_invitation_stays_in_the_form(alice_web, given, field):
    before = written()

    reply = alice_web.post(INVITE, given)

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["form"].errors) == [field]
    assert written() == before
    assert mail.outbox == []


@pytest.mark.parametrize(
    ("role", "wanted", "status"),
    [
        (Role.ADMIN, "viewer", 200),
        (Role.ADMIN, "owner", 422),
        (Role.CLINICIAN, "viewer", 403),
        (Role.LAB_STAFF, "viewer", 403),
        (Role.DEVELOPER, "viewer", 403),
        (Role.VIEWER, "viewer", 403),
    ],
)
def test_who_may_invite_with_what(client, alice_team, role, wanted, status):
    client.force_login(make_member(team=alice_team, roles=(role,)))
    before = written()

    reply = client.post(INVITE, {"email": EMAIL, "roles": [wanted]})

    assert reply.status_code == status
    if status != 200:
        assert written() == before
        assert mail.outbox == []


def test_sending_again_shows_a_new_link_and_ends_the_old_one(alice_web, invited):
    invitation, old = invited

    reply = alice_web.post(f"{MEMBERS[:-8]}invitations/{invitation.pk}/resend/")

    new = link_in(reply.context["link"])
    assert find_invitation(old) is None
    assert find_invitation(new) == invitation
    assert link_in(mail.outbox[0].body) == new


def test_withdrawing_is_asked_first(alice_web, invited):
    invitation, token = invited
    page = f"{MEMBERS[:-8]}invitations/{invitation.pk}/withdraw/"

    asked = alice_web.get(page).status_code
    open_still = find_invitation(token)
    reply = alice_web.post(page)

    assert (asked, open_still) == (200, invitation)
    assert reply["Location"] == MEMBERS
    assert find_invitation(token) is None
    assert alice_web.post(page).status_code == HTTPStatus.NOT_FOUND


def test_the_link_leaves_no_token_in_an_address(client, invited):
    _, token = invited

    reply = client.get(f"{PAGE}{token}/")

    cookie = reply.cookies["invitation"]
    assert (reply.status_code, reply["Location"]) == (HTTPStatus.FOUND, PAGE)
    assert (cookie.value, cookie["path"], cookie["httponly"]) == (token, PAGE, True)
    assert reply["Referrer-Policy"] == "no-referrer"


def test_the_roles_are_shown_before_they_are_accepted(newcomer):
    before = written()

    page = newcomer.get(PAGE)

    text = page.content.decode()
    assert "Join Alice Health" in text
    assert "Clinician" in text
    assert (
        "Review and sign reports, acknowledge results" in page.context["rights"].change
    )
    assert "no-store" in page["Cache-Control"]
    assert written() == before


def test_a_newcomer_joins_and_is_signed_in(newcomer):
    reply = newcomer.post(PAGE, DETAILS)

    assert mail.outbox == []
    member = Member.objects.get(email=EMAIL)
    assert reply["Location"] == "/t/alice-health/sandbox/"
    assert reply.cookies["invitation"].value == ""
    assert newcomer.get(MEMBERS).status_code == HTTPStatus.OK
    assert member.name == "Dana Reyes"
    assert Membership.objects.get(member=member).roles == ["clinician"]


@pytest.mark.parametrize("proof", ["", f"{'0' * 64}/"], ids=["shown", "made up"])
def test_who_has_not_the_mailed_link_confirms_the_address_first(invited, proof):
    client = Client()
    client.get(f"{PAGE}{invited[1]}/{proof}")

    client.post(PAGE, DETAILS)
    shut = client.get(MEMBERS)
    link = re.search(r"https?://[^/]+(/accounts/address/\S+)", mail.outbox[0].body)[1]
    stranger = Client()
    stranger.force_login(make_member())
    stolen = stranger.post(link)
    client.get(link)
    still = client.get(MEMBERS)
    client.post(link)

    assert shut["Location"] == still["Location"] == "/accounts/address/"
    assert mail.outbox[0].to == [EMAIL]
    assert stolen.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert client.get(MEMBERS).status_code == HTTPStatus.OK


def test_where_no_mail_is_sent_the_inviter_s_link_shows_the_address(
    settings, alice_web, client
):
    settings.EMAIL_URL = ""

    reply = alice_web.post(INVITE, {"email": EMAIL, "roles": ["viewer"]})
    client.get(urlsplit(reply.context["link"]).path)
    client.post(PAGE, DETAILS)

    assert reply.context["sends_mail"] is False
    assert Member.objects.get(email=EMAIL).email_confirmed_at is not None
    assert client.get(MEMBERS).status_code == HTTPStatus.OK


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"name": " "}, "name"), ({"password": "short"}, "password")],
)
def test_a_newcomer_who_is_refused_has_no_account(newcomer, changes, field):
    before = written()

    reply = newcomer.post(PAGE, {**DETAILS, **changes})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["form"].errors) == [field]
    assert written() == before


def test_a_link_works_once(newcomer, invited):
    newcomer.post(PAGE, DETAILS)
    before = written()

    second = Client()
    reply = second.get(f"{PAGE}{invited[1]}/", follow=True)
    again = second.post(PAGE, {**DETAILS, "name": "Eve"})

    assert (reply.status_code, again.status_code) == (404, 404)
    assert written() == before


@pytest.mark.parametrize("token", ["nonsense", "x" * 43, "x" * 10_000, "ключ" * 11])
def test_a_made_up_link_is_dead(client, token):
    reply = client.get(f"{PAGE}{token}/", follow=True)

    assert reply.status_code == HTTPStatus.NOT_FOUND


def test_without_a_link_there_is_nothing_to_accept(client):
    client.cookies["invitation"] = "nonsense"

    assert client.get(PAGE).status_code == HTTPStatus.NOT_FOUND


def test_a_withdrawn_link_is_dead_even_where_the_page_is_open(newcomer, invited):
    revoke_invitation(invitation=invited[0], actor=ACTOR)
    before = written()

    assert newcomer.post(PAGE, DETAILS).status_code == HTTPStatus.NOT_FOUND
    assert written() == before


def test_who_has_an_account_is_sent_to_sign_in_first(newcomer):
    make_member(email=EMAIL)
    before = written()

    page = newcomer.get(PAGE)
    newcomer.post(PAGE, DETAILS)

    assert page.context["way"] == "sign_in"
    assert written() == before


def test_who_has_an_account_signs_in_and_joins(newcomer):
    member = make_member(email=EMAIL)
    signed_in = newcomer.post(
        f"/accounts/login/?next={PAGE}", {"login": EMAIL, "password": PASSWORD}
    )

    asked = newcomer.get(PAGE)
    reply = newcomer.post(PAGE)

    assert signed_in["Location"] == PAGE
    assert asked.context["way"] == "join"
    assert reply["Location"] == "/t/alice-health/sandbox/"
    assert Membership.objects.get(member=member).roles == ["clinician"]


def test_another_member_can_not_take_the_invitation(newcomer, charlie):
    newcomer.force_login(charlie)
    before = written()

    page = newcomer.get(PAGE)
    newcomer.post(PAGE, DETAILS)

    assert page.context["way"] == "sign_out"
    assert written() == before


def test_joining_twice_says_so(newcomer, alice_team):
    member = make_member(team=alice_team, email=EMAIL)
    newcomer.force_login(member)
    before = written()

    reply = newcomer.post(PAGE)

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert written() == before

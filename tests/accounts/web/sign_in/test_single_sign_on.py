from __future__ import annotations

import time
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts.gateways.openid_http import EXCHANGE_S
from accounts.models import AuditEntry, Member, Membership, SingleSignOnIdentity
from accounts.operations.members.invitations import invite_member
from accounts.states import Role
from accounts.web.sign_in.proofs import PROOF_TTL
from portal.lib.network import outgoing
from tests.clients import confirm
from tests.factories.accounts import ACTOR, PASSWORD, make_member
from tests.factories.openid import CLIENT_ID, make_single_sign_on, serve_openid
from tests.factories.passkeys import Device

DOOR = "/accounts/single-sign-on/alice-health/"
HOME = "/t/alice-health/sandbox/"
MEMBERS = f"{HOME}members/"
DANA = "dana@north.example"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_counts(settings):
    settings.SINGLE_SIGN_ON_LOCAL_HOSTS = ["127.0.0.1"]
    cache.clear()


@pytest.fixture(scope="module")
def served():
    with serve_openid() as provider:
        yield provider


@pytest.fixture
def provider(served):
    """One that does all as it should, whatever the test before had it do."""
    issuer, key = served.issuer, served.own_key
    served.__init__()
    served.issuer, served.key, served.own_key = issuer, key, key
    return served


@pytest.fixture
def door(alice_team, provider):
    return make_single_sign_on(
        team=alice_team, issuer=provider.issuer, roles=(Role.VIEWER,)
    )


class Clock:
    """In place of `time`: the seconds that a provider made us wait go by at once."""

    def __init__(self, waited):
        self.waited = waited

    def monotonic(self):
        return time.monotonic() + sum(self.waited)


def sent_to_provider(client, onward="", **more):
    shown = parse_qs(urlsplit(client.get(DOOR).context["go_url"]).query)
    agreed = {"agreed": shown["agreed"][0]} if "agreed" in shown else {}
    reply = client.get(f"{DOOR}go/", {"next": onward, **more, **agreed})
    assert reply.status_code == HTTPStatus.FOUND
    return reply["Location"]


def come_by(provider, client=None, **more):
    """Go to the provider and come back: the client and the answer it got."""
    client = client or Client()
    back = provider.sign_in(sent_to_provider(client, **more))
    return client, client.get(urlsplit(back).path, parse_qs(urlsplit(back).query))


def is_signed_in(client):
    return "_auth_user_id" in client.session


def written():
    return (
        sorted(Membership.objects.values_list("pk", "roles")),
        Member.objects.count(),
        SingleSignOnIdentity.objects.count(),
        AuditEntry.unscoped.count(),
    )


def test_whom_the_provider_vouches_for_joins_and_comes_in(provider, door, alice_team):
    client, reply = come_by(provider, onward=MEMBERS)
    again, _ = come_by(provider)

    member = Member.objects.get(email=DANA)
    assert reply["Location"] == MEMBERS
    # A team's provider makes no device one of the account's own.
    assert "known_device" not in client.cookies
    assert client.get(MEMBERS).status_code == HTTPStatus.OK
    assert (member.name, member.has_usable_password()) == ("Dana Reyes", False)
    assert Membership.objects.get(member=member).roles == ["viewer"]
    assert again.session["_auth_user_id"] == str(member.pk)
    lines = AuditEntry.objects.for_tenant(alice_team.tenants.first())
    assert lines.filter(verb="join_by_single_sign_on").count() == 1
    # What a provider says of itself is not asked for twice.
    assert provider.asked.count("/keys") == 1


def test_a_provider_has_one_time_for_all_that_a_sign_in_asks(
    provider, door, monkeypatch
):
    client = Client()
    back = urlsplit(provider.sign_in(sent_to_provider(client)))
    cache.clear()  # so that it is asked for all of it again
    provider.asked.clear()
    before, waited = written(), []
    plain = provider.answer

    def slowly(*asked):
        waited.append(EXCHANGE_S)
        return plain(*asked)

    monkeypatch.setattr(provider, "answer", slowly)
    monkeypatch.setattr(outgoing, "time", Clock(waited))

    reply = client.get(back.path, parse_qs(back.query))

    assert reply.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert reply.context["reason"] == "unavailable"
    # The time was over with the first answer: no code is traded after it.
    assert provider.asked == ["/.well-known/openid-configuration"]
    assert not is_signed_in(client)
    assert written() == before


def test_nobody_who_is_signed_in_is_joined_by_a_link_from_elsewhere(
    provider, door, alice_web, bob
):
    stranger = Client()
    stranger.force_login(bob)
    of_another = parse_qs(urlsplit(stranger.get(DOOR).context["go_url"]).query)
    before = written()

    lured = alice_web.get(f"{DOOR}go/")
    borrowed = alice_web.get(f"{DOOR}go/", {"agreed": of_another["agreed"][0]})

    for reply in (lured, borrowed):
        assert reply.status_code == HTTPStatus.OK
        assert "go_url" in reply.context
    assert written() == before


def test_the_way_to_the_provider_gives_no_secret_away(provider, door):
    asked = parse_qs(urlsplit(sent_to_provider(Client())).query)

    assert asked["redirect_uri"] == [f"http://127.0.0.1:8000{DOOR}back/"]
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["scope"] == ["openid email profile"]
    assert set(asked) == {
        *("response_type", "client_id", "redirect_uri", "scope", "state", "nonce"),
        *("code_challenge", "code_challenge_method"),
    }


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"claims": {"aud": "another"}}, "not_vouched"),
        ({"claims": {"aud": [CLIENT_ID, "another"]}}, "not_vouched"),
        ({"claims": {"iss": "https://elsewhere.example"}}, "not_vouched"),
        ({"claims": {"exp": 1_700_000_000}}, "not_vouched"),
        ({"claims": {"iat": 4_000_000_000}}, "not_vouched"),
        ({"claims": {"nonce": "another"}}, "not_vouched"),
        ({"claims": {"azp": "another"}}, "not_vouched"),
        ({"without": {"exp"}}, "not_vouched"),
        ({"without": {"nonce"}}, "not_vouched"),
        ({"key": generate_private_key(SECP256R1())}, "not_vouched"),
        ({"key_id": "two"}, "not_vouched"),
        ({"algorithm": "HS256"}, "not_vouched"),
        ({"algorithm": "none"}, "not_vouched"),
        ({"claims": {"email_verified": False}}, "email_unverified"),
        ({"claims": {"email": "eve@elsewhere.example"}}, "not_invited"),
        ({"claims": {"sub": "x" * 256}}, "subject_invalid"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else next(iter(value)),
)
def test_what_is_not_vouched_for_lets_nobody_in(provider, door, fault, reason):
    for name, value in fault.items():
        setattr(provider, name, value)
    before = written()

    client, reply = come_by(provider)

    assert (reply.status_code, reply.context["reason"]) == (403, reason)
    assert not is_signed_in(client)
    assert written() == before


def test_an_answer_counts_once_for_the_browser_and_the_team_it_was_asked_by(
    provider, door, charlie_team
):
    make_single_sign_on(team=charlie_team, issuer=provider.issuer)
    owner, thief = Client(), Client()
    back = urlsplit(provider.sign_in(sent_to_provider(owner)))
    query = parse_qs(back.query)

    stolen = thief.get(back.path, query)
    elsewhere = owner.get("/accounts/single-sign-on/charlie-care/back/", query)
    spent = owner.get(back.path, query)
    refused = provider.sign_in(sent_to_provider(owner))
    state = parse_qs(urlsplit(refused).query)["state"]
    denied = owner.get(back.path, {"state": state, "error": "access_denied"})
    other = provider.sign_in(sent_to_provider(owner))
    mixed = {**parse_qs(urlsplit(other).query), "iss": "https://elsewhere.example"}
    mixed_up = owner.get(back.path, mixed)

    reasons = [
        reply.context["reason"]
        for reply in (stolen, elsewhere, spent, denied, mixed_up)
    ]
    assert reasons == ["expired", "expired", "expired", "refused", "not_vouched"]
    assert not is_signed_in(owner)
    assert not is_signed_in(thief)


def test_an_account_with_a_sign_in_of_its_own_has_to_agree_first(
    provider, door, alice_team
):
    member = make_member(team=alice_team, email=DANA, roles=(Role.CLINICIAN,))
    before = written()
    stranger, refused = come_by(provider)
    unchanged = written() == before
    holder = Client()
    holder.force_login(member)

    _, linked = come_by(provider, holder)
    later, _ = come_by(provider)

    assert (refused.context["reason"], unchanged) == ("link_first", True)
    assert not is_signed_in(stranger)
    assert linked["Location"] == HOME
    assert later.session["_auth_user_id"] == str(member.pk)
    assert Membership.objects.get(member=member).roles == ["clinician"]
    # Who signed in by themselves keeps their own session, with all its rights.
    assert holder.get("/accounts/second-factor/").status_code == HTTPStatus.OK
    assert later.get("/accounts/second-factor/").status_code == HTTPStatus.FORBIDDEN


def test_who_is_known_there_as_another_is_not_swapped(provider, door, alice, bob):
    client = Client()
    client.force_login(alice)
    before = written()

    _, other_address = come_by(provider, client)
    provider.person["email"] = alice.email
    come_by(provider, client)
    client.force_login(bob)
    _, other_member = come_by(provider, client)
    provider.person["sub"] = "p-2"
    client.force_login(alice)
    _, other_identity = come_by(provider, client)

    assert other_address.context["reason"] == "other_address"
    assert other_member.context["reason"] == "other_member"
    assert other_identity.context["reason"] == "other_identity"
    assert written()[:2] == before[:2]
    assert SingleSignOnIdentity.objects.get().membership.member == alice


def test_the_invited_come_in_with_their_roles_whatever_their_domain(
    provider, door, alice_team
):
    provider.person["email"] = "guest@elsewhere.example"
    invitation, _ = invite_member(
        team=alice_team,
        actor=ACTOR,
        email="guest@elsewhere.example",
        roles=[Role.DEVELOPER],
    )

    client, _ = come_by(provider)

    invitation.refresh_from_db()
    assert is_signed_in(client)
    assert Membership.objects.get(member__email="guest@elsewhere.example").roles == [
        "developer"
    ]
    assert invitation.accepted_at is not None


def test_an_address_that_the_token_leaves_out_is_asked_for(provider, door):
    provider.without = {"email", "email_verified"}
    provider.userinfo = {**provider.person, "sub": "p-2"}
    _, about_another = come_by(provider)
    provider.userinfo = provider.person

    client, _ = come_by(provider)

    assert about_another.context["reason"] == "email_missing"
    assert is_signed_in(client)


def test_a_session_by_single_sign_on_opens_that_team_and_no_account(
    provider, door, alice_team, charlie_team
):
    client, _ = come_by(provider)
    dana = Member.objects.get(email=DANA)
    other = Membership.objects.create(
        member=dana, team=charlie_team, roles=[Role.OWNER]
    )
    dana.is_staff = True
    dana.save(update_fields=["is_staff"])

    statuses = {
        path: client.get(path).status_code
        for path in (
            HOME,
            "/t/charlie-care/sandbox/",
            *("/admin/", "/accounts/second-factor/", "/accounts/passkeys/add/"),
            *("/accounts/address/change/", "/invitation/", "/accounts/confirm/"),
        )
    }
    posts = {
        path: client.post(f"{HOME}profile/{path}").status_code
        for path in ("", "password/", "sign-out-elsewhere/")
    }
    page = client.get(f"{HOME}profile/")

    assert list(statuses.values()) == [200, 404, *[403] * 6]
    assert set(posts.values()) == {403}
    assert [place.team for place in page.wsgi_request.places] == [alice_team] * 2
    assert "sessions" not in page.context
    assert other.team.name not in page.content.decode()


def test_a_proof_ends_with_the_day_and_with_its_provider(provider, door, alice_web):
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client, _ = come_by(provider)
        clock.shift(PROOF_TTL)
        late = client.get(MEMBERS)
        come_by(provider, client)
        renewed = client.get(MEMBERS)
    door.round += 1
    door.save(update_fields=["round"])
    changed = client.post(f"{MEMBERS}invite/")

    assert late["Location"] == f"{DOOR}?next=%2Ft%2Falice-health%2Fsandbox%2Fmembers%2F"
    assert renewed.status_code == HTTPStatus.OK
    assert changed["Location"] == f"{DOOR}?next=%2Ft%2Falice-health%2Fsandbox%2F"


def test_where_it_is_required_a_password_alone_opens_nothing(
    provider, alice_team, alice
):
    make_single_sign_on(team=alice_team, issuer=provider.issuer, is_required=True)
    provider.person["email"] = alice.email
    provider.claims["email_verified"] = True
    client = Client()
    client.post("/accounts/login/", {"login": alice.email, "password": PASSWORD})

    shut = client.get(HOME)
    fragment = client.get(MEMBERS, headers={"HX-Request": "true"})
    asked = client.get(shut["Location"])
    come_by(provider, client)

    assert shut["Location"].startswith(f"{DOOR}?next=")
    assert fragment["HX-Redirect"].startswith(f"{DOOR}?next=")
    assert asked.context["provider"] in provider.issuer
    assert client.get(HOME).status_code == HTTPStatus.OK


def test_confirming_asks_the_provider_anew(provider, door, alice_team):
    door.roles = [Role.DEVELOPER]
    door.save(update_fields=["roles"])
    create = f"{HOME}api-keys/create/"
    client, _ = come_by(provider)
    session = client.session
    session["account_authentication_methods"][0]["at"] -= 3600
    session.save()

    asked = client.get(create)
    page = client.get(asked["Location"])
    onward = parse_qs(urlsplit(page.context["go_url"]).query)
    provider.claims = {"auth_time": 1_700_000_000}
    _, stale = come_by(provider, client, onward=create, fresh="1")
    still = client.get(create)
    provider.claims = {}
    _, fresh = come_by(provider, client, onward=create, fresh="1")

    assert asked["Location"].startswith("/accounts/confirm/single-sign-on/?next=")
    assert (onward["next"], onward["fresh"]) == ([create], ["1"])
    assert stale.context["reason"] == "not_vouched"
    assert still["Location"] == asked["Location"]
    assert fresh["Location"] == create
    assert client.get(create).status_code == HTTPStatus.OK


def test_the_door_is_found_by_the_team_s_name(client, alice_team, charlie_team):
    make_single_sign_on(team=alice_team)

    choose = "/accounts/single-sign-on/"
    known = client.get(choose, {"team": " Alice-Health/ "})
    known_by_page = client.get(choose, {"next": MEMBERS})
    without = client.get(choose, {"team": "charlie-care"})
    unknown = client.get(choose, {"team": "nowhere"})

    assert known["Location"] == DOOR
    assert known_by_page["Location"].startswith(f"{DOOR}?next=")
    assert without.status_code == unknown.status_code == HTTPStatus.NOT_FOUND
    assert client.get(f"{choose}charlie-care/").status_code == HTTPStatus.NOT_FOUND


def test_a_passkey_is_a_sign_in_of_one_s_own(provider, door, alice_team):
    member = make_member(team=alice_team, email=DANA)
    holder = Client()
    holder.force_login(member)
    confirm(holder)
    Device().add_to(holder)
    member.set_unusable_password()
    member.save()

    client, reply = come_by(provider)

    assert reply.context["reason"] == "link_first"
    assert not is_signed_in(client)

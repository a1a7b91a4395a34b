from __future__ import annotations

from http import HTTPStatus

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.cache import cache
from django.test import Client

from accounts.models import AuditEntry, SignInRules, SingleSignOn, SingleSignOnIdentity
from accounts.states import Role
from accounts.web.sign_in.proofs import record_provider_sign_in
from portal.lib.secrets.encryption import decrypt_secret
from tests.audit import changes_of
from tests.clients import confirm
from tests.factories.accounts import make_member
from tests.factories.openid import (
    CLIENT_ID,
    CLIENT_SECRET,
    make_single_sign_on,
    serve_openid,
)
from tests.factories.passkeys import Device

HOME = "/t/alice-health/sandbox/"
PAGE = f"{HOME}settings/sign-in/"
SETUP = "/accounts/second-factor/?next="

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_counts():
    cache.clear()


@pytest.fixture
def owner(alice_web, alice_team):
    confirm(alice_web)
    return alice_web


def given(at, **changes):
    return {
        "issuer": at,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "domains": "North.example\n@south.example",
        "roles": ["viewer"],
        **changes,
    }


def written():
    return (
        sorted(map(str, SingleSignOn.objects.values())),
        sorted(map(str, SignInRules.objects.values())),
        AuditEntry.unscoped.count(),
        len(mail.outbox),
    )


def test_a_provider_is_set_changed_and_removed(
    owner, alice, alice_team, alice_tenant, settings
):
    settings.SINGLE_SIGN_ON_LOCAL_HOSTS = ["127.0.0.1"]
    with serve_openid() as first, serve_openid() as second:
        owner.post(f"{PAGE}provider/", given(f"{first.issuer}/"))
        present = SingleSignOn.objects.get()
        set_up = (present.issuer, present.domains, present.roles)
        secret = (
            decrypt_secret(present.client_secret),
            CLIENT_SECRET in str(present.__dict__),
        )
        page = owner.get(PAGE)
        SingleSignOnIdentity.objects.create(
            single_sign_on=present,
            membership=alice.memberships.get(),
            subject="p-1",
        )
        session = owner.session
        record_provider_sign_in(session, present, is_sign_in=False)
        session.save()
        owner.post(f"{PAGE}rules/", {"requires_single_sign_on": "on"})
        required = SignInRules.objects.get().requires_single_sign_on
        no_secret = owner.post(
            f"{PAGE}provider/", given(second.issuer, client_secret="")
        )
        owner.post(f"{PAGE}provider/", given(second.issuer))
    changed = SingleSignOn.objects.get()
    freed = SignInRules.objects.get().requires_single_sign_on
    known = SingleSignOnIdentity.objects.count()
    asked = owner.get(f"{PAGE}provider/remove/")
    owner.post(f"{PAGE}provider/remove/")

    assert set_up == (first.issuer, ["north.example", "south.example"], ["viewer"])
    assert secret == (CLIENT_SECRET, False)
    assert CLIENT_SECRET not in page.content.decode()
    assert no_secret.context["provider_form"].errors["client_secret"]
    assert (changed.issuer, changed.round) == (second.issuer, 1)
    # Nobody is known at the new one, and nobody depends on it before it has vouched.
    assert (required, freed, known) == (True, False, 0)
    assert asked.status_code == HTTPStatus.OK
    assert not SingleSignOn.objects.exists()
    assert [letter.to for letter in mail.outbox] == [[alice.email]] * 3
    lines = AuditEntry.objects.for_tenant(alice_tenant)
    told = lines.filter(verb="configure_single_sign_on").order_by("pk").first().changes
    assert told["fields"] == ["client_secret"]
    assert CLIENT_SECRET not in str(list(lines.values("changes")))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"issuer": "http://id.north.example"}, "issuer"),
        ({"issuer": "https://10.0.0.1"}, "issuer"),
        ({"issuer": "https://127.0.0.1:8443"}, "issuer"),
        ({"issuer": "http://169.254.169.254/latest"}, "issuer"),
        ({"client_id": " "}, "client_id"),
        ({"domains": "no domain!"}, "domains"),
        ({"roles": ["admin"]}, "roles"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(*value.values()),
)
def test_a_provider_that_can_not_be_is_refused(owner, changes, field):
    before = written()

    reply = owner.post(f"{PAGE}provider/", given("https://id.north.example", **changes))

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["provider_form"].errors) == [field]
    assert written() == before


@pytest.mark.parametrize(
    "about",
    [
        {"issuer": "https://elsewhere.example"},
        {"token_endpoint": "http://10.0.0.1/token"},
        {"jwks_uri": None},
        {"id_token_signing_alg_values_supported": ["HS256"]},
    ],
    ids=lambda about: next(iter(about)),
)
def test_a_provider_that_says_what_it_must_not_is_refused(owner, settings, about):
    settings.SINGLE_SIGN_ON_LOCAL_HOSTS = ["127.0.0.1"]
    before = written()
    with serve_openid() as provider:
        provider.about = about
        reply = owner.post(f"{PAGE}provider/", given(provider.issuer))

    assert list(reply.context["provider_form"].errors) == ["issuer"]
    assert written() == before


def test_nobody_requires_what_has_not_let_them_in(owner, alice_team):
    none = owner.post(f"{PAGE}rules/", {"requires_single_sign_on": "on"})
    make_single_sign_on(team=alice_team)
    unproven = owner.post(f"{PAGE}rules/", {"requires_single_sign_on": "on"})

    for reply in (none, unproven):
        assert list(reply.context["rules_form"].errors) == ["requires_single_sign_on"]
    assert not SignInRules.objects.exists()


def test_only_who_may_change_the_team_does_and_confirms_first(alice_web, bob):
    viewer = Client()
    viewer.force_login(bob)
    confirm(viewer)
    paths = ("rules/", "provider/", "provider/remove/")

    refused = {viewer.post(f"{PAGE}{path}").status_code for path in paths}
    names = {alice_web.post(f"{PAGE}{path}")["Location"][:18] for path in paths}

    assert refused == {HTTPStatus.FORBIDDEN}
    assert names == {"/accounts/confirm/"}
    assert viewer.get(PAGE).context["may_change"] is False
    assert written()[:2] == ([], [])


def test_who_lacks_a_required_second_factor_sets_one_up_before_all_else(
    owner, alice, alice_team, alice_tenant, alice_api
):
    make_member(team=alice_team, roles=(Role.VIEWER,))
    lacking = owner.get(PAGE).context["lacking"]
    owner.post(f"{PAGE}rules/", {"requires_second_factor": "on"})

    pages = (HOME, f"{HOME}users/", f"{HOME}profile/")
    shut = [owner.get(page)["Location"] for page in pages]
    fragment = owner.get(f"{HOME}users/", headers={"HX-Request": "true"})
    post = owner.post(f"{HOME}profile/")
    called = alice_api.get("/v2/user").status_code
    device = Device()
    device.add_to(owner)
    opened = owner.get(HOME).status_code
    other = Client()
    other.force_login(alice)
    asked = other.get(HOME)["Location"]
    by_passkey = Client()
    device.sign_in(by_passkey)

    assert lacking == 2
    assert {each.partition("=")[0] + "=" for each in shut} == {SETUP}
    assert fragment["HX-Redirect"].startswith(SETUP)
    assert post["Location"] == f"{SETUP}%2Ft%2Falice-health%2Fsandbox%2F"
    assert (called, opened) == (HTTPStatus.OK, HTTPStatus.OK)
    assert asked.startswith("/accounts/passkeys/confirm/?next=")
    assert by_passkey.get(HOME).status_code == HTTPStatus.OK
    assert changes_of(alice_tenant, "change_sign_in_rules") == {
        "requires_second_factor": [False, True]
    }
    kinds = {
        entry.changes["second_factor"][1]
        for entry in AuditEntry.objects.for_tenant(alice_tenant).filter(
            verb="add_second_factor"
        )
    }
    assert kinds == {"passkey"}

    Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN).delete()
    assert owner.get(HOME)["Location"].startswith(SETUP)

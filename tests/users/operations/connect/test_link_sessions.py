from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core import mail

from portal.lib.errors import DomainError, Invalid, NotFound
from portal.lib.tenancy import acting_for
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import LinkSession
from users.operations.connect.link_sessions import (
    LINK_TTL,
    MAILED_LINK_TTL,
    MAILS_AT_MOST,
    LinkRequest,
    build_connect_link_url,
    build_link_redirect_url,
    create_connect_link,
    delete_ended_connect_links,
    end_connect_link,
    find_open_connect_link,
    is_allowed_redirect_url,
    mail_connect_link,
    record_connect_link_opened,
    sign_connect_link_token,
)
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
BACK = "https://north.example/done?from=assay"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def session(user):
    return create_connect_link(user=user, actor=ACTOR)


def test_a_link_is_kept_and_told_to_the_audit_without_its_token(user, alice_tenant):
    with time_machine.travel(NOON, tick=False):
        session = create_connect_link(
            user=user,
            actor=ACTOR,
            request=LinkRequest(
                provider="oura",
                filter_on_providers=("oura", "fitbit", "oura"),
                redirect_url=BACK,
                redirects_on_error=True,
            ),
        )

    kept = LinkSession.objects.for_tenant(alice_tenant).get()
    assert kept == session
    assert kept.user == user
    assert kept.filter_on_providers == ["oura", "fitbit"]
    assert (kept.provider, kept.redirect_url) == ("oura", BACK)
    assert (kept.redirects_on_error, kept.redirects_on_close) == (True, False)
    assert kept.expires_at == NOON + LINK_TTL
    assert audited(alice_tenant)[-1] == (
        "create_link_session",
        "link_session",
        str(session.uuid),
    )


@pytest.mark.parametrize(
    ("wanted", "code", "field"),
    [
        (LinkRequest(provider="abacus"), "provider_unknown", "provider"),
        (
            LinkRequest(filter_on_providers=("oura", "abacus")),
            "provider_unknown",
            "filter_on_providers",
        ),
        (
            LinkRequest(provider="oura", filter_on_providers=("fitbit",)),
            "provider_filtered",
            "provider",
        ),
        (
            LinkRequest(redirect_url="http://north.example/"),
            "redirect_url_invalid",
            "redirect_url",
        ),
        (LinkRequest(redirects_on_error=True), "redirect_url_missing", "on_error"),
        (LinkRequest(redirects_on_close=True), "redirect_url_missing", "on_close"),
    ],
)
def test_a_link_that_makes_no_sense_is_refused(user, alice_tenant, wanted, code, field):
    before = stored_rows(alice_tenant)

    with pytest.raises(Invalid) as refused:
        create_connect_link(user=user, actor=ACTOR, request=wanted)

    assert (refused.value.code, refused.value.field) == (code, field)
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("https://north.example", True),
        ("https://north.example:8443/a/b?c=d&e=%20f#g", True),
        ("https://localhost/", True),
        ("http://north.example/", False),
        ("javascript:alert(1)", False),
        ("//north.example/", False),
        ("/t/north/", False),
        ("https:north.example", False),
        ("https://", False),
        ("https://user:word@north.example/", False),
        ("https://north.example\\@other.example/", False),
        ("https://north.example/\r\nset-cookie: a=b", False),
        ("https://north.example/ a", False),
        ("https://münchen.example/", False),
        ("https://north.example/" + "a" * 2000, False),
    ],
)
def test_people_are_sent_on_by_https_alone(url, is_allowed):
    assert is_allowed_redirect_url(url) is is_allowed


def test_the_token_finds_its_session_and_says_nothing_of_its_user(user, session):
    token = sign_connect_link_token(session)

    found = find_open_connect_link(token)

    assert found == session
    assert found.user == user
    assert found.tenant == user.tenant
    assert re.fullmatch(rf"{user.tenant_id}-[0-9a-f]{{32}}\.[\w-]{{43}}", token)
    assert str(user.uuid) not in token
    assert user.uuid.hex not in token


def test_the_link_is_absolute_with_its_token_in_the_query(session, settings):
    settings.PUBLIC_URL = "https://assay.example"

    assert build_connect_link_url(session) == (
        f"https://assay.example/connect/?token={sign_connect_link_token(session)}"
    )


def test_another_tokens_lead_nowhere(session, charlie_tenant):
    token = sign_connect_link_token(session)
    end = "A" if token[-2] != "A" else "B"
    body, _, signature = token.partition(".")
    elsewhere = body.replace(f"{session.tenant_id}-", f"{charlie_tenant.pk}-")

    for wrong in ("", "x", token[:-2] + end * 2, f"{elsewhere}.{signature}"):
        with pytest.raises(NotFound) as refused:
            find_open_connect_link(wrong)
        assert refused.value.code == "link_unknown"


def test_a_link_ends_by_itself_and_by_hand(user, alice_tenant):
    with time_machine.travel(NOON, tick=False):
        one, other = (create_connect_link(user=user, actor=ACTOR) for _ in range(2))
        end_connect_link(session=other, actor=ACTOR)
        with pytest.raises(DomainError) as by_hand:
            find_open_connect_link(sign_connect_link_token(other))
        with pytest.raises(DomainError) as twice:
            end_connect_link(session=other, actor=ACTOR)
        find_open_connect_link(sign_connect_link_token(one))
    with (
        time_machine.travel(NOON + LINK_TTL, tick=False),
        pytest.raises(DomainError) as by_itself,
    ):
        find_open_connect_link(sign_connect_link_token(one))

    codes = {each.value.code for each in (by_hand, twice, by_itself)}
    assert codes == {"link_ended"}
    verbs = [verb for verb, _, _ in audited(alice_tenant)]
    assert verbs.count("end_link_session") == 1


def test_the_link_of_a_deleted_user_leads_nowhere(user, session):
    delete_user(user=user, actor=ACTOR)

    with pytest.raises(NotFound) as refused:
        find_open_connect_link(sign_connect_link_token(session))

    assert refused.value.code == "link_unknown"
    with pytest.raises(NotFound):
        create_connect_link(user=user, actor=ACTOR)


def test_the_first_opening_is_kept(session):
    with acting_for(session.tenant), time_machine.travel(NOON, tick=False):
        record_connect_link_opened(session)
    record_connect_link_opened(session)

    session.refresh_from_db()
    assert session.opened_at == NOON


def test_a_link_is_mailed_in_the_teams_name(user, alice_tenant):
    alice_tenant.brand_information = {
        "company_name": "North & Sons",
        "support_email": "help@north.example",
    }
    alice_tenant.save(update_fields=["brand_information"])
    session = create_connect_link(user=user, actor=ACTOR, lasts=MAILED_LINK_TTL)
    session.tenant = alice_tenant

    mail_connect_link(session=session, actor=ACTOR, email=" ada@assay.example ")

    (sent,) = mail.outbox
    assert sent.to == ["ada@assay.example"]
    assert sent.reply_to == ["help@north.example"]
    assert sent.subject == "Connect your devices and apps to North & Sons"
    assert build_connect_link_url(session) in sent.body
    assert user.client_user_id not in sent.body
    session.refresh_from_db()
    assert session.mail_count == 1
    assert audited(alice_tenant)[-1][0] == "mail_link"


def test_mail_that_may_not_be_sent_is_refused(session, alice_tenant):
    ended = create_connect_link(user=session.user, actor=ACTOR)
    end_connect_link(session=ended, actor=ACTOR)
    for _ in range(MAILS_AT_MOST):
        mail_connect_link(session=session, actor=ACTOR, email="ada@assay.example")
    before = stored_rows(alice_tenant)

    for link, email, code in (
        (session, "ada@assay.example", "mail_limit"),
        (session, "ada", "email_invalid"),
        (ended, "ada@assay.example", "link_ended"),
    ):
        with pytest.raises(DomainError) as refused:
            mail_connect_link(session=link, actor=ACTOR, email=email)
        assert refused.value.code == code

    assert len(mail.outbox) == MAILS_AT_MOST
    assert stored_rows(alice_tenant) == before


def test_a_mail_server_that_refuses_is_told(session, monkeypatch):
    def refuse(*_, **__):
        raise ConnectionRefusedError

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)

    with pytest.raises(DomainError) as refused:
        mail_connect_link(session=session, actor=ACTOR, email="ada@assay.example")

    assert refused.value.code == "mail_refused"


def test_old_links_are_forgotten(user, alice_tenant):
    with time_machine.travel(NOON, tick=False):
        create_connect_link(user=user, actor=ACTOR)
        young = create_connect_link(user=user, actor=ACTOR, lasts=MAILED_LINK_TTL)
    with time_machine.travel(NOON + timedelta(days=31), tick=False):
        removed = delete_ended_connect_links()

    assert removed == 1
    assert list(LinkSession.objects.for_tenant(alice_tenant)) == [young]


def test_the_way_back_tells_what_became_and_keeps_what_was_there(user):
    session = create_connect_link(
        user=user, actor=ACTOR, request=LinkRequest(redirect_url=BACK)
    )
    bare = LinkSession(redirect_url="https://north.example/#/done")

    assert build_link_redirect_url(session, state="success", provider="oura") == (
        "https://north.example/done?from=assay&state=success&provider=oura"
    )
    assert build_link_redirect_url(bare, state="error", error="access_denied") == (
        "https://north.example/?state=error&error=access_denied#/done"
    )

from __future__ import annotations

import pytest
from django.core import mail

from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import LinkSession
from users.operations.connect.link_sessions import (
    MAILED_LINK_TTL,
    MAILS_AT_MOST,
    build_connect_link_url,
    create_connect_link,
    end_connect_link,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def place(user):
    return f"/t/alice-health/sandbox/users/{user.uuid}/links/"


@pytest.fixture
def session(user):
    return create_connect_link(user=user, actor=ACTOR, lasts=MAILED_LINK_TTL)


def test_a_link_is_made_mailed_and_shown(alice_web, alice_tenant, user, place):
    reply = alice_web.post(
        place, {"provider": "manual", "email": "ada@assay.example"}, follow=True
    )

    session = LinkSession.objects.for_tenant(alice_tenant).get()
    text = reply.content.decode()
    assert reply.redirect_chain == [(f"{place}{session.uuid}/", 302)]
    assert (session.user, session.provider) == (user, "manual")
    assert session.expires_at - session.created_at > MAILED_LINK_TTL / 2
    assert build_connect_link_url(session) in text
    assert "<svg viewBox=" in text
    assert "no-store" in reply["Cache-Control"]
    assert [each.to for each in mail.outbox] == [["ada@assay.example"]]
    verbs = [verb for verb, subject, _ in audited(alice_tenant)]
    assert verbs[-2:] == ["create_link_session", "mail_link"]


def test_a_user_s_page_leads_to_the_form_with_the_links_that_work(
    alice_web, user, place, session
):
    ended = create_connect_link(user=user, actor=ACTOR)
    end_connect_link(session=ended, actor=ACTOR)

    page = alice_web.get(f"/t/alice-health/sandbox/users/{user.uuid}/")
    form = alice_web.get(place, {"provider": "manual"})

    assert '<option value="manual" selected>' in form.content.decode()
    assert place in page.content.decode()
    assert [each for each, _ in form.context["open_links"]] == [session]


def test_a_form_at_fault_makes_nothing(alice_web, alice_tenant, place):
    before = stored_rows(alice_tenant)

    replies = [
        alice_web.post(place, {"provider": "abacus"}),
        alice_web.post(place, {"email": "ada"}),
    ]

    assert [each.status_code for each in replies] == [422, 422]
    assert stored_rows(alice_tenant) == before


def test_a_link_is_mailed_from_its_page_a_few_times(alice_web, place, session):
    for _ in range(MAILS_AT_MOST + 1):
        reply = alice_web.post(
            f"{place}{session.uuid}/mail/", {"email": "ada@assay.example"}
        )
        assert reply.status_code == 302
    wrong = alice_web.post(f"{place}{session.uuid}/mail/", {"email": ""})

    assert len(mail.outbox) == MAILS_AT_MOST
    assert wrong.status_code == 422


def test_a_link_is_ended_after_a_question(alice_web, place, session):
    asked = alice_web.get(f"{place}{session.uuid}/end/")
    session.refresh_from_db()
    was_open = session.is_open()
    for _ in range(2):
        alice_web.post(f"{place}{session.uuid}/end/")
    page = alice_web.get(f"{place}{session.uuid}/")

    session.refresh_from_db()
    assert asked.status_code == 200
    assert was_open
    assert not session.is_open()
    assert page.context["url"] == ""


def test_links_are_for_those_who_may_change_users(client, bob, place, session):
    client.force_login(bob)

    replies = [
        client.get(place),
        client.post(place, {}),
        client.get(f"{place}{session.uuid}/"),
        client.post(f"{place}{session.uuid}/mail/", {"email": "ada@assay.example"}),
        client.post(f"{place}{session.uuid}/end/"),
    ]

    session.refresh_from_db()
    assert {each.status_code for each in replies} == {403}
    assert mail.outbox == []
    assert session.is_open()


def test_another_users_link_is_not_found(alice_web, alice_tenant, session):
    other = make_user(tenant=alice_tenant)

    reply = alice_web.get(
        f"/t/alice-health/sandbox/users/{other.uuid}/links/{session.uuid}/"
    )

    assert reply.status_code == 404

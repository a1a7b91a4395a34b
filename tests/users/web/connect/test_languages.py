from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.core import mail
from django.test import Client

from tests.audit import audited, changes_of
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.operations.connect.link_sessions import (
    create_connect_link,
    mail_connect_link,
    sign_connect_link_token,
)

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def session(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    return create_connect_link(user=make_user(tenant=alice_tenant), actor=ACTOR)


@pytest.fixture
def browser(session):
    browser = Client()
    browser.get("/connect/", {"token": sign_connect_link_token(session)})
    return browser


def read(browser, session, accepted=""):
    """The page's language, title and when its link expires."""
    headers = {"Accept-Language": accepted} if accepted else {}
    reply = browser.get(f"/connect/{session.uuid}/", headers=headers)
    page = reply.content.decode()
    assert "Accept-Language" in reply["Vary"]
    assert ">English</button>" in page
    return (
        re.search(r'<html lang="([^"]+)"', page)[1],
        re.search(r"<h1>([^<]+)</h1>", page)[1],
        re.search(r"<p>([^<]*13:00)", page)[1],
    )


@pytest.mark.parametrize(
    ("accepted", "page"),
    [
        ("", ("en", "Connect your devices and apps", "1 Mar 2026")),
        ("it, sv;q=0.5", ("en", "Connect your devices and apps", "1 Mar 2026")),
        ("de-AT, en", ("de", "Verbinden Sie Ihre Geräte und Apps", "1. März 2026")),
        ("it, fr", ("fr", "Connectez vos appareils et applications", "1er mars 2026")),
        (
            "es-MX",
            ("es", "Conecte sus dispositivos y aplicaciones", "1 de marzo de 2026"),
        ),
        (
            "pt-PT",
            ("pt-br", "Conecte seus dispositivos e aplicativos", "1 de março de 2026"),
        ),
    ],
)
def test_the_page_is_in_the_language_of_the_browser(browser, session, accepted, page):
    language, title, expires = read(browser, session, accepted)

    assert (language, title) == page[:2]
    assert expires.endswith(f"{page[2]}, 13:00")


def test_a_chosen_language_stays_for_pages_and_mails(browser, session):
    place = f"/connect/{session.uuid}/"
    sent = {"language": "de", "back": f"{place}phone/"}

    reply = browser.post(f"{place}language/", sent)

    session.user.refresh_from_db()
    assert (reply.status_code, reply["Location"]) == (302, f"{place}phone/")
    assert session.user.language == "de"
    assert changes_of(session.tenant, "set_language") == {"language": ["", "de"]}
    assert read(browser, session, "fr")[0] == "de"
    mail_connect_link(session=session, actor=ACTOR, email="ada@example.com")
    (message,) = mail.outbox
    assert message.subject == "Verbinden Sie Ihre Geräte und Apps mit Alice Health"
    assert "der am 1. März 2026, 13:00 Uhr UTC abläuft" in message.body


@pytest.mark.parametrize("language", ["", "it", "en-xa", "de\x00"])
def test_a_language_that_is_not_offered_changes_nothing(browser, session, language):
    before = len(audited(session.tenant))
    back = {"language": language, "back": "https://elsewhere.example/"}

    reply = browser.post(f"/connect/{session.uuid}/language/", back)

    session.user.refresh_from_db()
    assert reply["Location"] == f"/connect/{session.uuid}/"
    assert session.user.language == ""
    assert len(audited(session.tenant)) == before


def test_the_teams_language_counts_where_nothing_else_is_known(browser, session):
    session.tenant.patient_language = "pt-br"
    session.tenant.save(update_fields=["patient_language"])

    assert read(browser, session)[0] == "pt-br"
    assert read(browser, session, "es")[0] == "es"
    mail_connect_link(session=session, actor=ACTOR, email="ada@example.com")
    assert mail.outbox[0].subject == (
        "Conecte seus dispositivos e aplicativos a Alice Health"
    )

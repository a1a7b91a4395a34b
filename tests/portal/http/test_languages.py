"""Members read pages and mails in their language; the API is English."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone, translation

from accounts.operations.notices import (
    NoticeEvent,
    enqueue_due_notice_mails,
    post_notice,
    send_notice_mail,
)
from accounts.states import NoticeKind
from portal.lib.sentences import StoredPlural
from portal.ui.dates import write_date
from portal.ui.numbers import format_measured, format_number, format_percent
from tests.factories.clinical import make_chart
from tests.jobs import empty_queue, queued

pytestmark = pytest.mark.django_db
HOME = "/t/alice-health/sandbox/"
PAGE = f"{HOME}profile/"
DRAWN = re.compile(r"<(?:svg|rect|circle|line|text|polyline|path)\b[^>]*>")
PLACES = {"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width"}


@pytest.fixture(autouse=True)
def _all_languages(settings):
    settings.MEMBER_LANGUAGES = [code for code, _name in settings.LANGUAGES]


def read_language(reply):
    page = reply.content.decode()
    return (
        re.search(r'<html lang="([^"]+)"', page)[1],
        reply.headers.get("Content-Language"),
    )


@pytest.mark.parametrize(
    ("chosen", "accepted", "language"),
    [
        ("", "", "en"),
        ("", "it", "en"),
        ("", "it, de-AT;q=0.5", "de"),
        ("fr", "de", "fr"),
        ("en", "de", "en"),
        ("gone", "pt", "pt-br"),
    ],
)
def test_a_page_is_in_the_language_of_the_profile_or_the_browser(
    alice, alice_web, chosen, accepted, language
):
    alice.language = chosen
    alice.save(update_fields=["language"])

    reply = alice_web.get(PAGE, headers={"Accept-Language": accepted})
    signed_out = Client().get("/accounts/login/", headers={"Accept-Language": accepted})
    guide = alice_web.get("/docs/", headers={"Accept-Language": accepted})

    assert read_language(reply) == (language, language)
    assert "Accept-Language" in reply["Vary"]
    assert read_language(guide)[0] == "en"
    assert translation.get_language() == "en"
    if not chosen:
        assert read_language(signed_out) == (language, language)


def test_a_member_chooses_a_language(alice, alice_web):
    profile = {"name": "Alice", "time_zone": "", "theme": "", "language": "es"}

    saved = alice_web.post(PAGE, profile)
    refused = alice_web.post(PAGE, profile | {"language": "tlh"})

    alice.refresh_from_db()
    assert (saved.status_code, refused.status_code) == (302, 422)
    assert alice.language == "es"
    assert '<html lang="es"' in refused.content.decode()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "/v2/user/nobody", None),
        ("get", "/v2/nothing-here", None),
        ("post", "/v2/user", {"client_user_id": ""}),
        ("post", "/v3/order", {}),
        ("get", "/fhir/R4/Patient/nobody", None),
        ("post", "/phone/pair", {}),
        ("get", "/courier/v1/nothing", None),
    ],
)
def test_an_error_of_the_api_is_english_to_the_byte(alice_api, method, path, body):
    def call(language):
        options = {"data": body, "content_type": "application/json"} if body else {}
        return getattr(alice_api, method)(
            path, headers={"Accept-Language": language}, **options
        )

    english, german = call("en"), call("de")

    assert english.status_code >= 400
    assert german.content == english.content
    assert "Content-Language" not in german.headers


def test_drawings_hold_no_decimal_comma_and_values_stand_as_reported(
    alice, alice_web, alice_tenant
):
    chart = make_chart(tenant=alice_tenant)
    alice.language = "de"
    alice.save(update_fields=["language"])
    drawn = 0

    for path in ("", "data/", "timeline/", "results/"):
        reply = alice_web.get(f"{HOME}users/{chart.user.uuid}/{path}")
        if reply.status_code != 200:
            continue
        page = reply.content.decode()
        assert '<html lang="de"' in page
        for tag in DRAWN.findall(page):
            for name, value in re.findall(r'\b([\w-]+)="([^"]*)"', tag):
                if name in PLACES:
                    drawn += 1
                    assert re.fullmatch(r"-?[\d.]+(%|px|em)?", value), tag
        assert not re.search(r'style="[^"]*\d,\d', page)

    assert drawn > 20


def test_a_notice_is_kept_in_english_and_mailed_in_the_language_of_each(
    alice, bob, alice_tenant
):
    empty_queue()
    mail.outbox.clear()
    alice.language = "es"
    alice.save(update_fields=["language"])
    with translation.override("de"):
        notice = post_notice(
            tenant=alice_tenant,
            event=NoticeEvent(
                kind=NoticeKind.FAILING_ENDPOINT,
                key="1",
                words=StoredPlural("%(n)s user", "%(n)s users", 2, {"n": "2"}),
                path="/",
            ),
            at=timezone.now(),
        )
    enqueue_due_notice_mails(at=timezone.now())
    for job in queued():
        send_notice_mail(tenant=alice_tenant, mail_id=job.inputs["mail_id"])

    [spanish] = [each for each in mail.outbox if each.to == [alice.email]]
    assert notice.words == "2 users"
    assert "Alice Health" in spanish.body


def test_a_measured_value_is_never_mistaken_for_another():
    written = {}
    for language in ("en", "de", "es", "fr", "pt-br"):
        with translation.override(language):
            written[language] = [
                format_measured(value) for value in (12.5, 1234, 8430.256, 0.1)
            ]

    thin = ["12.5", "1\u202f234", "8\u202f430.26", "0.1"]
    assert written == {
        "en": ["12.5", "1,234", "8,430.26", "0.1"],
        "de": thin,
        "es": thin,
        "fr": thin,
        "pt-br": thin,
    }


def test_dates_and_numbers_of_prose_are_the_language_s():
    day = datetime(2026, 3, 1, 9, 5, tzinfo=UTC)
    written = {}
    for language in ("en", "de", "es", "fr", "pt-br"):
        with translation.override(language):
            written[language] = (
                write_date(day, "D j M Y, H:i T"),
                write_date(day, "j F Y"),
                format_number(2418),
                format_percent(0.971),
            )

    assert written == {
        "en": ("Sun 1 Mar 2026, 09:05 UTC", "1 March 2026", "2,418", "97.1%"),
        "de": ("So, 1. März 2026, 09:05 UTC", "1. März 2026", "2.418", "97,1\xa0%"),
        "es": ("dom 1 mar 2026, 09:05 UTC", "1 de marzo de 2026", "2,418", "97.1%"),
        "fr": (
            "dim 1er mars 2026, 09:05 UTC",
            "1er mars 2026",
            "2\u202f418",
            "97,1\xa0%",
        ),
        "pt-br": ("dom 1 mar 2026, 09:05 UTC", "1 de março de 2026", "2.418", "97,1%"),
    }

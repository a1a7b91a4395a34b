from __future__ import annotations

import pytest
from django.core import mail
from django.test import Client

from accounts.models import AuditEntry, MailText
from accounts.states import Role
from tests.factories.accounts import make_member

pytestmark = pytest.mark.django_db
LIST = "/t/alice-health/sandbox/settings/emails/"
PLACE = f"{LIST}connect_link/de/"
TEXT = {"subject": "Grüße von {company}", "body": "Hallo <b>Sie</b>\n\n{link}"}


def stored(tenant):
    rows = MailText.objects.for_tenant(tenant).values_list("kind", "language")
    return list(rows)


def test_a_mail_is_worded_previewed_tested_and_reset(alice_web, alice_tenant, alice):
    listed = alice_web.get(LIST).content.decode()
    empty = alice_web.get(PLACE).content.decode()
    draft = alice_web.post(f"{PLACE}preview/", TEXT)
    as_text = alice_web.post(f"{PLACE}preview/?as=text", TEXT)
    before = stored(alice_tenant)
    saved = alice_web.post(PLACE, TEXT, follow=True).content.decode()
    relisted = alice_web.get(LIST).content.decode()
    sent = alice_web.post(f"{PLACE}test/", follow=True).content.decode()
    reset = alice_web.post(f"{PLACE}reset/", follow=True).content.decode()

    assert "Connect link" in listed
    assert "Invitation</a>" not in listed  # one text for both, in production
    assert ">German<" in empty
    assert "<code>{link}</code>" in empty
    assert "Hallo &lt;b&gt;Sie&lt;/b&gt;" in draft.content.decode()
    assert draft["X-Frame-Options"] == "SAMEORIGIN"
    policy = draft["Content-Security-Policy"]
    for part in ("default-src 'none'", "frame-ancestors 'self'", "sandbox"):
        assert part in policy
    assert "script-src" not in policy
    assert as_text["Content-Type"] == "text/plain; charset=utf-8"
    assert as_text.content.decode().startswith(
        "Grüße von Alice Health\n\nHallo <b>Sie</b>\n\nhttp"
    )
    assert before == []
    assert "Email saved." in saved
    assert "Hallo &lt;b&gt;Sie&lt;/b&gt;" in saved
    assert ">German<" in relisted
    assert f"Test sent to {alice.email}." in sent
    assert [(each.to, each.subject) for each in mail.outbox] == [
        ([alice.email], "[Test] Grüße von Alice Health")
    ]
    assert "The default text is back." in reset
    assert stored(alice_tenant) == []


def test_a_text_that_may_not_be_sent_stays_in_the_form(alice_web, alice_tenant):
    wrong = {**TEXT, "body": "Öffnen Sie https://other.example"}

    reply = alice_web.post(PLACE, wrong)
    preview = alice_web.post(f"{PLACE}preview/", wrong)

    assert (reply.status_code, preview.status_code) == (422, 422)
    assert reply.context["form"].errors == {"body": ["{link} must stay in the text."]}
    assert "https://other.example" in reply.content.decode()
    assert preview["Content-Type"] == "text/plain; charset=utf-8"
    assert (
        stored(alice_tenant),
        AuditEntry.unscoped.filter(subject="mail_text").count(),
    ) == ([], 0)


def test_a_viewer_reads_and_previews_and_changes_nothing(alice_tenant):
    viewer = make_member(team=alice_tenant.team, roles=[Role.VIEWER])
    web = Client()
    web.force_login(viewer)

    replies = [
        web.get(LIST).status_code,
        web.get(PLACE).status_code,
        web.post(f"{PLACE}preview/", TEXT).status_code,
        web.post(PLACE, TEXT).status_code,
        web.post(f"{PLACE}reset/").status_code,
        web.post(f"{PLACE}test/").status_code,
    ]

    assert replies == [200, 200, 200, 403, 403, 403]
    assert (stored(alice_tenant), mail.outbox) == ([], [])


def test_invitations_are_worded_in_production_for_both(alice_web, alice_tenant):
    path = "settings/emails/invitation/en/"
    production = alice_web.get(f"/t/alice-health/production/{path}")

    assert alice_web.get(f"/t/alice-health/sandbox/{path}").status_code == 404
    assert alice_web.get(f"{LIST}letter/en/").status_code == 404
    assert alice_web.get(f"{LIST}connect_link/nl/").status_code == 404
    assert production.status_code == 200
    assert "{sender} invited you to the team {team}" in production.content.decode()

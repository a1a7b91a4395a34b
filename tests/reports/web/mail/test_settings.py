"""The page of the mailbox in which a team receives reports."""

from __future__ import annotations

import pytest
from django.test import Client

from reports.gateways import mailbox as imap
from reports.models import ReceivedMail, ReportMailbox
from tests.clients import confirm
from tests.reports.mails import ADDRESS, ImapServer

pytestmark = pytest.mark.django_db
PAGE = "/t/alice-health/sandbox/settings/mail/"
FORM = {
    "address": ADDRESS,
    "host": "imap.clinic.example",
    "encryption": "tls",
    "password": "secret",
    "senders": "lab.example\nreports@other.example",
}


def test_a_mailbox_is_saved_checked_shown_and_removed(
    alice_web, alice_tenant, monkeypatch
):
    confirm(alice_web)
    server = ImapServer()
    monkeypatch.setattr(imap, "_Connection", server)
    assert "No mailbox is set up." in alice_web.get(PAGE).content.decode()

    server.refuses = "sign_in"
    refused = alice_web.post(f"{PAGE}save/", FORM)
    assert refused.status_code == 422
    assert "password" in refused.context["form"].errors
    assert not ReportMailbox.objects.for_tenant(alice_tenant).exists()

    server.refuses = ""
    assert alice_web.post(f"{PAGE}save/", FORM).headers["Location"] == PAGE
    box = ReportMailbox.objects.for_tenant(alice_tenant).get()
    assert box.senders == ["lab.example", "reports@other.example"]
    ReceivedMail(
        tenant=alice_tenant,
        mailbox=box,
        digest="a",
        uid_validity=1,
        uid=1,
        sender_domain="elsewhere.example",
        outcome="refused",
        reason="not_signed",
    ).save()
    shown = alice_web.get(PAGE).content.decode()
    assert "elsewhere.example" in shown
    assert "not_signed" in shown
    assert "secret" not in shown

    server.refuses = "connect"
    alice_web.post(f"{PAGE}check/")
    assert "can't be polled" in alice_web.get(PAGE).content.decode()
    alice_web.post(f"{PAGE}remove/")
    assert not ReportMailbox.objects.for_tenant(alice_tenant).exists()


def test_a_member_who_may_not_change_it_changes_nothing(bob, alice_tenant):
    web = Client()
    web.force_login(bob)
    assert web.get(PAGE).status_code == 200
    assert web.post(f"{PAGE}save/", FORM).status_code == 403
    assert not ReportMailbox.objects.for_tenant(alice_tenant).exists()

"""The mailbox in which a team receives reports."""

from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from portal.lib.errors import DomainError, NotFound
from reports.models import ReportMailbox
from reports.operations.mail.mailbox import check_report_mailbox, remove_report_mailbox
from tests.factories.accounts import ACTOR
from tests.reports.mails import ADDRESS, set_up_mailbox

pytestmark = pytest.mark.django_db


def test_a_mailbox_is_tried_encrypted_audited_and_removed(alice_tenant, server):
    made = set_up_mailbox(
        alice_tenant, senders=("@Lab.example", "lab.example", "Dr@Other.example")
    )

    assert made.senders == ["lab.example", "dr@other.example"]
    assert (made.user_name, made.port, made.folder) == (ADDRESS, 993, "INBOX")
    assert "secret" not in made.password
    entry = AuditEntry.objects.for_tenant(alice_tenant).get(verb="set_report_mailbox")
    assert "secret" not in str(entry.changes)
    assert "password" not in entry.changes

    kept = set_up_mailbox(alice_tenant, password="", senders=("new.example",))
    assert (kept.pk, kept.senders) == (made.pk, ["new.example"])
    assert refused(alice_tenant, password="", host="imap.other.example") == (
        "mailbox_password_missing"
    )

    server.refuses = "sign_in"
    with pytest.raises(DomainError):
        check_report_mailbox(tenant=alice_tenant)
    assert ReportMailbox.objects.for_tenant(alice_tenant).get().failing_since
    server.refuses = ""
    assert check_report_mailbox(tenant=alice_tenant).failing_since is None

    remove_report_mailbox(tenant=alice_tenant, actor=ACTOR)
    assert not ReportMailbox.objects.for_tenant(alice_tenant).exists()
    with pytest.raises(NotFound):
        remove_report_mailbox(tenant=alice_tenant, actor=ACTOR)


def refused(tenant, **changes):
    before = list(ReportMailbox.objects.for_tenant(tenant).values())
    with pytest.raises(DomainError) as error:
        set_up_mailbox(tenant, **changes)
    assert list(ReportMailbox.objects.for_tenant(tenant).values()) == before
    return error.value.code


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"address": "no address"}, "mailbox_address_invalid"),
        ({"host": "a b"}, "mailbox_host_invalid"),
        ({"host": "10.0.0.5"}, "mailbox_address_not_allowed"),
        ({"host": "127.0.0.1"}, "mailbox_address_not_allowed"),
        ({"port": 70_000}, "mailbox_port_invalid"),
        ({"encryption": "none"}, "mailbox_unencrypted"),
        ({"encryption": "later"}, "mailbox_unencrypted"),
        ({"password": ""}, "mailbox_password_missing"),
        ({"password": "wrong"}, "mailbox_refused"),
        ({"folder": "a\nb"}, "mailbox_folder_invalid"),
        ({"handled_folder": "INBOX"}, "mailbox_folder_invalid"),
        ({"handled_folder": "Missing"}, "mailbox_refused"),
        ({"senders": ()}, "mailbox_senders_missing"),
        ({"senders": ("com",)}, "mailbox_sender_invalid"),
    ],
)
def test_what_cannot_work_is_not_saved(changes, code, alice_tenant, server):
    assert refused(alice_tenant, **changes) == code


def test_a_server_that_does_not_answer_is_not_saved(alice_tenant, server):
    server.refuses = "connect"
    assert refused(alice_tenant) == "mailbox_unavailable"
    server.refuses = "folder"
    assert refused(alice_tenant) == "mailbox_refused"

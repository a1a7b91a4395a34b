from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.ops.health.mailboxes import check_report_mailboxes
from reports.models import ReceivedMail, ReportMailbox

pytestmark = pytest.mark.django_db


def test_mailboxes_that_fail_stand_still_or_hold_mails_are_found(alice_tenant):
    assert check_report_mailboxes().sentence == "No team receives reports by mail."
    now = timezone.now()
    long_ago = now - timedelta(minutes=20)
    box = ReportMailbox(
        tenant=alice_tenant, address="a@b.example", host="b.example", port=993
    )
    box.polled_at = now
    box.save()
    assert check_report_mailboxes().ok

    box.failing_since = long_ago
    box.save()
    assert "can't be polled: 1" in check_report_mailboxes().sentence
    box.failing_since, box.polled_at = now, long_ago
    box.save()
    assert "not polled" in check_report_mailboxes().sentence
    box.polled_at = now
    box.save()
    mail = ReceivedMail(
        tenant=alice_tenant, mailbox=box, digest="a", uid_validity=1, uid=1
    )
    mail.outcome, mail.received_at = "held", long_ago
    mail.save()
    finding = check_report_mailboxes()
    assert (finding.state, "held" in finding.sentence) == ("warn", True)

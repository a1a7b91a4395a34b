"""The check of mailboxes that receive reports: polls, faults and held mails."""

from __future__ import annotations

from datetime import timedelta

from django.db import ProgrammingError
from django.utils import timezone

from portal.ops.health.findings import Finding
from reports.queries.mail import read_mailbox_states

LONGEST_WAIT = timedelta(minutes=15)


def check_report_mailboxes() -> Finding:
    """Check that mailboxes are polled, and that no mail is held for long."""
    try:
        states = read_mailbox_states()
    except ProgrammingError:  # no such table before the first migrate
        return Finding(False, "Mailboxes can't be read.", "Run `migrate`.")
    if not states.mailboxes:
        return Finding(True, "No team receives reports by mail.")
    before = timezone.now() - LONGEST_WAIT
    if states.failing_since is not None and states.failing_since < before:
        return Finding(
            False,
            f"Mailboxes that can't be polled: {states.failing}.",
            "Each team's page *Reports by mail* says why.",
            works_still=True,
        )
    if states.polled_at is not None and states.polled_at < before:
        return Finding(
            False,
            "A mailbox was not polled for over 15 minutes.",
            "See the log of the worker.",
            works_still=True,
        )
    if states.held_since is not None and states.held_since < before:
        return Finding(
            False,
            "Mails are held for over 15 minutes, as DNS, the scanner or the storage"
            " does not answer.",
            "See MAIL_DNS_SERVERS, UPLOAD_SCANNER and each team's page *Reports by"
            " mail*.",
            works_still=True,
        )
    return Finding(True, f"Mailboxes of reports: {states.mailboxes}, all are polled.")

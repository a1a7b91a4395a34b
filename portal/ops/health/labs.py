"""The check of connections to labs: processes, faults, queues and certificates."""

from __future__ import annotations

from datetime import timedelta

from django.db import ProgrammingError
from django.utils import timezone

from labs.gateways.hl7.mllp.tls import (
    CertificatesInvalid,
    read_own_certificate_expiry,
)
from labs.queries.connections import TransportState, list_transport_states
from labs.states.connections import Transport
from portal.ops.health.findings import Finding

LONGEST_WAIT = timedelta(minutes=15)
CERTIFICATE_SOON = timedelta(days=14)


def check_lab_connections() -> Finding:
    """Check that labs are connected, and that no message waits for long."""
    try:
        states = list_transport_states()
    except ProgrammingError:  # no such table before the first migrate
        return Finding(False, "Connections to labs can't be read.", "Run `migrate`.")
    number = sum(state.connections for state in states)
    if not number:
        return Finding(True, "No lab is connected by MLLP or SFTP.")
    if any(state.silent for state in states):
        return Finding(
            False,
            "Connections by MLLP without a process:"
            f" {sum(state.silent for state in states)}. Labs can't connect and orders"
            " wait.",
            "Start one with `manage.py mllp`, with the same DATABASE_URL.",
        )
    if late := [each for each in states if _is_late(each)]:
        names = ", ".join(each.transport.upper() for each in late)
        return Finding(
            False,
            f"Labs can't be reached, or messages wait for over 15 minutes: {names}.",
            "See the connection of each lab account, and the log of `manage.py mllp`"
            " and the worker.",
            works_still=True,
        )
    if any(state.transport == Transport.MLLP for state in states) and (
        finding := _check_certificate()
    ):
        return finding
    return Finding(True, f"Connections to labs: {number}, none fails.")


def _is_late(state: TransportState) -> bool:
    before = timezone.now() - LONGEST_WAIT
    times = (state.failing_since, state.queue.since)
    return any(at is not None and at < before for at in times)


def _check_certificate() -> Finding | None:
    remedy = "Set MLLP_CERTIFICATE and MLLP_KEY, and give labs the new certificate."
    try:
        ends = read_own_certificate_expiry()
    except (OSError, CertificatesInvalid):
        return Finding(False, "The certificate for MLLP can't be read.", remedy)
    if ends is None or ends > timezone.now() + CERTIFICATE_SOON:
        return None
    return Finding(
        False,
        f"The certificate for MLLP ends on {ends:%Y-%m-%d}.",
        remedy,
        works_still=ends > timezone.now(),
    )

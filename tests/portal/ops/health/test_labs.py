from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from labs.models import Hl7OutboundMessage
from labs.operations.outbound import send_hl7_message
from portal.ops.health.labs import check_lab_connections
from tests.factories.connections import make_hl7_connection
from tests.labs.gateways.hl7.mllp.peers import make_identity

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection(alice_tenant):
    return make_hl7_connection(tenant=alice_tenant, seen_at=timezone.now())


def change(row, **fields):
    type(row).unscoped.filter(pk=row.pk).update(**fields)


def ago(**since):
    return timezone.now() - timedelta(**since)


def test_without_a_connection_nothing_is_wrong():
    finding = check_lab_connections()

    assert (finding.ok, finding.sentence) == (
        True,
        "No lab is connected by MLLP or SFTP.",
    )


def test_a_connection_that_works_is_counted(connection):
    finding = check_lab_connections()

    assert (finding.ok, finding.sentence) == (
        True,
        "Connections to labs: 1, none fails.",
    )


@pytest.mark.parametrize("seen_at", [None, 31])
def test_a_connection_without_a_process_stops_the_labs(connection, seen_at):
    change(connection, seen_at=None if seen_at is None else ago(seconds=seen_at))

    finding = check_lab_connections()

    assert (finding.ok, finding.works_still) == (False, False)
    assert finding.sentence.startswith("Connections by MLLP without a process: 1.")
    assert "manage.py mllp" in finding.remedy


def test_a_suspended_account_is_not_watched(connection):
    change(connection, seen_at=None)
    change(connection.account, status="suspended")

    assert check_lab_connections().sentence == "No lab is connected by MLLP or SFTP."


def test_a_failure_counts_after_a_quarter_of_an_hour(connection):
    change(connection, failing_since=ago(minutes=14), fault="unreachable")
    assert check_lab_connections().ok

    change(connection, failing_since=ago(minutes=16))
    finding = check_lab_connections()

    assert (finding.ok, finding.works_still) == (False, True)
    assert finding.sentence.endswith("over 15 minutes: MLLP.")


def test_a_message_that_waits_counts_after_a_quarter_of_an_hour(
    connection, alice_tenant
):
    files = make_hl7_connection(tenant=alice_tenant, transport="sftp")
    message = send_hl7_message(connection=files, control_id="NW1", content=b"x")
    Hl7OutboundMessage.unscoped.update(created_at=ago(minutes=14))
    assert check_lab_connections().ok

    Hl7OutboundMessage.unscoped.update(created_at=ago(minutes=16))
    finding = check_lab_connections()

    assert (finding.ok, finding.works_still) == (False, True)
    assert finding.sentence.endswith("over 15 minutes: SFTP.")
    change(message, status="acknowledged")
    assert check_lab_connections().ok


@pytest.mark.parametrize(
    ("days", "ok", "works_still"),
    [(15, True, True), (13, False, True), (-1, False, False)],
)
def test_the_certificate_is_told_of_before_it_ends(
    connection, settings, tmp_path, days, ok, works_still
):
    ours = make_identity(tmp_path, "ours", days=days)
    settings.MLLP_CERTIFICATE, settings.MLLP_KEY = ours.certificate, ours.key

    finding = check_lab_connections()

    assert finding.ok is ok
    if not ok:
        assert finding.works_still is works_still
        ends = timezone.now() + timedelta(days=days)
        assert finding.sentence == f"The certificate for MLLP ends on {ends:%Y-%m-%d}."


def test_a_certificate_that_cannot_be_read_is_told_of(connection, settings, tmp_path):
    settings.MLLP_CERTIFICATE = settings.MLLP_KEY = str(tmp_path / "missing.pem")

    finding = check_lab_connections()

    assert (finding.ok, finding.sentence) == (
        False,
        "The certificate for MLLP can't be read.",
    )

from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from labs.models import Hl7Connection
from labs.operations.connections.settings import (
    ConnectionRequest,
    check_connection_now,
    configure_hl7_connection,
)
from portal.lib.errors import DomainError
from portal.lib.secrets.encryption import decrypt_secret
from tests.factories.accounts import ACTOR
from tests.factories.connections import make_hl7_connection
from tests.factories.labs import make_lab, make_lab_account
from tests.labs.gateways.hl7.mllp.peers import free_port, make_identity

pytestmark = pytest.mark.django_db
HOST_KEY = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO7OMJ3p0j2jwUTYOJOuDwDqpbSTXTj8BLbWXAQ6h/zR"
)


@pytest.fixture
def account(alice_tenant):
    return make_lab_account(tenant=alice_tenant, lab=make_lab())


@pytest.fixture
def pem(tmp_path):
    return make_identity(tmp_path, "lab").pem


def configure(tenant, account, **fields):
    return configure_hl7_connection(
        tenant=tenant, actor=ACTOR, account=account, request=ConnectionRequest(**fields)
    )


def mllp(pem, **fields):
    wanted = {"host": "lab.example", "port": 6661, "peer_certificates": pem}
    return {"transport": "mllp", **wanted, **fields}


def sftp(**fields):
    return {
        "transport": "sftp",
        "host": "sftp.lab.example",
        "user_name": "clinic",
        "secret": "correct horse",
        "host_key": HOST_KEY,
        "incoming_folder": "/from/",
        "outgoing_folder": "/to",
        **fields,
    }


def test_a_connection_by_mllp_gets_a_port_and_keeps_it(
    alice_tenant, account, pem, settings
):
    settings.MLLP_PORTS = "7001-7002"
    other = make_lab_account(tenant=alice_tenant, lab=account.lab)

    first = configure(alice_tenant, account, **mllp(pem))
    second = configure(alice_tenant, other, **mllp(pem))
    changed = configure(alice_tenant, account, **mllp(pem, host="10.example"))

    assert (first.listen_port, second.listen_port) == (7001, 7002)
    assert (changed.pk, changed.listen_port) == (first.pk, 7001)
    assert Hl7Connection.unscoped.count() == 2


def test_a_port_that_no_connection_has_is_refused(alice_tenant, account, pem, settings):
    settings.MLLP_PORTS = "7001"
    make_hl7_connection(tenant=alice_tenant, listen_port=7001)

    with pytest.raises(DomainError) as refused:
        configure(alice_tenant, account, **mllp(pem))

    assert refused.value.code == "no_listen_port"
    assert Hl7Connection.unscoped.count() == 1


def test_a_connection_by_sftp_keeps_its_secret_encrypted_and_unshown(
    alice_tenant, account
):
    made = configure(alice_tenant, account, **sftp())
    kept = configure(alice_tenant, account, **sftp(secret="", outgoing_folder="/out"))

    assert decrypt_secret(kept.secret) == "correct horse"
    assert kept.secret == made.secret
    assert (kept.port, kept.incoming_folder, kept.listen_port) == (22, "/from", None)
    audited = AuditEntry.objects.for_tenant(alice_tenant).filter(
        subject="hl7_connection"
    )
    assert [list(entry.changes) for entry in audited.order_by("pk")][1] == [
        "outgoing_folder"
    ]
    assert "correct horse" not in str(list(audited.values()))


def test_a_stored_secret_is_not_sent_to_another_server(alice_tenant, account):
    configure(alice_tenant, account, **sftp())

    with pytest.raises(DomainError) as refused:
        configure(alice_tenant, account, **sftp(secret="", host="evil.example"))

    assert refused.value.code == "sftp_secret_missing"
    assert Hl7Connection.unscoped.get().host == "sftp.lab.example"


def test_another_transport_keeps_nothing_of_the_one_before(alice_tenant, account, pem):
    configure(alice_tenant, account, **sftp())

    changed = configure(alice_tenant, account, **mllp(pem))
    folder = configure(alice_tenant, account, transport="folder")

    assert (changed.secret, changed.user_name, changed.incoming_folder) == ("", "", "")
    assert (folder.transport, folder.host, folder.listen_port) == ("folder", "", None)


def test_the_same_settings_again_change_nothing(alice_tenant, account, pem):
    configure(alice_tenant, account, **mllp(pem))
    before = AuditEntry.objects.for_tenant(alice_tenant).count()

    configure(alice_tenant, account, **mllp(pem))

    assert AuditEntry.objects.for_tenant(alice_tenant).count() == before


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ("transport_unknown", {"transport": "fax"}),
        ("connection_host_invalid", mllp("", host="")),
        ("connection_host_invalid", mllp("", host="a b")),
        ("connection_host_invalid", mllp("", host="http://lab.example")),
        ("connection_address_not_allowed", mllp("", host="127.0.0.1")),
        ("connection_address_not_allowed", mllp("", host="169.254.169.254")),
        ("connection_address_not_allowed", sftp(host="10.1.2.3")),
        ("connection_port_invalid", mllp("PEM", port=0)),
        ("connection_port_invalid", mllp("PEM", port=None)),
        ("connection_port_invalid", mllp("PEM", port=65_536)),
        ("certificates_missing", mllp("")),
        ("certificates_invalid", mllp("no certificate")),
        ("unencrypted_not_allowed", mllp("", is_unencrypted=True)),
        ("sftp_user_name_missing", sftp(user_name=" ")),
        ("sftp_secret_missing", sftp(secret="")),
        ("sftp_secret_invalid", sftp(secret="-----BEGIN PRIVATE KEY-----\nx\n")),
        ("sftp_secret_invalid", sftp(secret="x" * 10_001)),
        ("sftp_host_key_invalid", sftp(host_key="SHA256:abc")),
        ("sftp_folder_invalid", sftp(incoming_folder="")),
        ("sftp_folder_invalid", sftp(outgoing_folder="/from")),
        ("sftp_folder_invalid", sftp(outgoing_folder="/a\nb")),
    ],
)
def test_settings_that_cannot_work_are_refused(
    alice_tenant, account, pem, code, fields
):
    if fields.get("peer_certificates") == "PEM":
        fields = {**fields, "peer_certificates": pem}
    before = AuditEntry.objects.for_tenant(alice_tenant).count()

    with pytest.raises(DomainError) as refused:
        configure(alice_tenant, account, **fields)

    assert refused.value.code == code
    assert not Hl7Connection.unscoped.exists()
    assert AuditEntry.objects.for_tenant(alice_tenant).count() == before


def test_an_operator_allows_networks_and_connections_without_tls(
    alice_tenant, account, settings
):
    settings.LAB_NETWORKS = ["10.20.0.0/16"]
    settings.MLLP_UNENCRYPTED_NETWORKS = ["10.20.0.0/16"]

    made = configure(
        alice_tenant, account, **mllp("", host="10.20.0.7", is_unencrypted=True)
    )

    assert (made.host, made.is_unencrypted) == ("10.20.0.7", True)


def test_without_tls_only_the_named_networks_are_called(
    alice_tenant, account, settings
):
    settings.LAB_NETWORKS = ["10.0.0.0/8"]
    settings.MLLP_UNENCRYPTED_NETWORKS = ["10.20.0.0/16"]

    with pytest.raises(DomainError) as refused:
        configure(
            alice_tenant, account, **mllp("", host="10.9.0.7", is_unencrypted=True)
        )

    assert refused.value.code == "unencrypted_not_allowed"


def test_a_check_that_fails_is_recorded(alice_tenant, settings):
    settings.LAB_NETWORKS = ["127.0.0.0/8"]
    connection = make_hl7_connection(tenant=alice_tenant, port=free_port())

    with pytest.raises(DomainError) as refused:
        check_connection_now(connection=connection)

    connection.refresh_from_db()
    assert refused.value.code == "connection_failed"
    assert refused.value.message == "Not connected: The server can't be reached."
    assert connection.fault == "unreachable"


def test_the_folder_of_an_own_system_is_created_and_checked(alice_tenant, hl7_dir):
    own = configure(alice_tenant, None, transport="folder")

    check_connection_now(connection=own)

    own.refresh_from_db()
    assert (own.account_id, own.listen_port, own.fault) == (None, None, "")
    assert [path.name for path in hl7_dir.glob("*/*/own-system/*/*")] != []

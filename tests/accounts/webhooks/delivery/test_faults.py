"""What receivers, networks, clocks and databases do to a delivery, really done."""

from __future__ import annotations

import asyncio
import socket
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import psycopg
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.utils import timezone

from accounts.webhooks.delivery import leases, sending, worker
from accounts.webhooks.delivery.sending import Message, Sender, parse_endpoint_target
from accounts.webhooks.management.commands.deliver_webhooks import connector
from accounts.webhooks.models import Attempt, Delivery, Endpoint
from accounts.webhooks.signing import decode_signing_secret, generate_signing_secret
from tests.accounts.webhooks.delivery.receivers import Receiver, deliver, listening
from tests.factories.webhooks import make_endpoint, make_events

NOW = datetime.now(tz=UTC)


@pytest.fixture
def port(settings, monkeypatch):
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1"]
    monkeypatch.setattr(worker, "POLL_S", 0.01)
    monkeypatch.setattr(worker, "FLUSH_S", 0.001)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def message(port, *, scheme="http", body=b"{}"):
    return Message(
        target=parse_endpoint_target(f"{scheme}://127.0.0.1:{port}/in", {}),
        message_id="msg_1",
        body=body,
        keys=(decode_signing_secret(generate_signing_secret()),),
    )


def post(port, receiver, wanted, *, server=None, client=None):
    """Post one message to a receiver; `server` and `client` are TLS contexts."""

    async def run():
        async with (
            listening(port, ssl_context=server, **{"in": receiver}),
            Sender(ssl_context=client) as sender,
        ):
            return await sender.send(wanted)

    return asyncio.run(run())


class Authority:
    """A certificate authority that the sender trusts, for certificates of any kind."""

    def __init__(self, folder):
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = self._sign("Authority", self.key, authority=True)

    def trusting(self):
        context = ssl.create_default_context()
        pem = self.certificate.public_bytes(serialization.Encoding.PEM)
        context.load_verify_locations(cadata=pem.decode())
        return context

    def serving(self, *, host="127.0.0.1", days=1, by_itself=False):
        """A server's context with a certificate that ends in so many days."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(
            "Receiver", key, host=host, days=days, signer=key if by_itself else None
        )
        path = self.folder / "server.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def _sign(
        self, name, key, *, host=None, days=1, signer=None, authority=False
    ) -> x509.Certificate:
        def named(text):
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

        builder = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(name if signer else "Authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - timedelta(days=30))
            .not_valid_after(NOW + timedelta(days=days))
            .add_extension(x509.BasicConstraints(authority, None), critical=True)
        )
        if host:
            names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(signer or self.key, hashes.SHA256())


@pytest.mark.parametrize(
    ("certificate", "fault"),
    [
        ({}, None),
        ({"by_itself": True}, "certificate"),
        ({"days": -1}, "certificate"),
        ({"host": "127.0.0.2"}, "certificate"),
        (None, "tls"),
    ],
    ids=["good", "signed by itself", "expired", "of another host", "no TLS"],
)
def test_only_a_certificate_that_holds_is_spoken_to(port, tmp_path, certificate, fault):
    authority = Authority(tmp_path)
    server = None if certificate is None else authority.serving(**certificate)
    receiver = Receiver()

    outcome = post(
        port,
        receiver,
        message(port, scheme="https"),
        server=server,
        client=authority.trusting(),
    )

    assert outcome.fault == fault
    assert len(receiver.got) == (fault is None)


def test_an_old_protocol_is_no_tls(port, tmp_path):
    authority = Authority(tmp_path)
    server = authority.serving()
    server.minimum_version = ssl.TLSVersion.TLSv1_3
    client = authority.trusting()
    client.maximum_version = ssl.TLSVersion.TLSv1_2

    outcome = post(
        port, Receiver(), message(port, scheme="https"), server=server, client=client
    )

    assert outcome.fault == "tls"


def test_a_body_of_ten_megabytes_arrives_whole(port):
    body = b'{"data":"' + b"x" * (10 * 2**20) + b'"}'
    receiver = Receiver()

    outcome = post(port, receiver, message(port, body=body))

    assert (outcome.fault, outcome.code) == (None, 204)
    assert receiver.got[0][1] == body


def test_a_2xx_whose_body_drags_on_is_a_success(port, monkeypatch):
    monkeypatch.setattr(sending, "TIMEOUT_S", 0.1)

    async def drag(request):
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"began")
        await asyncio.Event().wait()

    outcome = post(port, Receiver(drag), message(port))

    assert (outcome.fault, outcome.code, outcome.body) == (None, 200, b"began")


async def execute(*statements):
    """On a connection of its own, as a receiver's answer is no place for Django's."""
    async with await connector()() as opened:
        for statement in statements:
            await opened.execute(statement)


@pytest.mark.django_db(transaction=True)
def test_an_outage_of_the_database_loses_and_repeats_nothing(
    alice_tenant, port, monkeypatch
):
    monkeypatch.setattr(worker, "RECONNECT_S", 0.01)
    make_endpoint(tenant=alice_tenant, url=f"http://127.0.0.1:{port}/in")
    make_events(5, tenant=alice_tenant)
    refused = []

    async def cut(_request):
        await execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'assay deliver_webhooks'"
            " AND datname = current_database() AND pid <> pg_backend_pid()"
        )
        is_down.append(True)
        return web.Response()

    async def connect():
        if is_down and len(refused) < 3:
            refused.append(True)
            raise psycopg.OperationalError("the database system is starting up")
        return await connector()()

    is_down = []
    receiver = Receiver(cut, lambda _request: web.Response())

    deliver(port, connect=connect, **{"in": receiver})

    assert len(refused) == 3
    assert len(receiver.got) == 5
    assert Attempt.objects.for_tenant(alice_tenant).count() == 5
    log = Delivery.objects.for_tenant(alice_tenant)
    assert set(log.values_list("status", flat=True)) == {"delivered"}


@pytest.mark.django_db(transaction=True)
def test_a_secret_that_no_key_opens_holds_up_no_other_endpoint(alice_tenant, port):
    url = f"http://127.0.0.1:{port}/in"
    broken = make_endpoint(tenant=alice_tenant, url=url)
    make_endpoint(tenant=alice_tenant, url=url)
    rows = Endpoint.objects.for_tenant(alice_tenant)
    rows.filter(pk=broken.pk).update(secret="not encrypted")
    make_events(40, tenant=alice_tenant)
    receiver = Receiver()

    deliver(port, **{"in": receiver})

    log = Delivery.objects.for_tenant(alice_tenant)
    assert len(receiver.got) == log.filter(status="delivered").count() == 40
    waiting = log.filter(endpoint=broken, status="pending", attempts=0)
    assert waiting.filter(leased_until__gt=timezone.now()).count() == 40


# What an hour back looks like: all that was stored is an hour ahead.
SET_BACK = (
    "UPDATE webhooks_endpoint SET paced_until = now() + interval '1 hour'",
    "UPDATE webhooks_delivery SET due_at = now() + interval '1 hour'"
    " WHERE status = 'pending' AND lease IS NULL",
)


@pytest.mark.django_db(transaction=True)
def test_a_clock_that_was_set_back_holds_nothing_up(alice_tenant, port, monkeypatch):
    monkeypatch.setattr(worker, "KEEP_UP_S", 0.0)
    url = f"http://127.0.0.1:{port}/in"
    make_endpoint(tenant=alice_tenant, url=url, rate_limit=1)
    make_events(2, tenant=alice_tenant)
    behind = []
    read_database_clock = leases.read_database_clock

    async def read(opened):
        return await read_database_clock(opened) - sum(behind)

    async def set_back(_request):
        await execute(*SET_BACK)
        behind.append(3600)
        return web.Response()

    monkeypatch.setattr(leases, "read_database_clock", read)
    receiver = Receiver(set_back, lambda _request: web.Response())

    deliver(port, **{"in": receiver})

    log = Delivery.objects.for_tenant(alice_tenant)
    assert [each.status for each in log] == ["delivered"] * 2
    assert len(receiver.got) == 2


@pytest.mark.django_db(transaction=True)
def test_only_what_waits_too_long_is_brought_nearer(alice_tenant):
    make_endpoint(tenant=alice_tenant)
    make_events(4, tenant=alice_tenant)
    log = Delivery.objects.for_tenant(alice_tenant).order_by("pk")
    on_ladder, late, replayed, leased = log
    now = timezone.now()
    soon, far = now + timedelta(seconds=299), now + timedelta(hours=1)
    log.filter(pk=on_ladder.pk).update(step=1, due_at=soon)
    log.filter(pk=late.pk).update(step=1, due_at=far)
    log.filter(pk=replayed.pk).update(lane=1, due_at=far)
    log.filter(pk=leased.pk).update(lease=7, leased_until=far)

    async def mend():
        async with await connector()() as opened:
            await leases.clamp_delivery_due_times(opened)

    asyncio.run(mend())

    mended = list(log.all())
    assert [each.due_at for each in mended[:3:2]] == [soon, far]
    assert soon < mended[1].due_at <= timezone.now() + timedelta(seconds=300)
    until = mended[3].leased_until
    assert mended[3].lease == 7
    assert now < until <= timezone.now() + timedelta(seconds=leases.LEASE_S)

"""Reports by mail from a real IMAP server to signed results of their orders.

Dovecot runs as a process on 127.0.0.1; a DNS server of dnspython has the lab's key.
Workers are killed with SIGKILL between storing a mail and filing it, and between
matching a document and the commit.
"""

from __future__ import annotations

import imaplib
import multiprocessing
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import dns.message
import dns.rdatatype
import dns.rrset
import pytest
from django.db import connection
from django.utils import timezone

from labs.models import Result, ResultVersion
from portal.lib.tenancy import acting_for
from reports.models import ParsingJob, ReceivedMail, ReportMailbox, UnmatchedDocument
from reports.operations.documents import reading
from reports.operations.jobs.submission import (
    ReportPart,
    ReportRequest,
    submit_report,
)
from reports.operations.mail import polling
from reports.operations.mail.mailbox import check_report_mailbox
from reports.operations.mail.polling import poll_report_mailbox
from tests.factories.accounts import ACTOR
from tests.jobs import make_all_due, run_waiting
from tests.reports.by_document import (
    make_order_by_document,
    report_pdf,
    sign_only_review,
)
from tests.reports.mails import (
    PDF,
    SELECTOR,
    make_mail,
    set_up_mailbox,
    sign_mail,
    signing_key,
)
from tests.reports.uploads import stored_files

DOVECOT = shutil.which("dovecot", path=f"{os.environ['PATH']}:/usr/sbin")
WAIT_S = 60
USER = "reports"
ROWS = (
    ("Glucose", "85", "mg/dL", "70 - 99"),
    ("Potassium", "4.1", "mmol/L", "3.5 - 5.1"),
    ("Sodium", "140", "mmol/L", "135 - 145"),
)
CONFIG = """
protocols = imap
listen = 127.0.0.1
base_dir = {folder}/run
log_path = {folder}/log
ssl = no
disable_plaintext_auth = no
default_internal_user = {internal}
default_internal_group = {internal_group}
default_login_user = {login}
first_valid_uid = 1
mail_location = maildir:{folder}/mail
namespace inbox {{
  inbox = yes
}}
passdb {{
  driver = static
  args = password=secret
}}
userdb {{
  driver = static
  args = uid={owner} gid={group} home={folder}/mail
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    address = 127.0.0.1
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
"""

pytestmark = [
    pytest.mark.long,
    pytest.mark.enable_socket,
    pytest.mark.skipif(
        DOVECOT is None,
        reason="dovecot is not installed: apt-get install dovecot-imapd",
    ),
]


@pytest.fixture
def server():
    """A mailbox on Dovecot; its port and how to put mails into it."""
    folder = Path(tempfile.mkdtemp(prefix="assay-dovecot-"))
    folder.chmod(0o755)
    (folder / "mail").mkdir()
    port = free_port()
    is_root = os.getuid() == 0
    me = pwd.getpwuid(os.getuid()).pw_name
    owner = pwd.getpwnam("nobody") if is_root else pwd.getpwuid(os.getuid())
    if is_root:
        shutil.chown(folder / "mail", owner.pw_uid, owner.pw_gid)
    (folder / "dovecot.conf").write_text(
        CONFIG.format(
            folder=folder,
            port=port,
            internal="dovecot" if is_root else me,
            internal_group="dovecot" if is_root else me,
            login="dovenull" if is_root else me,
            owner=owner.pw_uid,
            group=owner.pw_gid,
        )
    )
    assert DOVECOT is not None
    process = subprocess.Popen([DOVECOT, "-F", "-c", str(folder / "dovecot.conf")])
    try:
        wait_until(lambda: answers(port))
        yield Mailbox(port)
    finally:
        process.terminate()
        process.wait(WAIT_S)
        shutil.rmtree(folder)


class Mailbox:
    """The mailbox as its owner sees it."""

    def __init__(self, port):
        self.port = port

    @contextmanager
    def open(self):
        box = imaplib.IMAP4("127.0.0.1", self.port)
        box.login(USER, "secret")
        box.select("INBOX")
        yield box
        box.logout()

    def deliver(self, *raws):
        with self.open() as box:
            for raw in raws:
                status, _ = box.append("INBOX", None, None, raw)
                assert status == "OK"

    def create(self, folder):
        with self.open() as box:
            assert box.create(folder)[0] == "OK"

    def count(self, folder="INBOX"):
        with self.open() as box:
            return int(box.select(folder)[1][0])


@pytest.fixture
def dns_server(settings):
    """A DNS server that has the lab's key, until `silent` is set."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.bind(("127.0.0.1", 0))
    silent = threading.Event()

    def serve():
        while True:
            wire, sender = opened.recvfrom(4096)
            if not wire:
                return
            if silent.is_set():
                continue
            query = dns.message.from_wire(wire)
            reply = dns.message.make_response(query)
            name = query.question[0].name
            if str(name) == f"{SELECTOR}._domainkey.lab.example.":
                key = signing_key()[1].decode()
                parts = " ".join(
                    f'"{key[at : at + 200]}"' for at in range(0, len(key), 200)
                )
                reply.answer.append(
                    dns.rrset.from_text(name, 60, "IN", dns.rdatatype.TXT, parts)
                )
            opened.sendto(reply.to_wire(), sender)

    thread = threading.Thread(target=serve)
    thread.start()
    settings.MAIL_DNS_SERVERS = [f"127.0.0.1#{opened.getsockname()[1]}"]
    yield silent
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stop:
        stop.sendto(b"", opened.getsockname())
    thread.join()
    opened.close()


def free_port():
    """A port below those that the system gives to clients."""
    for port in range(21_000, 21_500):
        with socket.socket() as opened, suppress(OSError):
            opened.bind(("127.0.0.1", port))
            return port
    raise AssertionError


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as opened:
            return opened.recv(64).startswith(b"* OK")
    except OSError:
        return False


def wait_until(condition):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def kill_while_in(monkeypatch, module, name, work, *, after):
    """Run work in a process of its own; kill it before or after it calls a function."""
    reached = multiprocessing.get_context("fork").Event()
    real = getattr(module, name)

    def stop(*given, **named):
        if after:
            real(*given, **named)
        reached.set()
        time.sleep(WAIT_S)

    connection.close()  # each process opens its own
    with monkeypatch.context() as patched:
        patched.setattr(module, name, stop)
        worker = multiprocessing.get_context("fork").Process(target=work)
        worker.start()
        assert reached.wait(WAIT_S)
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
    assert worker.exitcode == -signal.SIGKILL


def outcomes(tenant):
    rows = ReceivedMail.objects.for_tenant(tenant).order_by("uid")
    return [(str(row.outcome), row.reason) for row in rows]


@pytest.mark.django_db(transaction=True)
def test_mailed_reports_become_signed_results_though_workers_are_killed(
    alice_tenant, server, dns_server, job_queue, settings, monkeypatch
):
    tenant = alice_tenant
    tenant.lab_report_human_review_enabled = True
    tenant.save()
    settings.LAB_NETWORKS = ["127.0.0.0/8"]
    server.create("Handled")
    set_up_mailbox(
        tenant,
        host="127.0.0.1",
        port=server.port,
        encryption="none",
        user_name=USER,
        handled_folder="Handled",
    )
    order = make_order_by_document(tenant=tenant)
    other = make_order_by_document(tenant=tenant)
    content = report_pdf(order, ROWS)
    signed = sign_mail(make_mail(content))
    forged = signed.replace(b"order 4711", b"order 4712")
    unsigned = make_mail(report_pdf(other, ROWS), number=2).as_bytes()
    again = sign_mail(make_mail(content, number=3))
    large = sign_mail(make_mail(content, b"%PDF" + bytes(14_000_000), number=4))

    # DNS is away: held, and nothing of it is stored.
    dns_server.set()
    monkeypatch.setattr("reports.gateways.signatures.DNS_TIMEOUT_S", 1)
    server.deliver(signed)
    poll_report_mailbox(tenant=tenant)
    assert outcomes(tenant) == [("held", "dns_unavailable")]
    assert (stored_files(), server.count()) == ([], 1)
    dns_server.clear()

    # Killed once a mail is stored, and before it is filed.
    server.deliver(forged, unsigned, again, large)

    def poll():
        with acting_for(tenant):
            poll_report_mailbox(tenant=tenant)

    kill_while_in(monkeypatch, polling, "_file", poll, after=False)
    assert outcomes(tenant) == [("accepted", "")]
    assert server.count() == len([signed, forged, unsigned, again, large])
    poll_report_mailbox(tenant=tenant)
    poll_report_mailbox(tenant=tenant)
    assert outcomes(tenant) == [
        ("accepted", ""),
        ("refused", "signature_invalid"),
        ("refused", "not_signed"),
        ("refused", "known_document"),
        ("refused", "mail_too_large"),
    ]
    assert (server.count(), server.count("Handled")) == (0, 5)
    document = UnmatchedDocument.objects.for_tenant(tenant).get()

    # Killed once the document is matched, and before that is committed.
    def read():
        with acting_for(tenant):
            reading.read_document(tenant_pk=tenant.pk, document_id=document.pk)

    kill_while_in(monkeypatch, reading, "submit_document_as_report", read, after=True)
    assert not ParsingJob.objects.for_tenant(tenant).exists()
    run_waiting()
    make_all_due()
    run_waiting()
    document.refresh_from_db()
    job = ParsingJob.objects.for_tenant(tenant).get()
    assert (str(document.status), document.job_id) == ("matched", job.pk)
    assert (job.order_id, str(job.status), job.hold_reasons) == (
        order.pk,
        "pending_review",
        [],
    )

    # The same file by hand is this report, and its values are one version.
    by_hand = submit_report(
        tenant=tenant,
        actor=ACTOR,
        request=ReportRequest(
            user_id=order.user.uuid,
            parts=(ReportPart(content, PDF),),
            order_id=order.pk,
        ),
    )
    assert by_hand.pk == job.pk
    sign_only_review(tenant)
    version = ResultVersion.objects.for_tenant(tenant).get()
    values = Result.objects.for_tenant(tenant).filter(version=version)
    assert version.order_id == order.pk
    assert sorted(values.values_list("result", flat=True)) == ["140", "4.1", "85"]
    mailbox = ReportMailbox.objects.for_tenant(tenant).get()
    assert mailbox.polled_at <= timezone.now()
    assert check_report_mailbox(tenant=tenant).failing_since is None

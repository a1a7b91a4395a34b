"""Mails of a lab: what is accepted, held and refused, and that nothing counts twice."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.core.mail.utils import DNS_NAME

from portal.lib.errors import Unavailable
from portal.lib.network import scanning
from reports.models import ReceivedMail, ReportMailbox, UnmatchedDocument
from reports.operations.mail import polling
from reports.operations.mail.polling import poll_report_mailbox
from tests.factories.reports import encrypt, make_pdf, make_picture
from tests.jobs import queued
from tests.outbox import emitted_types
from tests.reports.mails import (
    ADDRESS,
    LAB,
    PDF,
    make_mail,
    set_up_mailbox,
    sign_mail,
)
from tests.reports.uploads import stored_files

pytestmark = pytest.mark.django_db
MAILS_OF_ONE = 1
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.fixture
def mailbox(alice_tenant, server, dns):
    return set_up_mailbox(alice_tenant)


def outcomes(tenant):
    rows = ReceivedMail.objects.for_tenant(tenant).order_by("pk")
    return [(str(row.outcome), row.reason) for row in rows]


def documents(tenant):
    return UnmatchedDocument.objects.for_tenant(tenant).count()


@pytest.fixture
def poll(django_capture_on_commit_callbacks):
    """Poll a tenant's mailbox; return what became of its mails."""

    def visit(tenant):
        with django_capture_on_commit_callbacks(execute=True):
            poll_report_mailbox(tenant=tenant)
        return outcomes(tenant)

    return visit


def test_a_signed_mail_of_a_listed_sender_is_accepted_and_marked_as_read(
    alice_tenant, server, poll, mailbox
):
    server.deliver(sign_mail(make_mail(make_pdf())))

    assert poll(alice_tenant) == [("accepted", "")]

    document = UnmatchedDocument.objects.for_tenant(alice_tenant).get()
    mail = document.mail
    assert (document.status, document.content_type) == ("reading", PDF)
    assert document.source_label == mail.sender_domain == "lab.example"
    assert mail.filed_at is not None
    assert (server.seen, server.moved) == ([1], [])
    assert [job.name for job in queued()] == ["reports.read_document"]
    mailbox.refresh_from_db()
    assert (mailbox.last_uid, mailbox.fault) == (1, "")
    assert mailbox.polled_at is not None

    poll(alice_tenant)  # again: nothing changes
    assert (server.seen, documents(alice_tenant)) == ([1], 1)


def signed(*files, domain="lab.example", options=None, **wanted):
    return sign_mail(make_mail(*files, **wanted), domain=domain, **(options or {}))


def pdf():
    return make_pdf()


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: make_mail(pdf()).as_bytes(), "not_signed"),
        (lambda: signed(pdf(), domain="elsewhere.example"), "not_signed"),
        (lambda: signed(pdf(), domain="example"), "not_signed"),
        (lambda: signed(pdf(), options={"length": True}), "not_signed"),
        (lambda: signed(pdf()).replace(b"4711", b"4712"), "signature_invalid"),
        (
            lambda: signed(
                pdf(), domain="no-key.lab.example", sender="a@no-key.lab.example"
            ),
            "sender_not_listed",
        ),
        (lambda: signed(pdf(), sender="x@other.example"), "sender_not_listed"),
        (lambda: signed(pdf(), sender=f"{LAB}, x@other.example"), "sender_unclear"),
        (lambda: b"From: evil@other.example\r\n" + signed(pdf()), "sender_unclear"),
        (lambda: b"", "sender_unclear"),
        (lambda: b"\xff\x00\x1b" * 500, "sender_unclear"),
        (lambda: signed(pdf(), sender=ADDRESS), "own_mail"),
        (
            lambda: signed(pdf()).replace(
                b"<1@lab.example>", f"<1@{DNS_NAME}>".encode()
            ),
            "own_mail",
        ),
        (
            lambda: signed(pdf(), headers={"Auto-Submitted": "auto-replied"}),
            "automatic_reply",
        ),
        (lambda: b"Return-Path: <>\r\n" + signed(pdf()), "automatic_reply"),
        (lambda: signed(pdf(), headers={"List-Id": "<a.example>"}), "mailing_list"),
        (lambda: signed(pdf(), headers={"Precedence": "bulk"}), "mailing_list"),
        (lambda: signed(), "no_document"),
        (lambda: signed(*[pdf()] * 201), "mail_malformed"),
        (lambda: signed(encrypt(make_pdf())), "encrypted_file"),
        (lambda: signed(b"%PDF-1.7 torn"), "unreadable_file"),
        (lambda: signed((b"hello", PDF, "r.pdf")), "unsupported_file_type"),
        (lambda: signed(pdf(), (b"PK", DOCX, "r.docx")), "unsupported_file_type"),
        (
            lambda: signed((make_picture("PNG"), "image/jpeg", "r.jpg")),
            "file_type_mismatch",
        ),
        (
            lambda: signed(*(make_pdf(pages=1 + n) for n in range(9))),
            "too_many_files",
        ),
        (lambda: signed(pdf(), b"x" * 10_485_760), "file_too_large"),
        (lambda: signed(b"x" * 13_000_000), "mail_too_large"),
    ],
)
def test_a_mail_that_may_not_count_is_refused_whole(
    build, reason, alice_tenant, server, poll, mailbox
):
    server.deliver(build())

    assert poll(alice_tenant) == [("refused", reason)]

    assert (documents(alice_tenant), stored_files(), queued()) == (0, [], [])
    assert server.seen == [1]
    assert emitted_types(alice_tenant) == []


def test_files_beside_the_report_that_mean_nothing_are_left_out(
    alice_tenant, server, poll, mailbox
):
    mail = make_mail(
        make_pdf(),
        (make_pdf(pages=2), "application/octet-stream", "second.PDF"),
        (make_picture("PNG"), "image/png", "scan.png"),
        (b"BEGIN:VCARD", "text/vcard", "me.vcf"),
        headers={"Auto-Submitted": "auto-generated"},  # a laboratory's system
    )
    logo = mail.get_body()
    logo.add_related(make_picture("JPEG"), "image", "jpeg", cid="<logo@lab.example>")
    server.deliver(sign_mail(mail))

    assert poll(alice_tenant) == [("accepted", "")]
    kinds = UnmatchedDocument.objects.for_tenant(alice_tenant).order_by("size")
    assert sorted(kinds.values_list("content_type", flat=True)) == [
        PDF,
        PDF,
        "image/png",
    ]


def test_a_mail_is_held_until_dns_scanner_and_storage_answer(
    alice_tenant, server, poll, dns, mailbox, settings, monkeypatch
):
    server.deliver(sign_mail(make_mail(make_pdf())))
    dns.is_away = True
    assert poll(alice_tenant) == [("held", "dns_unavailable")]
    assert (documents(alice_tenant), server.seen) == (0, [])

    dns.is_away = False
    settings.UPLOAD_SCANNER = "clamd://127.0.0.1:1"
    monkeypatch.setitem(scanning.SCANNERS, "clamd", silent)
    assert poll(alice_tenant) == [("held", "scanner_unavailable")]
    assert (documents(alice_tenant), stored_files(), server.seen) == (0, [], [])

    server.deliver(sign_mail(make_mail(make_pdf(pages=2), number=2)))  # waits as well
    assert poll(alice_tenant) == [("held", "scanner_unavailable")] * 2
    monkeypatch.setitem(scanning.SCANNERS, "clamd", lambda _upload: True)
    assert poll(alice_tenant) == [("accepted", "")] * 2
    assert (documents(alice_tenant), server.seen) == (2, [1, 2])

    server.deliver(sign_mail(make_mail(make_pdf(pages=3), number=3)))
    monkeypatch.setitem(scanning.SCANNERS, "clamd", lambda _upload: False)
    assert poll(alice_tenant)[-1] == ("refused", "file_infected")
    assert len(stored_files()) == documents(alice_tenant)

    server.deliver(sign_mail(make_mail(make_pdf(pages=4), number=4)))
    dns.is_away = True
    assert poll(alice_tenant)[-1] == ("held", "dns_unavailable")
    server.mails.clear()  # deleted meanwhile
    assert poll(alice_tenant)[-1] == ("refused", "mail_removed")


def silent(_upload: BytesIO) -> bool:
    raise scanning.ScannerSilent


def test_a_document_counts_once_however_often_it_is_mailed(
    alice_tenant, server, poll, mailbox, monkeypatch
):
    raw = sign_mail(make_mail(make_pdf()))
    server.deliver(raw, sign_mail(make_mail(make_pdf(), number=2)))
    assert poll(alice_tenant) == [("accepted", ""), ("refused", "known_document")]

    server.uid_validity = 2  # the server counts anew
    assert len(poll(alice_tenant)) == len(server.mails)
    server.deliver(raw)  # the same mail again
    assert len(poll(alice_tenant)) == len(server.mails) - 1
    assert outcomes(alice_tenant)[0] == ("accepted", "")
    assert documents(alice_tenant) == len(stored_files()) == 1

    # Stored, and then nothing: neither read nor moved.
    server.deliver(sign_mail(make_mail(make_pdf(pages=2), number=3)))
    server.stores_fail = True
    poll(alice_tenant)
    box = ReportMailbox.objects.for_tenant(alice_tenant).get()
    assert (box.fault, documents(alice_tenant)) == ("protocol", 2)
    server.stores_fail = False
    poll(alice_tenant)
    box.refresh_from_db()
    assert (box.fault, box.failing_since) == ("", None)
    assert server.seen[-1] == max(server.mails)
    assert documents(alice_tenant) == len(stored_files()) == len({1, 2})

    def broken(**_given):
        raise Unavailable("storage_unavailable", "away")

    server.deliver(sign_mail(make_mail(make_pdf(pages=3), number=4)))
    monkeypatch.setattr(polling, "store_documents", broken)
    with pytest.raises(Unavailable):
        poll(alice_tenant)
    assert documents(alice_tenant) == len(stored_files()) == len({1, 2})
    assert len(outcomes(alice_tenant)) == len({1, 2, 3})


def test_a_server_that_fails_is_shown_and_visited_again(
    alice_tenant, server, poll, mailbox
):
    for refuses, fault in (
        ("connect", "unreachable"),
        ("sign_in", "sign_in"),
        ("folder", "folder"),
    ):
        server.refuses = refuses
        poll(alice_tenant)
        mailbox.refresh_from_db()
        assert mailbox.fault == fault
        assert mailbox.failing_since is not None
    server.refuses = ""
    poll(alice_tenant)
    mailbox.refresh_from_db()
    assert (mailbox.fault, mailbox.failing_since) == ("", None)


def test_handled_mails_are_moved_where_the_team_says(alice_tenant, server, poll, dns):
    set_up_mailbox(alice_tenant, handled_folder="Handled & done")
    server.deliver(sign_mail(make_mail(make_pdf())))

    poll(alice_tenant)

    assert (server.seen, server.moved, server.mails) == ([1], [1], {})

from __future__ import annotations

import re

import pytest
import time_machine
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from accounts.declarations.mails import load_mail_kinds
from accounts.models import AuditEntry, MailText
from accounts.operations.mails.composing import compose_mail
from accounts.operations.mails.texts import (
    TESTS_AN_HOUR,
    change_mail_text,
    compose_sample_mail,
    reset_mail_text,
    send_test_mail,
)
from accounts.queries.mail_texts import Wording, get_default_wording
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError, NotFound
from portal.lib.languages import LANGUAGE_NAMES
from tests.factories.accounts import ACTOR

pytestmark = pytest.mark.django_db
LINK = "https://assay.example/connect/?token=a&b=1"
BODY = "Hi from {company}.\n\nUse {link} soon, or:\n{link}\n\nEnds {date}."
VALUES = {"link": LINK, "date": "12 May 2026, 10:00"}


def change(tenant, *, subject="From {company}", body=BODY, language="en"):
    return change_mail_text(
        tenant=tenant,
        actor=ACTOR,
        kind="connect_link",
        language=language,
        subject=subject,
        body=body,
    )


def compose(tenant, language="en", **changes):
    return compose_mail(
        tenant=tenant,
        kind="connect_link",
        language=language,
        values=VALUES | changes,
    )


def audited(tenant):
    rows = AuditEntry.objects.for_tenant(tenant).filter(subject="mail_text")
    return list(rows.order_by("id").values_list("verb", "subject_id", "changes"))


def as_actor(member):
    return Actor(ActorKind.MEMBER, str(member.pk), member.email)


def stored(tenant):
    return list(MailText.objects.for_tenant(tenant).values()), audited(tenant)


def test_a_team_s_text_is_sent_in_its_language_and_default_in_others(alice_tenant):
    alice_tenant.brand_information = {
        "company_name": "North & <b>Sons</b> {link}",
        "brand_color": "#ffd400",
        "support_email": "help@north.example",
    }
    alice_tenant.logo_url = "https://north.example/logo.png"
    alice_tenant.save()
    before = compose(alice_tenant, "de")
    change(alice_tenant, subject="  From {company}  ", body=BODY.replace("\n", "\r\n"))

    sent, german = compose(alice_tenant), compose(alice_tenant, "de")

    assert sent.subject == "From North & <b>Sons</b> {link}"
    assert sent.text == (
        "Hi from North & <b>Sons</b> {link}.\n\n"
        f"Use {LINK} soon, or:\n{LINK}\n\nEnds 12 May 2026, 10:00.\n\n"
        "North & <b>Sons</b> {link}\nhelp@north.example\n"
    )
    assert sent.reply_to == "help@north.example"
    assert "North &amp; &lt;b&gt;Sons&lt;/b&gt; {link}." in sent.html
    assert "<b>" not in sent.html
    assert 'src="https://north.example/logo.png"' in sent.html
    assert re.findall(r'class="button" href="([^"]+)"', sent.html) == [
        LINK.replace("&", "&amp;")
    ]
    assert "background:#ffd400;color:#000000" in sent.html
    assert german == before
    assert german.subject.startswith("Verbinden Sie Ihre Geräte und Apps mit North")
    assert '<html lang="de">' in german.html


@pytest.mark.parametrize(
    ("subject", "body", "code", "field"),
    [
        ("", BODY, "subject_missing", "subject"),
        ("x" * 151, BODY, "subject_too_long", "subject"),
        ("Hi\nBcc: all@assay.example", BODY, "subject_invalid", "subject"),
        ("Hi\r\nBcc: all@assay.example", BODY, "subject_invalid", "subject"),
        ("Hi \u202eelpmaxe", BODY, "subject_invalid", "subject"),
        ("Open {link}", BODY, "placeholder_unknown", "subject"),
        ("Hi {user.email}", BODY, "placeholder_unknown", "subject"),
        ("Hi", " \n ", "body_missing", "body"),
        ("Hi", "x" * 4001, "body_too_long", "body"),
        ("Hi", f"{BODY}\x00", "body_invalid", "body"),
        ("Hi", f"{BODY} {{birth_date}}", "placeholder_unknown", "body"),
        ("Hi", f"{BODY} {{", "placeholder_unknown", "body"),
        ("Hi", f"{BODY} {{{{link}}}}", "placeholder_unknown", "body"),
        ("Hi", "Open https://other.example", "placeholder_missing", "body"),
    ],
)
def test_what_no_mail_may_say_is_refused(alice_tenant, subject, body, code, field):
    before = stored(alice_tenant)

    with pytest.raises(DomainError) as refused:
        change(alice_tenant, subject=subject, body=body)

    assert (refused.value.code, refused.value.field) == (code, field)
    assert stored(alice_tenant) == before


def test_a_text_is_changed_and_reset_with_an_audit_entry_each(alice_tenant):
    default = get_default_wording(kind="connect_link", language="es")

    change(alice_tenant, language="es")
    change(alice_tenant, language="es")
    change(alice_tenant, language="es", subject="Otra vez")
    for _ in range(2):
        reset_mail_text(
            tenant=alice_tenant, actor=ACTOR, kind="connect_link", language="es"
        )
    change(
        alice_tenant, language="es", subject=default.subject, body=f"{default.body}\n"
    )

    target = "connect_link/es"
    assert audited(alice_tenant) == [
        (
            "change_mail_text",
            target,
            {
                "subject": [default.subject, "From {company}"],
                "body": [default.body, BODY],
            },
        ),
        ("change_mail_text", target, {"subject": ["From {company}", "Otra vez"]}),
        (
            "reset_mail_text",
            target,
            {"subject": ["Otra vez", default.subject], "body": [BODY, default.body]},
        ),
    ]
    assert not MailText.objects.for_tenant(alice_tenant).exists()


def test_another_team_s_text_is_its_own(alice_tenant, charlie_tenant):
    change(alice_tenant)

    assert compose(charlie_tenant).subject == (
        f"Connect your devices and apps to {charlie_tenant.team.name}"
    )


def test_unknown_mails_and_languages_are_not_found(alice_tenant):
    for kind, language in (("letter", "en"), ("connect_link", "nl")):
        with pytest.raises(NotFound):
            change_mail_text(
                tenant=alice_tenant,
                actor=ACTOR,
                kind=kind,
                language=language,
                subject="Hi",
                body=BODY,
            )
    assert audited(alice_tenant) == []


def test_a_test_goes_to_the_member_alone_and_not_without_end(alice_tenant, alice):
    def send():
        send_test_mail(
            tenant=alice_tenant,
            actor=as_actor(alice),
            member=alice,
            kind="connect_link",
            language="fr",
        )

    with time_machine.travel("2026-05-04T10:00:00Z", tick=False) as clock:
        for _ in range(TESTS_AN_HOUR):
            send()
        with pytest.raises(DomainError) as refused:
            send()
        clock.shift(3601)
        send()

    assert refused.value.code == "test_mail_limit"
    assert [sent.to for sent in mail.outbox] == [[alice.email]] * (TESTS_AN_HOUR + 1)
    first = mail.outbox[0]
    assert first.subject.startswith("[Test] ")
    assert "11 mai 2026, 10:00 UTC" in first.body
    assert [part.get_content_type() for part in first.message().walk()] == [
        *("multipart/alternative", "text/plain", "text/html")
    ]
    assert [verb for verb, *_ in audited(alice_tenant)] == (
        ["send_test_mail"] * (TESTS_AN_HOUR + 1)
    )


def test_a_test_that_the_server_refuses_says_so(alice_tenant, alice, monkeypatch):
    def refuse(*_):
        raise ConnectionRefusedError

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)

    with pytest.raises(DomainError) as refused:
        send_test_mail(
            tenant=alice_tenant,
            actor=as_actor(alice),
            member=alice,
            kind="reconnect",
            language="en",
        )

    assert refused.value.code == "mail_refused"


def test_every_default_may_be_saved_as_it_is_in_every_language(alice_tenant, alice):
    for name in load_mail_kinds():
        for language in LANGUAGE_NAMES:
            default = get_default_wording(kind=name, language=language)
            kept = change_mail_text(
                tenant=alice_tenant,
                actor=ACTOR,
                kind=name,
                language=language,
                subject=default.subject,
                body=default.body,
            )
            sample = compose_sample_mail(
                tenant=alice_tenant, member=alice, kind=name, language=language
            )

            assert kept == Wording(default.subject, default.body), name
            assert not re.search(r"[{}]|%\(", sample.subject + sample.text), name
    assert audited(alice_tenant) == []

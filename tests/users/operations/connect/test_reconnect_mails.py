"""Mails that ask users to connect a broken source again."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from smtplib import SMTPException

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client

from accounts.operations.teams.teams import change_team_settings
from portal.lib.errors import NotFound
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.sources import FakeSource
from tests.factories.users import make_user
from tests.jobs import queued
from tests.users.factories import info_request
from users import jobs
from users.gateways.base import Grant
from users.models import (
    Connection,
    ConnectionEntry,
    LinkSession,
    SourceCredentials,
    UserInfo,
)
from users.operations.connect.reconnect_mails import (
    MailNotAccepted,
    build_stop_link,
    find_user_of_mail_token,
)
from users.operations.sources.cloud_sources import connect_cloud_source
from users.operations.sources.connections import (
    RECONNECT_MAIL_JOB,
    mark_connection_failed,
)
from users.operations.sources.sources import connect_source, disconnect_source
from users.operations.users.demographics import record_user_info
from users.operations.users.users import delete_user
from users.states import ConnectionFault
from users.states.credentials import CredentialsState

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ADDRESS = "ada@example.com"


@pytest.fixture(autouse=True)
def _noon(time_machine, monkeypatch):
    time_machine.move_to(NOON, tick=False)
    fitbit = FakeSource("fitbit")
    monkeypatch.setattr("users.gateways.sources.SOURCE_GATEWAYS", {"fitbit": fitbit})


@pytest.fixture
def team(alice_tenant):
    """A team that has its users mailed."""
    return change_team_settings(
        tenant=alice_tenant,
        actor=ACTOR,
        settings={"source_reconnect_mails_enabled": True},
    )


@pytest.fixture
def broken(team):
    """A source whose permission ended; its user has an address."""
    user = make_user(tenant=team)
    record_user_info(user=user, actor=ACTOR, request=info_request(email=ADDRESS))
    connection = connect_cloud_source(
        user=user,
        actor=ACTOR,
        provider="fitbit",
        grant=Grant(access_token="a", external_user_id="cloud-7"),
    )
    fail(connection)
    return connection


def fail(connection, fault=ConnectionFault.TOKEN_REFRESH_FAILED):
    connection.refresh_from_db()
    mark_connection_failed(connection=connection, actor=ACTOR, fault=fault)


def send(connection):
    jobs.mail_user_to_connect_again(
        tenant_pk=connection.tenant_id, connection_pk=connection.pk
    )
    return len(mail.outbox)


def asked():
    return [job.inputs for job in queued() if job.name == RECONNECT_MAIL_JOB]


def link_in(message):
    return re.search(r"https?://\S+/connect/\?token=\S+", message.body)[0]


def test_a_mail_says_what_to_do_and_names_neither_source_nor_user(broken):
    assert send(broken) == 1

    (message,) = mail.outbox
    assert message.to == [ADDRESS]
    assert message.subject == "Sign in again to keep sending data to Alice Health"
    assert "2. Select “Sign in again”." in message.body
    stop = build_stop_link(broken.user)
    assert stop in message.body
    assert message.extra_headers == {
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    for private in ("Fitbit", "fitbit", "Ada", broken.user.client_user_id):
        assert private not in message.body + message.subject
    session = LinkSession.objects.for_tenant(broken.tenant).get()
    assert (session.provider, session.expires_at) == ("fitbit", NOON + 7 * DAY)
    entries = ConnectionEntry.objects.for_tenant(broken.tenant).order_by("id")
    assert [each.kind for each in entries] == ["connected", "failed", "emailed"]


def test_a_mail_is_in_the_language_that_its_user_chose(broken):
    broken.user.language = "es"
    broken.user.save(update_fields=["language"])

    assert send(broken) == 1

    (message,) = mail.outbox
    assert message.subject == (
        "Vuelva a iniciar sesión para seguir enviando datos a Alice Health"
    )
    assert "que caduca el 16 de marzo de 2026, 12:00 UTC:" in message.body


def test_two_taps_mend_the_source_and_keep_its_history(broken):
    send(broken)
    phone = Client()

    page = phone.get(link_in(mail.outbox[0]), follow=True)
    shown = page.content.decode()
    tap = re.search(r'href="([^"]+/fitbit/sign-in/)"[^>]*>Sign in again', shown)[1]
    away = phone.get(tap)
    state = re.search(r"state=([^&]+)", away["Location"])[1]
    done = phone.get(f"/connect/back/fitbit/?state={state}&code=good", follow=True)

    assert away["Location"].startswith("https://cloud.example/authorise")
    assert "<b>Fitbit is connected.</b>" in done.content.decode()
    kept = Connection.objects.for_tenant(broken.tenant).get()
    assert (kept.pk, kept.status, kept.error_type) == (broken.pk, "connected", "")
    entries = ConnectionEntry.objects.for_tenant(broken.tenant).order_by("id")
    assert [each.kind for each in entries][:4] == [
        *("connected", "failed", "emailed", "mended")
    ]


def test_each_break_is_mailed_once_and_a_source_once_a_week(broken, time_machine):
    first = [send(broken), send(broken)]
    for days in (3, 8):
        time_machine.move_to(NOON + days * DAY, tick=False)
        connect_source(user=broken.user, actor=ACTOR, provider="fitbit")
        fail(broken)
        first.append(send(broken))

    assert first == [1, 1, 1, 2]
    assert len(asked()) == 3


def test_a_mail_that_is_not_accepted_is_tried_again(broken, monkeypatch):
    def refuse(_mail):
        raise SMTPException("full")

    with monkeypatch.context() as refusing:
        refusing.setattr(EmailMessage, "send", refuse)
        with pytest.raises(MailNotAccepted):
            send(broken)
    links = LinkSession.objects.for_tenant(broken.tenant).count()

    assert (links, send(broken), send(broken)) == (0, 1, 1)


def without_address(connection):
    UserInfo.objects.for_tenant(connection.tenant).delete()


def turned_off(connection):
    change_team_settings(
        tenant=connection.tenant,
        actor=ACTOR,
        settings={"source_reconnect_mails_enabled": False},
    )


def mended(connection):
    connect_source(user=connection.user, actor=ACTOR, provider="fitbit")


def ended(connection):
    disconnect_source(user=connection.user, actor=ACTOR, provider="fitbit")


def deleted(connection):
    delete_user(user=connection.user, actor=ACTOR)


def not_the_user_s_fault(connection):
    mended(connection)
    fail(connection, ConnectionFault.UNKNOWN)


def application_rejected(connection):
    SourceCredentials(
        tenant=connection.tenant,
        provider="fitbit",
        client_id="id",
        client_secret="x",
        state=CredentialsState.REJECTED,
    ).save(force_insert=True)


def stopped(connection):
    Client().post(build_stop_link(connection.user))


@pytest.mark.parametrize(
    "change",
    [
        *(without_address, turned_off, mended, ended, deleted),
        *(not_the_user_s_fault, application_rejected, stopped),
    ],
)
def test_nothing_is_sent_where_a_mail_would_not_help(broken, change):
    change(broken)
    links = LinkSession.unscoped.count()

    assert send(broken) == 0
    assert LinkSession.unscoped.count() == links


def test_a_team_that_did_not_turn_them_on_asks_for_none(alice_tenant):
    connection = connect_source(
        user=make_user(tenant=alice_tenant), actor=ACTOR, provider="fitbit"
    )
    fail(connection)

    assert asked() == []
    assert send(connection) == 0


def test_a_user_stops_the_mails_with_one_click(broken):
    browser = Client(enforce_csrf_checks=True)
    link = build_stop_link(broken.user)

    looked = browser.get(link)
    user = find_user_of_mail_token(link.partition("token=")[2])
    before = user.reconnect_mails_stopped_at
    clicked = [browser.post(link, {"List-Unsubscribe": "One-Click"}) for _ in range(2)]

    user.refresh_from_db()
    assert (looked.status_code, before) == (200, None)
    assert [each.status_code for each in clicked] == [200, 200]
    assert user.reconnect_mails_stopped_at == NOON
    assert broken.user.client_user_id not in looked.content.decode()
    verbs = [each[0] for each in audited(broken.tenant)]
    assert verbs.count("stop_reconnect_mails") == 1
    assert "no-referrer" in looked["Referrer-Policy"]


def test_a_forged_token_is_no_link(broken):
    forged = build_stop_link(broken.user)[:-3] + "abc"

    reply = Client().post(forged)

    broken.user.refresh_from_db()
    assert reply.status_code == 404
    assert broken.user.reconnect_mails_stopped_at is None
    with pytest.raises(NotFound):
        find_user_of_mail_token("1-" + "0" * 32)

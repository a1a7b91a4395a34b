from __future__ import annotations

import secrets
from datetime import timedelta
from smtplib import SMTPAuthenticationError

import pytest
from django.utils import timezone

from accounts.declarations.go_live import GoLiveResult
from accounts.webhooks.models import Endpoint
from portal.ops import health, key_rotation
from portal.ops.backup_notes import BackupNote, record_backup_time
from portal.ops.go_live import (
    read_backup,
    read_encryption_keys,
    read_mail,
    try_encryption_keys,
    try_mail,
)
from portal.ops.key_rotation import find_secrets_under_old_keys
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import make_endpoint

pytestmark = pytest.mark.django_db

LONG = timedelta(minutes=1)


@pytest.fixture
def keys(settings):
    """Call it to replace the keys, newest first."""

    def replace(*keys):
        settings.ENCRYPTION_KEYS = list(keys)

    return replace


class MailServer:
    def __init__(self, fault=None):
        self.fault = fault

    def open(self):
        if self.fault:
            raise self.fault

    def close(self):
        pass


def test_mail_without_a_server_is_missing(alice_production, settings):
    settings.EMAIL_URL = ""

    assert read_mail(alice_production) == GoLiveResult("missing")
    assert try_mail(alice_production, ACTOR) is None


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (None, "connected"),
        (TimeoutError(), "failed"),
        (SMTPAuthenticationError(535, b"no such user: ops"), "failed"),
    ],
)
def test_mail_is_tried_and_the_server_is_not_quoted(
    alice_production, monkeypatch, fault, code
):
    monkeypatch.setattr(health, "get_connection", lambda **_: MailServer(fault))

    assert read_mail(alice_production) is None
    assert try_mail(alice_production, ACTOR) == GoLiveResult(code)


def test_keys_that_are_missing_or_weak_are_read(alice_production, keys):
    keys()
    missing = read_encryption_keys(alice_production)
    keys("short")

    assert missing == GoLiveResult("missing")
    assert read_encryption_keys(alice_production) == GoLiveResult("weak")
    assert try_encryption_keys(alice_production, ACTOR) is None


def test_a_secret_under_an_older_key_is_found_whoever_has_it(
    alice_production, charlie_tenant, keys
):
    old, new = secrets.token_urlsafe(50), secrets.token_urlsafe(50)
    keys(old)
    make_endpoint(tenant=charlie_tenant)
    newest = try_encryption_keys(alice_production, ACTOR)
    keys(new, old)

    found = try_encryption_keys(alice_production, ACTOR)

    assert (newest, found) == (GoLiveResult("newest_key"), GoLiveResult("old_keys"))
    assert read_encryption_keys(alice_production) is None


def test_an_unreadable_secret_counts_as_one_under_an_older_key(
    alice_production, charlie_tenant, keys
):
    keys(secrets.token_urlsafe(50))
    make_endpoint(tenant=charlie_tenant)
    keys(secrets.token_urlsafe(50))

    assert find_secrets_under_old_keys(limit=LONG) is True


def test_the_search_for_old_keys_ends_in_time(alice_tenant, keys, monkeypatch):
    keys(secrets.token_urlsafe(50))
    for _number in range(2):
        make_endpoint(tenant=alice_tenant)
    stored = list(Endpoint.objects.for_tenant(alice_tenant).values_list("secret"))
    ticks = iter([0.0, 0.5, 2.0])
    monkeypatch.setattr(key_rotation.time, "monotonic", lambda: next(ticks))

    assert find_secrets_under_old_keys(limit=timedelta(seconds=1)) is None
    assert list(Endpoint.objects.for_tenant(alice_tenant).values_list("secret")) == (
        stored
    )


def test_a_backup_is_missing_recent_or_old(alice_production):
    missing = read_backup(alice_production)
    record_backup_time()
    recent = read_backup(alice_production)
    BackupNote.objects.update(made_at=timezone.now() - timedelta(hours=49))

    assert missing == GoLiveResult("missing")
    assert recent == GoLiveResult("recent", {"hours": "0"})
    assert read_backup(alice_production) == GoLiveResult("old", {"hours": "49"})

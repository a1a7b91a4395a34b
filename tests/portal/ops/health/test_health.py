from __future__ import annotations

import json
import secrets
import shutil
import socket
import stat
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from accounts.webhooks.queries.deliverers import DELIVERER_NAME as NAME
from portal.lib.jobs.jobs import HEARTBEAT_TIMEOUT_SECONDS
from portal.ops import health
from portal.ops.backup_notes import record_backup_time


@pytest.fixture
def beat(db):
    """Record a worker's heartbeat of so many seconds ago, as the job library does."""

    def record(*, seconds_ago):
        with connection.cursor() as cursor:
            # This connection is the deliverer, too.
            cursor.execute("SELECT set_config('application_name', %s, true)", [NAME])
            cursor.execute(
                "INSERT INTO procrastinate_workers (last_heartbeat)"
                " VALUES (now() - make_interval(secs => %s))",
                [seconds_ago],
            )

    return record


@pytest.fixture
def no_database(monkeypatch):
    def refuse():
        raise OperationalError("connection refused")

    monkeypatch.setattr(connection, "cursor", refuse)


def answer(path):
    reply = Client().get(path)
    return reply.status_code, json.loads(reply.content)


def test_healthz_asks_no_database():
    # No database mark: a query would fail this test.
    assert answer("/healthz") == (200, {"status": "ok"})


def test_probes_may_come_over_plain_http_and_by_address(settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.ALLOWED_HOSTS = ["assay.example"]

    reply = Client(headers={"host": "192.0.2.10"}).get("/healthz")

    assert reply.status_code == 200


def test_readyz_is_well_with_a_worker_that_reported_lately(beat):
    beat(seconds_ago=1)

    assert answer("/readyz") == (200, {"status": "ok"})


def test_readyz_asks_five_queries(beat, django_assert_num_queries):
    beat(seconds_ago=1)
    answer("/readyz")

    with django_assert_num_queries(5):
        answer("/readyz")


@pytest.mark.django_db
def test_readyz_names_worker_and_deliverer_when_none_runs():
    failed = ["worker", "deliverer"]

    assert answer("/readyz") == (503, {"status": "failing", "failed": failed})


def test_a_deliverer_that_asks_no_more_is_told(beat, monkeypatch):
    beat(seconds_ago=1)
    monkeypatch.setattr(health, "measure_seconds_since_deliverer_seen", lambda: 61.0)

    assert answer("/readyz") == (503, {"status": "failing", "failed": ["deliverer"]})


def test_readyz_names_the_worker_when_all_fell_silent(beat):
    beat(seconds_ago=HEARTBEAT_TIMEOUT_SECONDS + 5)

    assert answer("/readyz") == (503, {"status": "failing", "failed": ["worker"]})


def test_one_live_worker_among_dead_ones_is_enough(beat):
    beat(seconds_ago=HEARTBEAT_TIMEOUT_SECONDS + 5)
    beat(seconds_ago=1)

    assert answer("/readyz") == (200, {"status": "ok"})


def test_readyz_names_migrations_that_are_not_applied(beat):
    beat(seconds_ago=1)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'accounts'")

    assert answer("/readyz") == (503, {"status": "failing", "failed": ["migrations"]})


@pytest.mark.usefixtures("no_database")
@pytest.mark.django_db
def test_readyz_names_the_database_alone_when_it_is_silent():
    assert answer("/readyz") == (503, {"status": "failing", "failed": ["database"]})


def test_health_answers_are_refused_to_writes():
    assert Client().post("/healthz").status_code == 405
    assert Client().post("/readyz").status_code == 405


def test_readyz_is_never_cached(beat):
    beat(seconds_ago=1)

    assert "no-store" in Client().get("/readyz").headers["Cache-Control"]


@pytest.mark.django_db
def test_a_kept_connection_that_broke_is_made_anew(transactional_db):
    connection.ensure_connection()
    connection.connection.close()

    assert health.check_database().ok


@pytest.mark.django_db
def test_the_role_of_the_suite_is_fit_for_production():
    assert health.check_database_role().ok


@pytest.mark.parametrize(("number", "ok"), [(140_022, False), (150_000, True)])
@pytest.mark.django_db
def test_postgres_15_is_the_floor(monkeypatch, number, ok):
    monkeypatch.setitem(connection.__dict__, "pg_version", number)

    assert health.check_database_version().ok is ok


@pytest.mark.django_db
def test_clocks_that_differ_are_told(time_machine):
    time_machine.move_to(timezone.now() + timedelta(seconds=60))

    finding = health.check_database_clock()

    assert not finding.ok
    assert "60." in finding.sentence


def test_mail_to_files_is_well_and_says_how_to_send(settings):
    settings.EMAIL_URL = ""
    settings.EMAIL_BACKEND = "portal.lib.secrets.private_files.PrivateFileBackend"
    settings.EMAIL_FILE_PATH = settings.VAR_DIR / "mail"

    finding = health.check_mail_server()

    assert finding.ok
    assert "EMAIL_URL" in finding.sentence


@pytest.fixture
def deaf_port():
    """A port that is taken and on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_a_mail_server_that_does_not_answer_is_told_without_its_password(
    settings, deaf_port
):
    settings.EMAIL_URL = "smtp://alice:hidden@127.0.0.1"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    settings.EMAIL_PORT = deaf_port
    settings.EMAIL_HOST_PASSWORD = "hidden"

    finding = health.check_mail_server()

    assert not finding.ok
    assert "EMAIL_URL" in finding.remedy
    assert "hidden" not in finding.sentence + finding.remedy


def test_uploads_are_tried_by_writing(settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path / "new" / "uploads"

    finding = health.check_upload_storage()

    assert finding.ok
    assert list(settings.UPLOADS_DIR.iterdir()) == []
    assert stat.S_IMODE(settings.UPLOADS_DIR.stat().st_mode) == 0o700


def test_an_uploads_folder_that_cannot_be_made_is_told(settings, tmp_path):
    (tmp_path / "file").touch()
    settings.UPLOADS_DIR = tmp_path / "file" / "uploads"

    finding = health.check_upload_storage()

    assert not finding.ok
    assert "UPLOADS_DIR" in finding.remedy


@pytest.mark.parametrize(
    ("public_url", "hosts", "ok", "variable"),
    [
        ("https://assay.example", ["assay.example"], True, ""),
        ("http://127.0.0.1:8000", ["127.0.0.1"], True, ""),
        ("http://[::1]:8000", ["[::1]"], True, ""),
        ("https://assay.example", ["127.0.0.1"], False, "ALLOWED_HOSTS"),
        ("http://assay.example", ["assay.example"], False, "PUBLIC_URL"),
        ("assay.example", ["assay.example"], False, "PUBLIC_URL"),
        ("", ["assay.example"], False, "PUBLIC_URL"),
        # 128 characters with a link's secret, and one more.
        (f"https://assay.example/{'p' * 58}", ["assay.example"], True, ""),
        (f"https://assay.example/{'p' * 59}", ["assay.example"], False, "shorter"),
    ],
)
def test_the_public_address_is_one_that_people_can_use(
    settings, public_url, hosts, ok, variable
):
    settings.PUBLIC_URL = public_url
    settings.ALLOWED_HOSTS = hosts

    finding = health.check_public_url()

    assert finding.ok is ok
    assert variable in finding.remedy


def test_a_server_that_answers_to_any_name_is_warned_of(settings):
    settings.PUBLIC_URL = "https://assay.example"
    settings.ALLOWED_HOSTS = ["assay.example", "*"]

    finding = health.check_public_url()

    assert (finding.state, "ALLOWED_HOSTS" in finding.remedy) == ("warn", True)


@pytest.mark.parametrize("key", ["", "guess-me", "a" * 80])
def test_a_key_that_can_be_guessed_is_refused_and_not_shown(settings, key):
    settings.SECRET_KEY = key

    finding = health.check_secret_key()

    assert not finding.ok
    assert "SECRET_KEY" in finding.remedy
    assert not key or key not in finding.sentence


def test_a_random_key_is_well(settings):
    settings.SECRET_KEY = secrets.token_urlsafe(50)

    assert health.check_secret_key().ok


@pytest.mark.parametrize(
    ("keys", "state"),
    [
        ([secrets.token_urlsafe(50)], "ok"),
        ([], "warn"),
        ([secrets.token_urlsafe(50), "guess-me"], "fail"),
    ],
    ids=["random", "none", "weak"],
)
def test_keys_of_secrets_are_looked_at_and_not_shown(settings, keys, state):
    settings.ENCRYPTION_KEYS = keys

    finding = health.check_encryption_keys()

    assert finding.state == state
    assert "guess-me" not in finding.sentence + finding.remedy


@pytest.mark.parametrize(
    ("debug", "url", "state"),
    [
        (False, "https://assay.example", "ok"),
        (True, "http://127.0.0.1:8000", "warn"),
        (True, "https://assay.example", "fail"),
    ],
)
def test_debugging_is_for_this_machine_alone(settings, debug, url, state):
    settings.DEBUG, settings.PUBLIC_URL = debug, url

    assert health.check_debug_is_off().state == state


@pytest.mark.parametrize(
    ("free", "state"),
    [(2**30 - 1, "fail"), (2**30, "warn"), (10 * 2**30, "ok")],
    ids=["full", "scarce", "roomy"],
)
def test_a_disk_that_fills_up_is_told(settings, tmp_path, monkeypatch, free, state):
    settings.UPLOADS_DIR = tmp_path / "not" / "made"
    usage = shutil._ntuple_diskusage(100 * 2**30, 100 * 2**30 - free, free)
    items = []

    def look(path):
        items.append(path)
        return usage

    monkeypatch.setattr(health.files.shutil, "disk_usage", look)

    finding = health.check_disk_space()

    assert finding.state == state
    assert items == [tmp_path]


@pytest.mark.django_db
def test_a_backup_is_missed_after_two_days(time_machine):
    never = health.check_backup_age()
    record_backup_time()
    record_backup_time()
    fresh = health.check_backup_age()
    time_machine.move_to(timezone.now() + timedelta(days=2, minutes=1), tick=False)
    late = health.check_backup_age()

    assert [each.state for each in (never, fresh, late)] == ["warn", "ok", "warn"]
    assert late.sentence == "The last backup was made 48 h ago."


@pytest.mark.django_db
def test_an_extension_that_is_missing_is_named(monkeypatch):
    there = health.check_database_extensions()
    monkeypatch.setattr(health, "EXTENSIONS", frozenset({"pg_trgm", "no_such"}))

    assert there.ok
    assert (
        health.check_database_extensions().sentence
        == "The database has no extension no_such."
    )

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone

from accounts.webhooks.queries.deliverers import DELIVERER_NAME
from labs.models import LabTest
from portal.ops import health
from portal.ops.backup_notes import record_backup_time
from portal.ops.health import runtime, teams
from tests.factories.accounts import make_api_key, make_tenant
from tests.factories.users import make_user
from tests.portal.lib.embedded.embedded_server import (
    BASE_DIR,
    ServerUser,
    kill_all_naming,
)


@pytest.fixture(autouse=True)
def _any_python(monkeypatch):
    """The suite runs on whatever Python a machine has."""
    monkeypatch.setattr(runtime, "LEAST_PATCH_LEVELS", {})


@pytest.fixture
def workers(db):
    """A worker that reported just now, and a deliverer: this connection."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('application_name', %s, true)", [DELIVERER_NAME]
        )
        cursor.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")


@pytest.fixture
def no_database(monkeypatch):
    def refuse():
        raise OperationalError("connection refused")

    monkeypatch.setattr(connection, "cursor", refuse)


@pytest.fixture
def private_server():
    name = f"assay-test-{os.getpid()}-{secrets.token_hex(4)}"
    folder = Path("/var/tmp") / name  # noqa: S108 - nobody can guess the name
    user = ServerUser(folder)
    user.wait_until_connected()
    yield user
    user.leave()
    kill_all_naming(folder)
    shutil.rmtree(folder)


@pytest.fixture
def well(workers, settings, monkeypatch):
    """A server that lacks nothing."""
    settings.EMAIL_URL = ""
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.ENCRYPTION_KEYS = [secrets.token_urlsafe(50)]
    usage = shutil._ntuple_diskusage(2**40, 0, 2**40)
    monkeypatch.setattr(health.files.shutil, "disk_usage", lambda _path: usage)
    record_backup_time()


def test_doctor_says_every_check_and_ends_well_when_all_are(well, capsys):
    call_command("doctor")

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["ok", check.name] for check in health.CHECKS
    ]


def test_a_warning_is_told_and_does_not_fail(well, capsys, settings):
    settings.ENCRYPTION_KEYS = []

    call_command("doctor", "--json")

    fields = {each["check"]: each for each in json.loads(capsys.readouterr().out)}
    assert list(fields) == [check.name for check in health.CHECKS]
    states = {name: each["state"] for name, each in fields.items()}
    assert states == {**dict.fromkeys(fields, "ok"), "encryption_keys": "warn"}
    assert "ENCRYPTION_KEYS" in fields["encryption_keys"]["helps"]
    assert fields["debug"]["helps"] == ""


@pytest.mark.django_db
def test_doctor_fails_and_says_what_helps(capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")

    printed = capsys.readouterr().out
    assert ended.value.code == 1
    assert "FAILED  worker" in printed
    assert "manage.py worker" in printed
    assert "FAILED  deliverer" in printed
    assert "manage.py deliver_webhooks" in printed


def read_production(capsys):
    call_command("doctor", "--json")
    fields = {each["check"]: each for each in json.loads(capsys.readouterr().out)}
    return fields["production"]["state"], fields["production"]["says"]


def test_doctor_names_what_teams_that_use_production_lack(
    well, capsys, settings, alice_production, charlie_team
):
    settings.LAB_GATEWAY = ""
    LabTest.objects.for_tenant(alice_production).delete()
    unused = read_production(capsys)
    make_user(tenant=alice_production, client_user_id="mbr_dana")
    used = read_production(capsys)
    make_api_key(tenant=make_tenant(team=charlie_team, environment="production"))
    both = read_production(capsys)

    assert unused == ("ok", "Teams that use production: 0.")
    assert used == (
        "warn",
        "Of 1 teams that use production, 1 lack something: alice-health (lab_account"
        " missing, tests missing, gateway missing, physician not tried, webhooks"
        " missing, mail missing, critical_results missing, encryption_keys not"
        " tried).",
    )
    assert both[1].startswith("Of 2 teams that use production, 2 lack something: ")
    assert "; charlie-care (" in both[1]


def test_a_deleted_team_lacks_nothing(well, capsys, alice_production, alice_team):
    make_user(tenant=alice_production)
    alice_team.deleted_at = timezone.now()
    alice_team.save(update_fields=["deleted_at"])

    assert read_production(capsys) == ("ok", "Teams that use production: 0.")


def test_doctor_names_some_teams_and_counts_the_others(
    well, capsys, monkeypatch, alice_production, charlie_team
):
    monkeypatch.setattr(teams, "NAMED_TEAMS", 1)
    make_user(tenant=alice_production)
    make_user(tenant=make_tenant(team=charlie_team, environment="production"))

    _state, says = read_production(capsys)

    assert "alice-health (" in says
    assert "charlie-care" not in says
    assert says.endswith("; and 1 more.")


@pytest.mark.usefixtures("no_database")
@pytest.mark.django_db
def test_doctor_goes_on_without_a_database(capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")

    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 1
    assert lines[0].startswith("FAILED  database ")
    assert "DATABASE_URL" in lines[1]
    assert sum("needs the database" in line for line in lines) == 16
    assert any(line.startswith("ok      secret_key") for line in lines)


def test_doctor_refuses_a_superuser(private_server):
    superuser = private_server.url.replace("assay@", "postgres@")

    done = subprocess.run(
        [sys.executable, "manage.py", "doctor"],
        cwd=BASE_DIR,
        env={"PATH": os.environ["PATH"], "DATABASE_URL": superuser},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "FAILED  database_role" in done.stdout
    assert "postgres is a superuser" in done.stdout
    assert "NOSUPERUSER" in done.stdout
    assert "FAILED  secret_key" in done.stdout
    assert "Traceback" not in done.stderr

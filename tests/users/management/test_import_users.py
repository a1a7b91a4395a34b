from __future__ import annotations

import stat

import pytest
from django.core.management import CommandError, call_command

from users.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "users.csv"
    path.write_text("client_user_id,shoe_size\na,42\n=b,40\n")
    return path


def run(capsys, *arguments):
    call_command("import_users", *map(str, arguments))
    return capsys.readouterr()


def test_a_dry_run_says_what_would_come(alice_tenant, file, capsys):
    said = run(capsys, file, "--team", alice_tenant.team.slug, "--dry-run")

    assert said.out.splitlines() == [
        "2 rows: 1 would be created, 0 already exist, 1 rejected.",
        "Ignored columns: shoe_size.",
    ]
    assert said.err.startswith("3,refused,client_user_id,id_formula,")
    assert not User.objects.for_tenant(alice_tenant).exists()


def test_users_are_created_and_the_rest_is_written_down(
    alice_tenant, file, tmp_path, capsys
):
    notes = tmp_path / "notes.csv"

    run(capsys, file, "--team", alice_tenant.team.slug, "--notes", notes)

    assert User.objects.for_tenant(alice_tenant).get().client_user_id == "a"
    assert notes.read_text().startswith("3,refused,")
    assert stat.S_IMODE(notes.stat().st_mode) == 0o600


def test_what_cannot_be_done_is_one_sentence(alice_tenant, tmp_path):
    with pytest.raises(CommandError):
        call_command("import_users", str(tmp_path / "none.csv"), "--team", "alice")
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"\xff\xfe")
    with pytest.raises(CommandError):
        call_command("import_users", str(bad), "--team", alice_tenant.team.slug)

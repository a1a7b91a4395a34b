from __future__ import annotations

import os
import stat
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from labs.gateways.hl7.drop import (
    DONE,
    FAILED,
    IN,
    OUT,
    DropFolder,
    list_hl7_drop_folders,
)
from labs.gateways.hl7.messages import MAX_FILE_BYTES

pytestmark = pytest.mark.usefixtures("hl7_dir")
LATER = timedelta(minutes=1)


@pytest.fixture
def drop():
    made = DropFolder("north", "production", "acme", None)
    made.create()
    return made


def write_file(drop, name, content=b"x"):
    path = drop.path / IN / name
    path.write_bytes(content)
    return path


def test_a_folder_is_for_its_user_alone_and_is_found_again(drop):
    account = DropFolder("north", "sandbox", "acme", uuid4())
    account.create()
    (drop.path.parent / "notes" / IN).mkdir(parents=True)

    assert list(list_hl7_drop_folders()) == [drop, account]
    assert stat.S_IMODE((drop.path / IN).stat().st_mode) == 0o700


def test_a_file_for_the_lab_is_not_for_everybody(drop):
    drop.write_file("order.hl7", b"MSH|")

    written = drop.path / OUT / "order.hl7"
    assert stat.S_IMODE(written.stat().st_mode) == 0o640


def test_files_wait_oldest_first_once_nobody_writes_them_any_more(drop):
    now = timezone.now()
    for name, age in (("b.hl7", 60), ("a.hl7", 90), ("new.hl7", 1), ("ahead.hl7", -99)):
        seconds = now.timestamp() - age
        os.utime(write_file(drop, name), (seconds, seconds))

    assert drop.list_waiting_files(now=now) == ["a.hl7", "b.hl7", "ahead.hl7"]


def test_unfinished_files_links_and_pipes_do_not_wait(drop, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("not ours")
    for name in (".hidden", "half.tmp", "half.PART"):
        write_file(drop, name)
    (drop.path / IN / "link.hl7").symlink_to(secret)
    os.mkfifo(drop.path / IN / "pipe.hl7")
    (drop.path / IN / "folder").mkdir()

    assert drop.list_waiting_files(now=timezone.now() + LATER) == []


def test_what_became_a_link_or_a_pipe_is_not_read(drop, tmp_path):
    (drop.path / IN / "link.hl7").symlink_to(tmp_path)
    os.mkfifo(drop.path / IN / "pipe.hl7")

    with pytest.raises(OSError):
        drop.read_file("link.hl7")
    assert drop.read_file("pipe.hl7") is None
    assert drop.read_file("gone.hl7") is None


def test_a_file_that_is_too_large_is_told_by_its_digest_alone(drop):
    write_file(drop, "large.hl7", b"x" * (MAX_FILE_BYTES + 1))

    dropped = drop.read_file("large.hl7")

    assert dropped.content is None
    assert len(dropped.digest) == 64


def test_files_are_put_away_under_names_that_do_not_meet(drop):
    for content, failed in ((b"one", False), (b"two", False), (b"three", True)):
        write_file(drop, "results.hl7", content)
        drop.archive_file(drop.read_file("results.hl7"), failed=failed)

    assert len(list((drop.path / DONE).glob("*-results.hl7"))) == 2
    assert [path.read_bytes() for path in (drop.path / FAILED).iterdir()] == [b"three"]
    assert list((drop.path / IN).iterdir()) == []


def test_putting_away_what_another_run_has_put_away_does_nothing(drop):
    write_file(drop, "results.hl7")
    dropped = drop.read_file("results.hl7")
    drop.archive_file(dropped, failed=False)

    drop.archive_file(dropped, failed=False)

    assert len(list((drop.path / DONE).iterdir())) == 1


def test_an_outgoing_file_appears_whole_and_may_be_written_again(drop):
    drop.write_file("nw-1.hl7", b"first")
    drop.write_file("nw-1.hl7", b"second")

    assert [path.name for path in (drop.path / OUT).iterdir()] == ["nw-1.hl7"]
    assert (drop.path / OUT / "nw-1.hl7").read_bytes() == b"second"


def test_what_was_taken_long_ago_is_removed(drop):
    now = timezone.now()
    for name, days in (("old", 31), ("young", 29)):
        path = drop.path / DONE / name
        path.write_bytes(b"x")
        seconds = (now - timedelta(days=days)).timestamp()
        os.utime(path, (seconds, seconds))

    drop.delete_old_archive(now=now)

    assert [path.name for path in (drop.path / DONE).iterdir()] == ["young"]


def test_access_is_tried_in_each_folder_and_leaves_nothing(drop):
    drop.check_access()

    assert [path for path in drop.path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", [OUT, IN, DONE, FAILED])
def test_access_needs_each_folder_and_creates_none(drop, name):
    (drop.path / name).rmdir()

    with pytest.raises(FileNotFoundError):
        drop.check_access()

    assert not (drop.path / name).exists()

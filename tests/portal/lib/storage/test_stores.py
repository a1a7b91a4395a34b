"""What each place for files does, a folder and a bucket alike."""

from __future__ import annotations

import errno
import os
from datetime import timedelta
from pathlib import Path

import pytest
from boto3.s3.transfer import TransferConfig
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from portal.lib import storage
from portal.lib.errors import Unavailable
from portal.lib.storage import bucket as bucket_storage
from tests.buckets import keeping_at


@pytest.fixture(params=["folder", "bucket"])
def store(request):
    if request.param == "bucket":
        server = request.getfixturevalue("bucket_server")
        with keeping_at(server.url):
            yield request.param
    else:
        yield request.param


def keep(name, content=b"kept"):
    with storage.write_stored_file(name) as opened:
        opened.write(content)


def read(name):
    with storage.open_stored_file(name) as opened:
        return opened.read()


def names(folder=""):
    return [found.name for found in storage.list_stored_files(folder)]


def scratch():
    folder = Path(settings.VAR_DIR) / "scratch"
    return list(folder.iterdir()) if folder.exists() else []


def test_a_file_is_kept_whole_or_not_at_all(store):
    before = timezone.now() - timedelta(seconds=2)
    with storage.write_stored_file("reports/ab/one") as opened:
        opened.write(b"first")
        opened.flush()
        assert Path(opened.name).read_bytes() == b"first"
        assert "reports/ab/one" not in names()

    with (
        pytest.raises(TypeError),
        storage.write_stored_file("reports/ab/one") as opened,
    ):
        opened.writelines([b"half", None])  # type: ignore[list-item]  # to fail
    kept = read("reports/ab/one")
    keep("reports/ab/one", b"second")

    assert (kept, read("reports/ab/one")) == (b"first", b"second")
    (found,) = storage.list_stored_files("reports")
    assert found.name == "reports/ab/one"
    assert before < found.modified_at <= timezone.now()
    assert scratch() == []


def test_files_are_read_here_and_one_that_is_gone_is_told(store):
    keep("a/one")
    keep("a/two", b"")

    with storage.open_local_copies(["a/one", "a/two"]) as paths:
        contents = [path.read_bytes() for path in paths]
    with pytest.raises(FileNotFoundError), storage.open_local_copy("a/gone"):
        pass
    with pytest.raises(FileNotFoundError):
        storage.open_stored_file("a/gone")

    assert contents == [b"kept", b""]
    assert default_storage.exists("a/one")
    assert not default_storage.exists("a/gone")
    assert scratch() == []


def test_files_are_found_below_a_folder_and_removed(store):
    for number in range(4):
        keep(f"reports/ab/{number}")
        keep(f"reports/ab/0.pages/{number}.jpg")
    keep("reportsof/one")
    default_storage.save("imports/one", ContentFile(b"of Django"))

    storage.delete_stored_files(["reports/ab/3", "reports/ab/gone"])
    storage.delete_stored_files(
        [], folders=["reports/ab/0.pages", "reports/ab/gone.pages"]
    )

    assert names("reports") == [f"reports/ab/{number}" for number in range(3)]
    assert min(names()) == "imports/one"
    assert read("imports/one") == b"of Django"
    assert names("nothing") == []


def test_a_file_of_this_machine_is_taken(store, tmp_path):
    path = tmp_path / "restored"
    path.write_bytes(b"back")

    storage.store_local_file(path, "reports/ab/one")

    assert read("reports/ab/one") == b"back"


def test_large_files_go_in_parts_and_what_broke_off_is_dropped(bucket, monkeypatch):
    few = 5 * 1024**2  # the least of S3
    parts = TransferConfig(few, multipart_chunksize=few, use_threads=False)
    monkeypatch.setattr(bucket_storage, "_TRANSFER", parts)
    content = os.urandom(few + 7)
    now = timezone.now()
    bucket.uploads |= {
        "old": ("assay/imports/ab/old", {}, now - timedelta(hours=25)),
        "new": ("assay/imports/ab/new", {}, now - timedelta(hours=23)),
        "other": ("another/imports/ab/old", {}, now - timedelta(hours=25)),
    }

    keep("imports/ab/one", content)
    storage.delete_unfinished_uploads("imports")

    assert read("imports/ab/one") == content
    assert sorted(bucket.uploads) == ["new", "other"]


def test_what_killed_processes_left_goes_after_a_day(time_machine):
    folder = Path(settings.VAR_DIR) / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "left").touch()
    storage.scratch.prepare_scratch_folder()
    assert [path.name for path in scratch()] == ["left"]

    time_machine.move_to(timezone.now() + timedelta(hours=25))
    storage.scratch.prepare_scratch_folder()

    assert scratch() == []


def test_a_full_disk_is_told_and_keeps_nothing(monkeypatch):
    def refuse(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)

    with pytest.raises(Unavailable) as refused:
        keep("a/one")

    assert refused.value.code == "storage_unavailable"
    assert names() == []


def take_away(fault, server):
    """Break the server; returns the STORAGE_URL that meets the fault."""
    match fault:
        case "down":
            server.shutdown()
            server.server_close()
        case "silent":
            server.answers.clear()
            return server.url.replace("timeout=5", "timeout=0.05")
        case "failing":
            server.failing = "InternalError"
        case "wrong secret":
            return server.url.replace("sec%2Fret", "other")
        case "no bucket":
            return server.url.replace("assay-files", "another")
    return server.url


@pytest.mark.parametrize(
    "fault", ["down", "silent", "failing", "wrong secret", "no bucket"]
)
def test_a_bucket_that_is_away_is_told_without_a_secret(fault, bucket, caplog):
    keep("a/one")

    with keeping_at(take_away(fault, bucket)):
        for call in (lambda: keep("a/two"), lambda: read("a/one"), names):
            with pytest.raises(Unavailable) as refused:
                call()
            assert refused.value.code == "storage_unavailable"
        storage.delete_stored_files(["a/one"])

    assert bucket.names == ["a/one"]
    assert scratch() == []
    assert "files without a row stay" in caplog.text
    assert not any(word in caplog.text for word in ("AKIATEST", "sec/ret", "a/two"))

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from portal.lib.errors import TooLarge
from portal.lib.storage import list_stored_files, write_stored_file
from users.operations.imports import files
from users.operations.imports.files import (
    ORPHAN_AGE,
    PARTS,
    delete_import_upload,
    delete_orphan_import_files,
    write_import_upload,
)


def store(*chunks):
    with write_import_upload(chunks) as upload:
        return upload.name


def kept(name):
    return Path(default_storage.path(name))


def test_a_file_is_read_where_it_is_written_and_then_kept():
    with write_import_upload([b"ab", b"c"]) as upload:
        assert upload.path.read_bytes() == b"abc"
        assert not kept(upload.name).exists()

    assert kept(upload.name).read_bytes() == b"abc"
    assert kept(upload.name).stat().st_mode & 0o777 == 0o600
    assert upload.size == 3
    assert upload.sha256.startswith("ba7816bf")


def test_too_much_leaves_nothing(monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 3)

    with pytest.raises(TooLarge) as refused:
        store(b"ab", b"cd")

    assert refused.value.code == "file_too_large"
    assert list(list_stored_files("")) == []


def test_removing_takes_what_was_read_along():
    name = store(b"ab")
    with write_stored_file(name + PARTS) as opened:
        opened.write(b"read")

    delete_import_upload(name)
    delete_import_upload(name)

    assert list(list_stored_files("")) == []


@pytest.mark.django_db
def test_only_old_files_without_an_import_are_swept():
    old, new = store(b"old"), store(b"new")
    then = (timezone.now() - ORPHAN_AGE - timedelta(minutes=1)).timestamp()
    os.utime(kept(old), (then, then))

    assert delete_orphan_import_files() == 1

    assert [file.name for file in list_stored_files("imports")] == [new]

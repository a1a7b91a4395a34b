from __future__ import annotations

import os
from datetime import timedelta

import pytest
from django.utils import timezone

from portal.lib.errors import TooLarge
from users.operations import import_files
from users.operations.import_files import (
    ORPHAN_AGE,
    PARTS,
    path_of,
    remove_file,
    store_chunks,
    sweep_orphan_imports,
)


def test_a_file_is_kept_where_only_we_read_it():
    stored = store_chunks([b"ab", b"c"])

    path = path_of(stored.name)
    assert path.read_bytes() == b"abc"
    assert path.stat().st_mode & 0o777 == 0o600
    assert stored.size == 3
    assert stored.sha256.startswith("ba7816bf")


def test_too_much_leaves_nothing(monkeypatch):
    monkeypatch.setattr(import_files, "MAX_BYTES", 3)

    with pytest.raises(TooLarge) as refused:
        store_chunks([b"ab", b"cd"])

    assert refused.value.code == "file_too_large"
    assert list(path_of(import_files.FOLDER).glob("*/*")) == []


def test_removing_takes_what_was_read_along():
    name = store_chunks([b"ab"]).name
    path_of(name + PARTS).write_bytes(b"")

    remove_file(name)
    remove_file(name)

    assert list(path_of(import_files.FOLDER).glob("*/*")) == []


@pytest.mark.django_db
def test_only_old_files_without_an_import_are_swept():
    old, new = store_chunks([b"old"]).name, store_chunks([b"new"]).name
    then = (timezone.now() - ORPHAN_AGE - timedelta(minutes=1)).timestamp()
    os.utime(path_of(old), (then, then))

    assert sweep_orphan_imports() == 1

    assert not path_of(old).exists()
    assert path_of(new).exists()

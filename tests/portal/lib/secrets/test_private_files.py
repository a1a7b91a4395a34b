from __future__ import annotations

import os
import stat
from threading import Thread

import pytest
from django.core.mail import send_mail

from portal.lib.secrets.private_files import open_owner_only_file


@pytest.fixture(autouse=True)
def _open_umask():
    """As a shell that hides nothing."""
    before = os.umask(0o000)
    yield
    os.umask(before)


def rights(path):
    return oct(stat.S_IMODE(path.stat().st_mode))


@pytest.fixture
def mailbox(settings, tmp_path):
    settings.EMAIL_BACKEND = "portal.lib.secrets.private_files.PrivateFileBackend"
    settings.EMAIL_FILE_PATH = tmp_path / "mail"
    return settings.EMAIL_FILE_PATH


def send():
    send_mail("Set your password", "The link", None, ["alice@assay.example"])


def test_a_mail_on_disk_is_its_owner_s_alone(mailbox):
    send()

    [letter] = mailbox.iterdir()
    assert (rights(mailbox), rights(letter)) == ("0o700", "0o600")
    assert "The link" in letter.read_text()


def test_mails_of_before_are_closed_to_others(mailbox, tmp_path):
    mailbox.mkdir(mode=0o755)
    letter = mailbox / "20260101-120000-1.log"
    letter.write_text("an older link")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("no mail")
    (mailbox / "link.log").symlink_to(elsewhere)

    send()

    assert (rights(mailbox), rights(letter)) == ("0o700", "0o600")
    assert rights(elsewhere) == "0o666"


def test_a_file_that_others_read_is_closed_to_them(tmp_path):
    path = tmp_path / "webhooks.log"
    path.write_text("before\n")
    path.chmod(0o644)

    with open_owner_only_file(path, "a") as file:
        file.write("after\n")

    assert (rights(path), path.read_text()) == ("0o600", "before\nafter\n")


def test_a_file_that_is_closed_already_keeps_its_rights(tmp_path):
    path = tmp_path / "notes.csv"
    path.touch(mode=0o400)
    path.chmod(0o200)

    open_owner_only_file(path, "w").close()

    assert rights(path) == "0o200"


def test_a_pipe_keeps_its_rights(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o622)
    reader = Thread(target=pipe.read_bytes)
    reader.start()

    open_owner_only_file(pipe, "wb", buffering=0).close()
    reader.join()

    assert rights(pipe) == "0o622"

from __future__ import annotations

import pytest

from reports.gateways import mailbox as imap
from reports.gateways import signatures
from tests.reports.mails import Dns, ImapServer


@pytest.fixture
def server(monkeypatch):
    """An IMAP server, which the mailbox's connections reach."""
    found = ImapServer()
    monkeypatch.setattr(imap, "_Connection", found)
    return found


@pytest.fixture
def dns(monkeypatch):
    """The DNS that has the lab's key."""
    found = Dns()
    monkeypatch.setattr(signatures, "look_up_txt", found)
    return found

from __future__ import annotations

import pytest
import time_machine

PATH = "/.well-known/security.txt"


@pytest.mark.parametrize(
    ("contact", "shown"),
    [
        ("security@assay.example", "mailto:security@assay.example"),
        ("https://assay.example/report", "https://assay.example/report"),
    ],
)
def test_it_says_where_a_weakness_is_reported(client, settings, contact, shown):
    settings.SECURITY_CONTACT = contact
    settings.PUBLIC_URL = "https://assay.example"

    with time_machine.travel("2026-03-02T09:00:00Z", tick=False):
        reply = client.get(PATH)

    assert reply["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.content.decode().splitlines() == [
        f"Contact: {shown}",
        "Expires: 2026-05-31T09:00:00Z",
        "Canonical: https://assay.example/.well-known/security.txt",
    ]


def test_nobody_is_named_where_nobody_was_set(client, settings):
    settings.SECURITY_CONTACT = ""

    assert client.get(PATH).status_code == 404

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from aiohttp import web

from accounts.webhooks import listening
from accounts.webhooks.listening import Listener
from accounts.webhooks.signing import (
    decode_signing_secret,
    generate_signing_secret,
    sign_webhook_message,
)

NOW = 1_700_000_000
KEY = decode_signing_secret(generate_signing_secret())
BODY = b'{"event_type":"daily.data.sleep.created","data":{"note":"private"}}'
SAYS = "22:13:20  verified  daily.data.sleep.created  msg_1  0.1 kB, response"


def signed(body=BODY, *, key=KEY, at=NOW, message_id="msg_1"):
    return body, {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": sign_webhook_message([key], message_id, at, body),
    }


@pytest.fixture
def post():
    """Post messages to a listener; the statuses and what it said."""

    def run(*messages, path="/", keys=(KEY,), **options):
        items: list[str] = []
        listener = Listener(
            keys=lambda: keys, say=items.append, clock=lambda: NOW, **options
        )

        async def all_of_them():
            runner = web.AppRunner(listener.app())
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0]
            try:
                async with aiohttp.ClientSession() as session:
                    return [
                        (
                            await session.post(
                                f"http://{host}:{port}{path}",
                                data=body,
                                headers=headers,
                            )
                        ).status
                        for body, headers in messages
                    ]
            finally:
                await runner.cleanup()

        return asyncio.run(all_of_them()), items

    return run


def test_a_signed_message_is_said_without_its_body(post):
    assert post(signed()) == ([204], [f"{SAYS} 204"])


def test_a_message_that_comes_again_is_said_to(post):
    _, said = post(signed(), signed())

    assert said == [f"{SAYS} 204", f"{SAYS} 204, repeated"]


def test_only_so_many_messages_are_remembered(post, monkeypatch):
    monkeypatch.setattr(listening, "SEEN_MAX", 1)

    _, said = post(signed(), signed(message_id="msg_2"), signed())

    assert not any("again" in line for line in said)


@pytest.mark.parametrize(
    "message",
    [
        (BODY, {}),
        signed(key=decode_signing_secret(generate_signing_secret())),
        signed(at=NOW - 301),
        (BODY.replace(b"sleep", b"steps"), signed()[1]),
    ],
    ids=["unsigned", "another key", "too old", "changed"],
)
def test_what_is_not_signed_is_refused_and_not_read(post, message):
    statuses, said = post(message, shows_bodies=True)

    assert statuses == [401]
    assert len(said) == 1
    assert "NOT VERIFIED" in said[0]
    assert "sleep" not in said[0]


def test_a_path_chooses_the_answer_to_signed_messages_alone(post):
    statuses, said = post(signed(), (BODY, {}), path="/status/503")

    assert statuses == [503, 401]
    assert said[0] == f"{SAYS} 503"


def test_bodies_are_shown_when_asked_for(post):
    _, said = post(signed(), shows_bodies=True)

    assert '"note": "private"' in said[1]


def test_keys_are_asked_for_anew_when_none_fits(post):
    new = decode_signing_secret(generate_signing_secret())
    keys = [KEY]
    first = signed()

    class Rotated(list[bytes]):
        def __iter__(self):
            yield from list(keys)
            keys[:] = [new]

    statuses, _ = post(first, signed(key=new), keys=Rotated())

    assert statuses == [204, 204]

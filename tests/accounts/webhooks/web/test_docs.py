from __future__ import annotations

import json
import shutil
import subprocess
import time

import pytest

from accounts.webhooks.catalogue import load_event_types
from accounts.webhooks.examples import build_example_event
from accounts.webhooks.signing import (
    decode_signing_secret,
    generate_signing_secret,
    sign_webhook_message,
)
from accounts.webhooks.web.docs import LANGUAGES, read_verification_snippet
from portal.ui.highlighting import format_json, highlight_json

BODY = '{"event_type":"labtest.order.updated","data":"é"}'.encode()
SECRET = generate_signing_secret()
FAULTS = ["signed", "two secrets", "another secret", "another body", "too old"]


def message(fault):
    """Headers and body of a message, with this fault if it is one."""
    stamp = int(time.time()) - (301 if fault == "too old" else 0)
    key = decode_signing_secret(SECRET)
    if fault == "another secret":
        key = decode_signing_secret(generate_signing_secret())
    keys = (
        [decode_signing_secret(generate_signing_secret()), key]
        if fault == "two secrets"
        else [key]
    )
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(stamp),
        "webhook-signature": sign_webhook_message(keys, "msg_1", stamp, BODY),
    }
    return headers, BODY + b" " if fault == "another body" else BODY


def test_the_catalogue_lists_every_type_once(client):
    page = client.get("/api/docs/events/").content.decode()

    for name in load_event_types():
        assert page.count(f'href="/api/docs/events/{name}/"') == 1


def test_the_catalogue_is_searched_by_name_and_by_sentence(client):
    by_name = client.get("/api/docs/events/?q=GLUCOSE").content.decode()
    by_sentence = client.get("/api/docs/events/?q=its last attempt").content.decode()
    by_nothing = client.get("/api/docs/events/?q=nothing+fits").content.decode()

    assert by_name.count('href="/api/docs/events/') == 1 + 3
    assert "/api/docs/events/message.attempt.exhausted/" in by_sentence
    assert "No event type found" in by_nothing


def test_a_type_has_its_example_and_schema(client):
    kind = load_event_types()["daily.data.glucose.created"]

    page = client.get(f"/api/docs/events/{kind.name}/")

    shown = page.content.decode()
    assert kind.when in shown
    assert highlight_json(format_json(build_example_event(kind.name))) in shown
    assert highlight_json(format_json(kind.schema)) in shown


def test_an_unknown_type_is_404(client):
    assert client.get("/api/docs/events/no.such/").status_code == 404


def test_the_page_of_receiving_holds_every_snippet_and_the_ladder(client):
    page = client.get("/api/docs/webhooks/")

    assert len(LANGUAGES) == 6
    for slug, _name, code in page.context["snippets"]:
        assert code == read_verification_snippet(slug)
        assert f'id="{slug}"' in page.content.decode()
    waits = ["5 s", "5 min", "30 min", "2 h", "5 h", "10 h", "10 h"]
    assert page.context["waits"] == waits


def test_the_pages_keep_the_strict_policy(client):
    policy = client.get("/api/docs/webhooks/").headers["Content-Security-Policy"]

    assert "unsafe" not in policy


@pytest.mark.parametrize("fault", FAULTS)
def test_the_python_snippet_takes_what_is_signed_and_nothing_else(fault):
    snippet = {}
    exec(read_verification_snippet("python"), snippet)  # noqa: S102 - our own words
    headers, body = message(fault)

    if fault in {"signed", "two secrets"}:
        snippet["verify"](SECRET, headers, body)
    else:
        with pytest.raises(ValueError):
            snippet["verify"](SECRET, headers, body)


@pytest.mark.skipif(not shutil.which("node"), reason="node is not on the path")
def test_the_javascript_snippet_takes_what_is_signed_and_nothing_else(tmp_path):
    (tmp_path / "verify.mjs").write_text(read_verification_snippet("javascript"))
    (tmp_path / "run.mjs").write_text(
        """import { verify } from "./verify.mjs";
const said = JSON.parse(process.argv[2]).map(([secret, headers, body]) => {
  try { verify(secret, headers, Buffer.from(body)); return true; }
  catch { return false; }
});
console.log(JSON.stringify(said));"""
    )
    messages = [message(fault) for fault in FAULTS]
    items = [[SECRET, headers, body.decode()] for headers, body in messages]

    done = subprocess.run(
        ["node", "run.mjs", json.dumps(items)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout) == [True, True, False, False, False]

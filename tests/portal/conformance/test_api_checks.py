from __future__ import annotations

import json
from functools import partial

import httpx
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import CommandError, call_command

from conformance import command, http
from conformance.checks import CHECKS, Run, run_api_checks
from conformance.http import Answer, Api
from tests.factories.accounts import make_api_key
from tests.factories.labs import make_lab_test
from users.models import User

DOCS = "docs/guides/conformance.md"


@pytest.fixture
def _served_here(monkeypatch, _one_connection):
    """Calls of the kit reach this process."""
    client = httpx.Client(transport=httpx.WSGITransport(app=WSGIHandler()))

    def send(method, url, *, headers, body=None, timeout=0):
        answer = client.request(method, url, headers=headers, content=body)
        return Answer(answer.status_code, dict(answer.headers), answer.content)

    monkeypatch.setattr(http, "send", send)


@pytest.mark.usefixtures("_served_here")
def test_a_sandbox_passes_and_nothing_is_left_in_it(
    run_jobs, alice_tenant, monkeypatch, tmp_path, capsys
):
    make_lab_test(tenant=alice_tenant)
    monkeypatch.setenv("CONFORMANCE_KEY", make_api_key(tenant=alice_tenant))
    monkeypatch.setattr(command, "Run", partial(Run, pause=lambda _s: run_jobs()))
    path = tmp_path / "results.json"

    call_command(
        "conformance", *("--base-url", "https://testserver", "--json", str(path))
    )

    said = capsys.readouterr().out
    report = json.loads(path.read_text())["api"]
    assert [
        (each["name"], each["outcome"], each["detail"]) for each in report["results"]
    ] == [(check.name, "passed", "") for check in CHECKS]
    assert (report["passed"], report["failed"], report["skipped"]) == (
        len(CHECKS),
        0,
        0,
    )
    assert report["not_judged"]
    assert "not judged: " in said
    assert not User.objects.for_tenant(alice_tenant).live().exists()


def test_a_server_that_answers_something_else_fails_by_check(monkeypatch):
    asked = []

    def send(method, url, *, headers, body=None, timeout=0):
        asked.append((method, url))
        if url.endswith("/v2/user") and method == "POST":
            return Answer(200, {}, b'{"user_id": "u-1"}')
        if "timeseries" in url:
            raise http.Unreachable("TimeoutError")
        return Answer(200, {}, b'{"users": 7, "data": []}')

    monkeypatch.setattr(http, "send", send)

    results = run_api_checks(Run(Api("http://assay.example", "sk_us_x")))

    outcomes = {each.name: (each.outcome, each.detail) for each in results.results}
    assert outcomes["https"] == ("failed", "http: keys and data travel unencrypted")
    assert outcomes["key_needed"] == ("failed", "200 instead of 401")
    assert outcomes["user"] == ("failed", "without client_user_id, created_on")
    assert outcomes["samples"] == ("failed", "no answer: TimeoutError")
    assert outcomes["order"] == ("skipped", "the team has no walk-in test")
    assert outcomes["results"] == ("skipped", "no order was placed")
    assert results.count("passed") == 0
    assert asked[-1] == ("DELETE", "http://assay.example/v2/user/u-1")


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ([], "sk_us_x"),
        (["--base-url", "https://assay.example"], ""),
        (["--base-url", "https://assay.example"], "pk_us_x"),
        (["--receiver", "https://hooks.example"], ""),
    ],
)
def test_what_cannot_be_run_calls_nothing(arguments, key, monkeypatch):
    def refuse(*_args, **_named):
        raise AssertionError("called")

    monkeypatch.setattr(http, "send", refuse)
    monkeypatch.setenv("CONFORMANCE_KEY", key)
    monkeypatch.delenv("CONFORMANCE_SECRET", raising=False)

    with pytest.raises(CommandError) as refused:
        call_command("conformance", *arguments)

    assert refused.value.returncode == 2


def test_the_guide_lists_each_check(settings):
    text = (settings.BASE_DIR / DOCS).read_text()

    for check in CHECKS:
        assert f"| `{check.name}` | {check.title} |" in text

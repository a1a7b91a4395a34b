from __future__ import annotations

import os
import subprocess
import sys

import pytest

from portal.api_docs.views import EXAMPLES, read_api_changelog, read_quick_start_example
from tests.contract.document import document
from tests.factories.accounts import make_api_key
from users.models import User


def test_the_quick_start_shows_what_is_tested(client, db):
    page = client.get("/api/docs/start/")

    shown = [code for _, _, code in page.context["examples"]]
    assert shown == [read_quick_start_example(slug) for slug in EXAMPLES]
    assert "unsafe" not in page.headers["Content-Security-Policy"]


@pytest.mark.django_db(transaction=True)
def test_the_quick_start_runs_as_it_stands(
    live_server, alice_tenant, charlie_tenant, tmp_path
):
    printed = {}
    for slug, program, tenant in (
        ("shell", "bash", alice_tenant),
        ("python", sys.executable, charlie_tenant),
    ):
        script = tmp_path / slug
        script.write_text(read_quick_start_example(slug))
        done = subprocess.run(
            [program, script],
            env=os.environ
            | {"ASSAY_URL": live_server.url, "ASSAY_KEY": make_api_key(tenant=tenant)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        printed[slug] = done.stdout

    assert '"value":58.0' in printed["shell"]
    assert '"event_type":"daily.data.heartrate.created"' in printed["shell"]
    assert printed["python"].splitlines()[0] == "[58.0, 61.0]"
    assert "daily.data.heartrate.created" in printed["python"].splitlines()
    for tenant in (alice_tenant, charlie_tenant):
        assert User.objects.for_tenant(tenant).get().client_user_id == "first-user"


def test_codes_are_searched_by_code_and_by_sentence(client, db):
    by_code = client.get("/api/docs/errors/?q=SLOT_TAKEN").context["codes"]
    by_words = client.get("/api/docs/errors/?q=no longer available").context["codes"]
    nothing = client.get("/api/docs/errors/?q=nothing+fits").content.decode()

    assert [each.code for each in by_code] == ["slot_taken"]
    assert [each.code for each in by_words] == ["slot_taken"]
    assert "No code found" in nothing


def test_the_changes_account_for_every_operation(client, db):
    published = {
        f"{method.upper()} {path}"
        for path, methods in document()["paths"].items()
        for method in methods
    }
    told = read_api_changelog()

    added = [operation for change in told for operation in change.added]
    removed = {operation for change in told for operation in change.removed}
    named = {o for c in told for o in (*c.changed, *c.deprecated)}
    assert len(added) == len(set(added))
    # What the API gains or loses is told in portal/api_docs/changes.json.
    assert set(added) - removed == published
    assert named <= set(added)
    assert [c.on for c in told] == sorted((c.on for c in told), reverse=True)
    page = client.get("/api/docs/changes/").content.decode()
    assert page.count("<code") == page.count("</code>") > len(published)

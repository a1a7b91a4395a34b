"""The samples of the quick start run as they stand, against the test server."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from labs.models import Order
from reports.models import ParsingJob
from tests.factories.accounts import make_api_key
from tests.factories.labs import make_lab_test
from users.models import User

RUN = re.compile(r"^```sh run\n(.*?)^```", re.DOTALL | re.MULTILINE)


def read_script(page: str) -> str:
    """Return the samples of a page that are marked to be run, one after another."""
    text = (Path(settings.BASE_DIR) / "docs" / page).read_text()
    # A refusal of the server fails the script.
    return "set -euo pipefail\n" + "\n".join(RUN.findall(text)).replace(
        "curl -s ", "curl -sS --fail-with-body "
    )


@pytest.mark.django_db(transaction=True)
def test_the_quick_start_runs_as_it_stands(live_server, alice_tenant):
    make_lab_test(tenant=alice_tenant)
    done = subprocess.run(
        ["bash", "-c", read_script("quickstart.md")],
        cwd=settings.BASE_DIR,
        env=os.environ
        | {
            "ASSAY_URL": live_server.url,
            "ASSAY_KEY": make_api_key(tenant=alice_tenant),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    user = User.objects.for_tenant(alice_tenant).get()
    assert user.client_user_id == "quickstart-1"
    assert ParsingJob.objects.for_tenant(alice_tenant).get().user_id == user.pk
    assert Order.objects.for_tenant(alice_tenant).get().user_id == user.pk
    assert '"value":61.0' in done.stdout
    assert "labtest.order.created" in done.stdout

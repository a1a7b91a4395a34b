"""What starts with Django is little: every command and every test pays for it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from django.conf import settings

# Each takes a tenth of a second or more, for something that few commands do.
HEAVY = (
    "aiohttp",  # the webhook listener
    "allauth.account.views",
    "allauth.mfa.base.views",
    "boto3",
    "cv2",
    "drf_spectacular.openapi",
    "fido2",
    "fitdecode",
    "hl7",
    "holidays",
    "httpcore",
    "httpx",
    "lxml",
    "markdown_it",
    "numpy",
    "onnxruntime",
    "PIL",
    "pikepdf",
    "prometheus_client",
    "pypdfium2",
    "rapidfuzz",
    "rapidocr",
    "reportlab",
    "requests",
    "rest_framework.compat",
    "unfold.admin",
    "urllib3",
    "uvicorn",
    "zipcodes",
    # Of ours: what brings most of the code with it.
    "labs.demo",
    "portal.demo.data",
    "users.demo",
    "portal.urls",
    "accounts.jobs",
    "reports.parser.parsing",
)


@pytest.fixture(scope="module")
def loaded() -> frozenset[str]:
    code = "import django, sys; django.setup(); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "portal.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    return frozenset(done.stdout.split())


@pytest.mark.parametrize("module", HEAVY)
def test_a_heavy_module_loads_where_it_is_used_and_not_with_django(loaded, module):
    assert find_spec(module) is not None, "there is no such module"
    assert module not in loaded


def test_no_pages_or_api_load_with_django(loaded):
    edges = {
        name
        for name in loaded
        if name.startswith(("accounts.", "users.", "labs.", "reports."))
        and {"api", "web", "admin"} & set(name.split("."))
    }

    assert edges == {
        "accounts.web",
        "accounts.web.sign_in",
        "accounts.web.sign_in.signals",
    }

from __future__ import annotations

import re
import runpy

import pytest
from django.conf import settings as configured
from django.test import Client

from portal.http.headers import PERMISSIONS_POLICY

EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def read_settings(monkeypatch, **environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(configured.BASE_DIR / "portal" / "settings.py"))


def list_what_scripts_keep():
    kept = set()
    for path in (configured.BASE_DIR / "static/js").glob("*.js"):
        text = path.read_text()
        assert re.search("sessionStorage|indexedDB", text) is None, path
        names = re.findall(r"localStorage\.setItem\((\S+),", text)
        assert len(names) == text.count("localStorage.setItem"), path
        for name in names:
            stated = re.search(rf"const {re.escape(name)} = (\S+);", text)
            kept.add((stated[1] if stated else name).strip('"'))
    return kept


@pytest.mark.django_db
def test_every_answer_keeps_to_itself(alice_web, alice_api):
    page = alice_web.get("/t/alice-health/sandbox/")
    refused = Client().get("/v2/user")
    answer = alice_api.get("/v2/user")
    style = Client().get("/static/css/tokens.css")
    b"".join(style)  # closes the file
    style.close()
    logo = Client().get("/logos/oura.svg")

    for reply in (page, refused, answer):
        assert {name: reply.get(name) for name in EVERYWHERE} == EVERYWHERE
    assert style["Cross-Origin-Resource-Policy"] == "same-origin"
    assert style["X-Content-Type-Options"] == "nosniff"
    assert page["Permissions-Policy"] == PERMISSIONS_POLICY
    assert "camera=()" in PERMISSIONS_POLICY
    assert "Permissions-Policy" not in answer  # it is of documents alone
    # Nothing of a member stays in the browser: no page, and of scripts two settings.
    assert "no-store" in page["Cache-Control"]
    assert list_what_scripts_keep() == {
        "theme",
        "`assay.desk.document.${split.dataset.split}`",
    }
    assert "default-src 'self'" in page["Content-Security-Policy"].split("; ")
    assert answer["Cache-Control"] == refused["Cache-Control"] == "no-store"
    # Customers show it on pages of their own.
    assert logo["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_https_binds_cookies_to_the_host_and_browsers_to_https(monkeypatch):
    read = read_settings(monkeypatch, PUBLIC_URL="https://assay.example")

    assert read["SESSION_COOKIE_NAME"] == "__Host-sessionid"
    assert read["CSRF_COOKIE_NAME"] == "__Host-csrftoken"
    for name in (
        *("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT"),
        *("SESSION_COOKIE_HTTPONLY", "CSRF_COOKIE_HTTPONLY"),
        *("SECURE_HSTS_INCLUDE_SUBDOMAINS", "SECURE_HSTS_PRELOAD"),
    ):
        assert read[name] is True
    assert read["SECURE_HSTS_SECONDS"] == 365 * 24 * 3600


@pytest.mark.django_db
def test_a_signed_in_cookie_over_https_is_for_this_host_alone(settings, alice):
    settings.SESSION_COOKIE_NAME, settings.SESSION_COOKIE_SECURE = "__Host-s", True
    client = Client()

    client.force_login(alice)
    client.get("/t/alice-health/sandbox/", secure=True)

    cookie = client.cookies["__Host-s"]
    assert (cookie["path"], cookie["domain"], cookie["secure"]) == ("/", "", True)
    assert cookie["httponly"] is True
    assert cookie["samesite"] == "Lax"

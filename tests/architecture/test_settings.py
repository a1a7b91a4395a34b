from __future__ import annotations

import re
import runpy
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils.module_loading import import_string

from portal.docs.references import list_environment_variables

ROOT = Path(settings.BASE_DIR)


def test_the_example_environment_lists_every_variable_that_settings_read():
    source = (ROOT / "portal/settings.py").read_text()
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', source))
    example = (ROOT / ".env.example").read_text()
    listed = set(re.findall(r"^#? ?([A-Z_]+)=", example, re.MULTILINE))

    assert listed == read


def test_an_environment_of_empty_variables_is_as_good_as_none(monkeypatch):
    source = (ROOT / "portal/settings.py").read_text()
    names = re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', source)
    for name in names:
        monkeypatch.delenv(name, raising=False)
    usual = plain_settings()
    for name in names:
        monkeypatch.setenv(name, "")

    assert plain_settings() == usual
    assert usual["CONN_MAX_AGE"] is None


def test_a_silent_database_is_given_up_unless_its_address_says_otherwise(monkeypatch):
    text = "?connect_timeout=2&sslmode=require&options=-c%20jit%3Don"
    monkeypatch.setenv("SECRET_KEY", "x" * 50)
    monkeypatch.setenv("DATABASE_URL", "postgres://a:b@db.example:5432/assay")
    usual = read_settings()["DATABASES"]["default"]
    monkeypatch.setenv("DATABASE_URL", f"postgres://a:b@db.example:5432/assay{text}")
    own = read_settings()["DATABASES"]["default"]

    assert usual["OPTIONS"] == {
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,
        "options": "-c jit=off",
    }
    assert own["OPTIONS"] == {
        **usual["OPTIONS"],
        "connect_timeout": 2,
        "sslmode": "require",
        "options": "-c jit=off -c jit=on",  # the last one counts
    }


def test_a_command_beside_the_demo_uses_the_demos_secret_key(monkeypatch, tmp_path):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("VAR_DIR", str(tmp_path))
    (tmp_path / "demo-secret-key").write_text("the demo's key\n")

    assert read_settings()["SECRET_KEY"] == "the demo's key"
    monkeypatch.setenv("DATABASE_URL", "postgres://a:b@db.example:5432/assay")
    assert read_settings()["SECRET_KEY"] == ""
    monkeypatch.setenv("SECRET_KEY", "x" * 50)
    assert read_settings()["SECRET_KEY"] == "x" * 50


def read_settings():
    return runpy.run_path(str(ROOT / "portal/settings.py"))


def plain_settings():
    """Read settings.py in this environment, without what is made up each time."""
    plain = (str, int, Path, timedelta, type(None))
    return {
        name: value
        for name, value in read_settings().items()
        if name.isupper() and name != "SECRET_KEY" and isinstance(value, plain)
    }


def test_every_variable_is_explained_and_has_its_section():
    unexplained = [each.names for each in list_environment_variables() if not each.text]
    lost = [each.names for each in list_environment_variables() if not each.section]

    assert (unexplained, lost) == ([], [])


def test_every_path_named_in_settings_can_be_imported():
    paths = [
        *settings.MIDDLEWARE,
        *settings.AUTHENTICATION_BACKENDS,
        *settings.PASSWORD_HASHERS,
        settings.ACCOUNT_ADAPTER,
        settings.WSGI_APPLICATION,
        settings.REST_FRAMEWORK["EXCEPTION_HANDLER"],
        *settings.SPECTACULAR_SETTINGS["PREPROCESSING_HOOKS"],
    ]

    for path in paths:
        assert import_string(path)

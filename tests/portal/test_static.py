"""The files under static/ are what they say, and survive being collected."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

STATIC = Path(settings.BASE_DIR) / "static"
VENDOR = STATIC / "vendor"
MANIFEST = "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"


def vendored():
    text = (VENDOR / "VENDORED.md").read_text()
    return dict(re.findall(r"^\| `([^`]+)` .*`([0-9a-f]{64})` \|$", text, re.MULTILINE))


def test_every_vendored_file_is_listed_with_its_licence():
    files = {path.name for path in VENDOR.iterdir()}
    licences = {name for name in files if name.endswith("LICENSE.txt")}

    assert set(vendored()) == files - licences - {"VENDORED.md"}
    assert licences == set(
        re.findall(r"`([\w-]+LICENSE\.txt)`", (VENDOR / "VENDORED.md").read_text())
    )


@pytest.mark.parametrize(("name", "digest"), vendored().items())
def test_a_vendored_file_is_unmodified(name, digest):
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest


def test_every_file_named_in_a_style_sheet_is_there(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    settings.STATICFILES_DIRS = [STATIC]
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": MANIFEST}}

    call_command("collectstatic", interactive=False, verbosity=0)

    assert (tmp_path / "staticfiles.json").exists()


@pytest.mark.parametrize(
    "path", sorted((STATIC / "css").glob("*.css")), ids=lambda path: path.name
)
def test_colours_are_written_in_the_tokens_alone(path):
    found = re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgb\(|\bhsl\(", path.read_text())

    assert (found == []) is (path.name != "tokens.css")


def test_dark_gives_every_colour_of_light_a_value():
    light, dark = (STATIC / "css" / "tokens.css").read_text().split(":root[data-theme")
    names = re.compile(r"(--[\w-]+): (?:#|rgb|0 )")
    art = {"--art", "--art-ink", "--art-ink-2", "--shine", "--shade"}
    page = {"--page", *re.findall(r"--region[\w-]*", light)}
    same_in_both = art | page

    assert set(names.findall(light)) - same_in_both == set(names.findall(dark))

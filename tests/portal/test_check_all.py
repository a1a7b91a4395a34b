from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from portal.management.commands import check_all
from portal.management.commands.check_all import (
    Step,
    compare_catalogue,
    compare_openapi,
    run_command,
)


@pytest.fixture
def steps(monkeypatch):
    """Two steps that note that they ran: the first fails, the second passes."""
    ran = []

    def note(step):
        ran.append(step.name)
        return step.name == "good"

    monkeypatch.setattr(check_all, "STEPS", (Step("bad", note), Step("good", note)))
    return ran


def test_every_step_runs_though_one_before_it_fails(steps, capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("check_all")

    table = [line.split()[:2] for line in capsys.readouterr().out.splitlines()[-2:]]
    assert ended.value.code == 1
    assert steps == ["bad", "good"]
    assert table == [["FAILED", "bad"], ["ok", "good"]]


def test_a_long_step_runs_only_if_named_or_asked_for(steps, monkeypatch):
    short, good = check_all.STEPS
    monkeypatch.setattr(check_all, "STEPS", (replace(short, is_long=True), good))

    call_command("check_all")
    assert steps == ["good"]
    with pytest.raises(SystemExit):
        call_command("check_all", "bad")
    assert steps == ["good", "bad"]
    with pytest.raises(SystemExit):
        call_command("check_all", "--long")
    assert steps == ["good", "bad", "bad", "good"]


def test_named_steps_run_alone(steps):
    call_command("check_all", "good")

    assert steps == ["good"]


def test_a_skipped_step_does_not_run(steps):
    call_command("check_all", skip=["bad"])

    assert steps == ["good"]


def test_a_step_that_does_not_exist_is_refused(steps):
    with pytest.raises(CommandError, match="nonsense"):
        call_command("check_all", "nonsense")

    assert steps == []


def test_the_steps_are_those_of_the_definition_of_done(capsys):
    call_command("check_all", "--list")

    assert capsys.readouterr().out.split() == [
        "format",
        "lint",
        "types",
        "imports",
        "templates",
        "migrations",
        "deploy",
        "openapi",
        "catalogue",
        "audit",
        "tests",
        "coverage",
        "browser",
        "long",
        "siege",
        "kills",
        "standby",
        "full_disk",
        "restore",
        "fuzz",
        "clients",
        "generators",
        "lab_exchange",
    ]


@pytest.mark.parametrize(("code", "passed"), [(0, True), (3, False)])
def test_a_command_passes_by_its_exit_code(code, passed):
    command = (sys.executable, "-c", f"raise SystemExit({code})")

    assert run_command(Step("any", run_command, command)) is passed


def test_a_command_sees_its_steps_environment():
    command = (
        sys.executable,
        "-c",
        "import os; raise SystemExit(os.environ['ASSAY_STEP'] != 'yes')",
    )

    assert run_command(Step("any", run_command, command, {"ASSAY_STEP": "yes"}))


@pytest.mark.parametrize(
    ("snapshot", "passed"), [("openapi: 3.1.1\n", True), ("openapi: 3.0.0\n", False)]
)
def test_the_openapi_document_must_be_the_committed_one(
    settings, tmp_path, snapshot, passed, capsys
):
    settings.BASE_DIR = tmp_path
    (tmp_path / check_all.SNAPSHOT).parent.mkdir(parents=True)
    (tmp_path / check_all.SNAPSHOT).write_text(snapshot)
    write = (
        "import pathlib, sys; pathlib.Path(sys.argv[2]).write_text('openapi: 3.1.1\\n')"
    )
    step = Step("openapi", compare_openapi, (sys.executable, "-c", write))

    assert compare_openapi(step) is passed

    shown = capsys.readouterr().out
    assert ("+openapi: 3.1.1" in shown) is not passed


def test_a_missing_openapi_snapshot_fails(settings, tmp_path):
    settings.BASE_DIR = tmp_path
    write = (
        "import pathlib, sys; pathlib.Path(sys.argv[2]).write_text('openapi: 3.1.1\\n')"
    )
    step = Step("openapi", compare_openapi, (sys.executable, "-c", write))

    assert not compare_openapi(step)


@pytest.mark.parametrize(("kept", "passed"), [("a text\n", True), ("another\n", False)])
def test_the_catalogue_must_be_what_makemessages_writes_and_is_left_alone(
    settings, tmp_path, monkeypatch, kept, passed, capsys
):
    settings.BASE_DIR = tmp_path
    monkeypatch.setattr(check_all, "TRANSLATED", ("manage.py", "locale"))
    (tmp_path / "manage.py").touch()
    catalogue = tmp_path / check_all.CATALOGUE
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text(kept)
    write = (
        f"import pathlib; pathlib.Path({check_all.CATALOGUE!r}).write_text('a text\\n')"
    )
    step = Step("catalogue", compare_catalogue, (sys.executable, "-c", write))

    assert compare_catalogue(step) is passed

    assert ("+a text" in capsys.readouterr().out) is not passed
    assert catalogue.read_text() == kept

"""`manage.py check_all`: every check that CI runs, in order, with a table at the end.

A step is a command line and what it needs of the environment; a new check is one entry
of STEPS. All steps run, whatever fails before them.
"""

from __future__ import annotations

import difflib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from portal.ops.dependency_audit import has_no_overdue_advisory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.core.management.base import CommandParser

COVERAGE_FLOOR = 95  # percent of branches in operations, queries and api
COVERED = "*/operations*,*/queries*,*/api/*"
LONGEST_DIFFERENCE = 60  # lines shown
SNAPSHOT = "tests/contract/openapi.yaml"
CATALOGUE = "locale/en/LC_MESSAGES/django.po"
CATALOGUES = "locale/*/LC_MESSAGES/django.po"
# What has texts for people, and what Django needs to collect them.
TRANSLATED = (
    *("manage.py", "locale", "templates", "static/js"),
    *("portal", "accounts", "users", "labs", "reports", "exchange"),
)
BROWSER = "tests/browser"  # all that is marked so; collecting the rest takes long
LONG = "tests"  # they are few, and stand beside what they judge
PROGRAMS = Path(sys.executable).parent
PYTHON = (sys.executable,)
MANAGE = (sys.executable, "manage.py")
PYTEST = (sys.executable, "-m", "pytest")
KILLS = (sys.executable, "-m", "tests.attacks.kills")

# As on a server of ours, with every safety on; nothing is connected to.
PRODUCTION = {
    "DEBUG": "false",
    "DATABASE_URL": "postgresql://assay@db.assay.example/assay",
    "SECRET_KEY": secrets.token_urlsafe(50),
    "PUBLIC_URL": "https://assay.example",
    "ALLOWED_HOSTS": "assay.example",
    "EMAIL_URL": "smtp+tls://assay:unused@mail.assay.example:587",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One check: its name, what it runs, and what that needs of the environment.

    One that is long runs if named, or with --long.
    """

    name: str
    run: Callable[[Step], bool]
    command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    is_long: bool = False


def run_command(step: Step, *, folder: Path | None = None) -> bool:
    """Whether the command ends with 0; what it prints goes on to the terminal."""
    done = subprocess.run(  # noqa: S603 - our own command line
        step.command,
        cwd=folder or settings.BASE_DIR,
        env=os.environ | step.environment,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0


def show_difference(stored: str, made: str, name: str, remedy: str) -> bool:
    """Return whether a committed file is what the code makes; prints what differs."""
    difference = list(
        difflib.unified_diff(
            stored.splitlines(), made.splitlines(), name, "the code", lineterm="", n=1
        )
    )
    sys.stdout.writelines(f"{line}\n" for line in difference[:LONGEST_DIFFERENCE])
    if difference:
        sys.stdout.write(
            f"{len(difference)} lines of difference. If it is meant: {remedy}\n"
        )
    return not difference


def compare_openapi(step: Step) -> bool:
    """Whether the OpenAPI document is the committed one; prints the difference."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "openapi.yaml"
        command = (*step.command, "--file", str(fresh))
        if not run_command(Step(step.name, run_command, command)):
            return False
        made = fresh.read_text()
    snapshot = settings.BASE_DIR / SNAPSHOT
    stored = snapshot.read_text() if snapshot.exists() else ""
    return show_difference(
        stored, made, SNAPSHOT, f"manage.py spectacular --file {SNAPSHOT}"
    )


def compare_catalogue(step: Step) -> bool:
    """Whether the catalogues have exactly the texts of the code and templates.

    The texts are collected in a copy of the tree, as `makemessages` writes files beside
    the templates while it runs.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in TRANSLATED:
            source = settings.BASE_DIR / name
            if source.is_dir():
                shutil.copytree(source, copy / name)
            else:
                shutil.copy(source, copy / name)
        if not run_command(step, folder=copy):
            return False
        made = {
            str(each.relative_to(copy)): each.read_text()
            for each in sorted(copy.glob(CATALOGUES))
        }
    same = [
        show_difference(
            (settings.BASE_DIR / name).read_text(), text, name, "manage.py makemessages"
        )
        for name, text in made.items()
    ]
    return all(same)


def lint_templates(step: Step) -> bool:
    """Return whether djade would leave every template as it is."""
    pages = sorted(str(page) for page in settings.BASE_DIR.glob("templates/**/*.html"))
    return run_command(Step(step.name, run_command, (*step.command, *pages)))


def audit(_step: Step) -> bool:
    """Return whether no dependency has a weakness that a release fixes."""
    return has_no_overdue_advisory()


STEPS = (
    Step("format", run_command, (*PYTHON, "-m", "ruff", "format", "--check", ".")),
    Step("lint", run_command, (*PYTHON, "-m", "ruff", "check", ".")),
    Step("types", run_command, (*PYTHON, "-m", "mypy", ".")),
    Step("imports", run_command, (str(PROGRAMS / "lint-imports"),)),
    Step(
        "templates",
        lint_templates,
        (str(PROGRAMS / "djade"), "--check", "--target-version", "5.2"),
    ),
    Step(
        "migrations",
        run_command,
        (*MANAGE, "makemigrations", "--check", "--dry-run"),
    ),
    Step(
        "deploy",
        run_command,
        (*MANAGE, "check", "--deploy", "--fail-level", "WARNING"),
        PRODUCTION,
    ),
    Step(
        "openapi",
        compare_openapi,
        (*MANAGE, "spectacular", "--validate", "--fail-on-warn"),
    ),
    Step("catalogue", compare_catalogue, (*MANAGE, "makemessages")),
    Step("audit", audit),
    Step(
        "tests",
        run_command,
        (*PYTEST, "-m", "not browser and not long", "--cov", "--cov-report="),
    ),
    Step(
        "coverage",
        run_command,
        (
            *(*PYTHON, "-m", "coverage", "report"),
            f"--include={COVERED}",
            f"--fail-under={COVERAGE_FLOOR}",
        ),
    ),
    Step(
        "browser",
        run_command,
        (*PYTEST, "-m", "browser and not long", BROWSER),
    ),
    # One after another: each ends servers and waits for them by the clock.
    Step("long", run_command, (*PYTEST, "-m", "long", "-n", "0", LONG), is_long=True),
    Step("siege", run_command, (*PYTHON, "-m", "tests.attacks.siege"), is_long=True),
    Step("kills", run_command, KILLS, is_long=True),
    Step(
        "standby",
        run_command,
        (*KILLS, "--standby", "--kills", "8"),
        is_long=True,
    ),
    Step(
        "full_disk",  # as root, who mounts it
        run_command,
        (*KILLS, "--full-disk", "--kills", "6"),
        is_long=True,
    ),
    Step("restore", run_command, (*PYTHON, "-m", "tests.bench.restore"), is_long=True),
    Step("fuzz", run_command, (*PYTHON, "-m", "tests.fuzz"), is_long=True),
    Step(
        "clients", run_command, (*PYTHON, "-m", "tests.contract.clients"), is_long=True
    ),
    Step(
        "generators",
        run_command,
        (*PYTHON, "-m", "tests.contract.generators"),
        is_long=True,
    ),
    Step(
        "lab_exchange",
        run_command,
        (*PYTHON, "-m", "tests.attacks.lab_exchange"),
        is_long=True,
    ),
)


class Command(BaseCommand):
    """Run every step, or those named."""

    help = "Run every check that CI runs, or those named."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take step names, --skip and --list."""
        names = [step.name for step in STEPS]
        parser.add_argument(
            "steps",
            nargs="*",
            metavar="STEP",
            help=f"one or more of {', '.join(names)}",
        )
        parser.add_argument(
            "--skip", action="append", default=[], choices=names, metavar="STEP"
        )
        parser.add_argument(
            "--long",
            action="store_true",
            help="also long steps",
        )
        parser.add_argument("--list", action="store_true", help="name the steps")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the steps and print the table; exit with 1 when any fails."""
        if options["list"]:
            self.stdout.write("\n".join(step.name for step in STEPS))
            return
        unknown = set(options["steps"]) - {step.name for step in STEPS}
        if unknown:
            raise CommandError(f"No such step: {', '.join(sorted(unknown))}.")
        step_names = options["steps"] or [
            step.name for step in STEPS if options["long"] or not step.is_long
        ]
        results = self._run(
            [
                step
                for step in STEPS
                if step.name in step_names and step.name not in options["skip"]
            ]
        )
        self.stdout.write("")
        for name, passed, seconds in results:
            state = self.style.SUCCESS("ok    ") if passed else None
            state = state or self.style.ERROR("FAILED")
            self.stdout.write(f"{state}  {name:12}{seconds:7.1f} s")
        if not all(passed for _, passed, _ in results):
            sys.exit(1)

    def _run(self, steps: Sequence[Step]) -> list[tuple[str, bool, float]]:
        results = []
        for step in steps:
            self.stdout.write(self.style.MIGRATE_HEADING(f"\n{step.name}"))
            self.stdout.flush()
            began = time.monotonic()
            passed = step.run(step)
            results.append((step.name, passed, time.monotonic() - began))
        return results

"""`manage.py sbom`: the Python packages of this installation, as CycloneDX."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

# What deploy/build installs besides the packages themselves, and where it writes this.
GROUPS = ("ocr", "sentry", "s3")
FILE_NAME = "sbom.cdx.json"


class Command(BaseCommand):
    """Print the software bill of materials."""

    help = (
        "Print the Python packages with versions and SHA-256 as CycloneDX 1.5: the list"
        " that the image was built with, else uv.lock's, which needs uv."
    )
    requires_system_checks: list[str] = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Print what deploy/build wrote, or export it."""
        built = settings.BASE_DIR / FILE_NAME
        if built.exists():
            self.stdout.write(built.read_text(), ending="")
            return
        uv = shutil.which("uv")
        if uv is None:
            raise CommandError("uv is not on the path, and the list was not built.")
        groups = [option for name in GROUPS for option in ("--group", name)]
        options = ["--frozen", "--no-dev", *groups, "--format", "cyclonedx1.5"]
        done = subprocess.run(  # noqa: S603 - our own command line
            [uv, "export", "--quiet", *options],
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise CommandError(done.stderr.strip())
        self.stdout.write(done.stdout, ending="")

"""`manage.py doctor`: every health check in words, with what helps where one fails."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from portal.health import CHECKS, look_at


class Command(BaseCommand):
    """Explain the state of this server."""

    help = "Look at everything this server needs and say in words what is wrong."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line per check; exit with 1 when any fails."""
        width = max(len(check.name) for check in CHECKS)
        seen = set()
        failed = 0
        for check, finding in look_at(CHECKS):
            seen.add(check.name)
            failed += not finding.ok
            state = self.style.SUCCESS("ok    ") if finding.ok else None
            self.stdout.write(
                f"{state or self.style.ERROR('FAILED')}  {check.name:{width}}"
                f"  {finding.sentence}"
            )
            if not finding.ok:
                self.stdout.write(f"{'':{width + 10}}{finding.remedy}")
        for check in CHECKS:
            if check.name not in seen:
                self.stdout.write(
                    f"-       {check.name:{width}}  Not looked at: needs the database."
                )
        if failed:
            sys.exit(1)

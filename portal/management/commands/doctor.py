"""`manage.py doctor`: every health check in words, with what helps where one fails."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from portal.ops.health import run_all_health_checks

_WORDS = {"ok": "ok    ", "warn": "warn  ", "fail": "FAILED", "skip": "-     "}


class Command(BaseCommand):
    """Explain the state of this server."""

    help = "Check everything this server needs and explain what is wrong."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object per check"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line per check; exit with 1 when any fails, not for warnings."""
        looked = run_all_health_checks()
        if options["json"]:
            findings = [
                {
                    "check": check.name,
                    "state": state,
                    "says": finding.sentence,
                    "helps": "" if finding.ok else finding.remedy,
                }
                for check, state, finding in looked
            ]
            self.stdout.write(json.dumps(findings, indent=2))
        else:
            self._print(looked)
        if any(state == "fail" for _, state, _ in looked):
            sys.exit(1)

    def _print(self, looked: list[Any]) -> None:
        width = max(len(check.name) for check, _, _ in looked)
        styles = {
            "ok": self.style.SUCCESS,
            "warn": self.style.WARNING,
            "fail": self.style.ERROR,
        }
        for check, state, finding in looked:
            word = styles.get(state, str)(_WORDS[state])
            self.stdout.write(f"{word}  {check.name:{width}}  {finding.sentence}")
            if state in {"warn", "fail"}:
                self.stdout.write(f"{'':{width + 10}}{finding.remedy}")

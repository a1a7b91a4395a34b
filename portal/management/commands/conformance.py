"""`manage.py conformance`: check a sandbox and a receiver before going live."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from conformance import command

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """Run the conformance kit of this repository."""

    help = (
        "Call the API with a sandbox key as a team's own code does, and send every"
        " event to its webhook receiver. Exits 1 if a check failed. What it makes in"
        " the sandbox it deletes."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        command.add_arguments(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        code = command.run(argparse.Namespace(**options), self.stdout.write)
        if code:
            raise CommandError("A check failed.", returncode=code)

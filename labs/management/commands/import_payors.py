"""Import a public list of insurers for production."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from labs.operations.public_lists import import_listed_payors
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Imports the file; prints the faulty lines and exits 1 if there are any."""

    help = (
        "Import the CSV of the Medicare Advantage contract directory of CMS as"
        " production's insurers. It replaces the imported insurers."
        " If any line has an error, nothing is imported."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            with options["file"].open(encoding="utf-8-sig", newline="") as lines:
                number = import_listed_payors(lines=lines)
        except DomainError as refusal:
            raise CommandError(refusal.message) from None
        except (OSError, UnicodeDecodeError) as fault:
            raise CommandError(f"Can't read the file: {type(fault).__name__}") from None
        self.stdout.write(f"Insurers imported: {number}.")

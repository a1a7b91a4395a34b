"""`manage.py import_loinc FILE`: widen the LOINC search by the official table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from portal.lib.errors import DomainError
from reports.operations.loinc import import_loinc, loinc_folder

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Imports Loinc.csv; exits 1 with the reason where it is not taken."""

    help = (
        "Take over the official LOINC table (Loinc.csv or LoincTableCore.csv of the"
        " release from loinc.org) for searching codes and for rows that the"
        " project's own catalogue does not know."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            count = import_loinc(source=options["file"])
        except DomainError as refusal:
            raise CommandError(refusal.message) from None
        self.stdout.write(f"{count} codes can be searched from {loinc_folder()}.")

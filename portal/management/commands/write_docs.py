"""`manage.py write_docs`: generate the reference pages below docs/reference/."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from portal.docs.references import list_outdated_references

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """Write the references that repeat what the code says."""

    help = (
        "Generate docs/reference/environment.md, commands.md, events.md, asvs.md,"
        " lake.md and hl7-messages.md, and conformance/events.json, from .env.example,"
        " the commands' help, the event catalogue, portal/docs/asvs.txt, the lake's"
        " columns and the HL7 writers."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check",
            action="store_true",
            help="write nothing, and exit with 1 if a page is not current",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        outdated = list_outdated_references()
        names = [str(path.relative_to(settings.BASE_DIR)) for path in outdated]
        if options["check"] and names:
            raise CommandError(
                f"Not current: {', '.join(names)}. Run manage.py write_docs."
            )
        for path, text in outdated.items():
            path.write_text(text)
        for name in names:
            self.stdout.write(f"{name} written.")

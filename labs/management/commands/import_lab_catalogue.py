"""Check and import a catalogue of labs from a folder of CSV files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Tenant
from accounts.states import Environment
from labs.operations.catalogue.catalogue_rows import COLUMNS, read_catalogue_folder
from labs.operations.catalogue.import_catalogue import (
    apply_catalogue_update,
    check_catalogue_update,
    discard_catalogue_update,
    list_catalogue_changes,
)
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.tenancy import across_tenants, acting_for

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from labs.models import CatalogueUpdate

_FILES = " ".join(
    f"{name}.csv requires {', '.join(needed)}; optional: {', '.join(optional)}."
    for name, (needed, optional) in COLUMNS.items()
)


class Command(BaseCommand):
    """Imports a folder of CSV files; prints the faulty lines and exits 1 if any."""

    help = (
        "Import the labs, markers, expected results, order questions and service"
        " centers of production, or of a team's own labs, from a folder of CSV files."
        f" {_FILES} service_centers.csv may be missing. Separate list items with |,"
        " and write answers as code=text and stability as storage=hours. A result names"
        " its marker by lab and marker, or by marker_id. Stored rows keep their IDs and"
        " are matched by slug, by lab and provider_id, and by marker and provider_id."
        " If any line has an error, nothing is imported. Orders keep what they were"
        " placed with. Each difference is printed. FOLDER may be a file of HL7 messages"
        " instead, MFN^M08 and MFN^M10, of labs that are stored."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER")
        parser.add_argument(
            "--complete",
            action="store_true",
            help="retire the markers and centers of these labs that the files lack",
        )
        self.add_shared_arguments(parser)

    def add_shared_arguments(self, parser: ArgumentParser) -> None:
        """Add what imports of a whole catalogue and of service centers share."""
        parser.add_argument(
            "--dry-run", action="store_true", help="print the differences only"
        )
        parser.add_argument(
            "--team", metavar="SLUG", help="import into this team's own catalog"
        )
        parser.add_argument(
            "--environment",
            choices=Environment.values,
            default=Environment.PRODUCTION.value,
            help="of the team's own catalog",
        )

    def read_contents(self, options: dict[str, Any]) -> dict[str, bytes]:
        """Read the files. Raises: OSError; lab_catalogue_invalid."""
        return read_catalogue_folder(options["folder"])

    def handle(self, *_args: Any, **options: Any) -> None:
        actor = Actor.system(type(self).__module__.rpartition(".")[2])
        owner = self._find_owner(options)
        try:
            contents = self.read_contents(options)
            with (
                acting_for(owner)
                if owner
                else across_tenants(why="the catalogue is shared by all teams")
            ):
                update = check_catalogue_update(
                    contents=contents,
                    actor=actor,
                    is_complete=options["complete"],
                    owner=owner,
                )
                self._print_changes(update)
                if options["dry_run"] or not update.changes:
                    discard_catalogue_update(update_id=update.pk, owner=owner)
                    self.stdout.write("Nothing was imported.")
                    return
                update = apply_catalogue_update(
                    update_id=update.pk, actor=actor, owner=owner
                )
        except DomainError as refusal:
            raise CommandError(refusal.message) from None
        except OSError as fault:
            raise CommandError(
                f"Can't read the files: {type(fault).__name__}"
            ) from None
        self.stdout.write(f"Catalog update {update.number} is applied.")

    def _find_owner(self, options: dict[str, Any]) -> Tenant | None:
        """Return the tenant whose own catalogue is meant; None for the shared one."""
        slug, environment = options["team"], options["environment"]
        if slug is None:
            if environment != Environment.PRODUCTION:
                raise CommandError("Give --team: the shared catalog is production's.")
            return None
        tenants = Tenant.objects.filter(team__slug=slug, environment=environment)
        owner = tenants.select_related("team").first()
        if owner is None:
            raise CommandError(f"No team has the slug {slug}.")
        return owner

    def _print_changes(self, update: CatalogueUpdate) -> None:
        changes = list_catalogue_changes(update)
        for change in changes:
            fields = "; ".join(
                f"{column}: {old or '(empty)'} -> {new or '(empty)'}"
                for column, old, new in change.fields
            )
            line = f"{change.kind} {change.table} {change.key}: {change.name}"
            self.stdout.write(f"{line} ({fields})" if fields else line)
        counts = Counter((change.kind, change.table) for change in changes)
        for (kind, table), number in sorted(counts.items()):
            self.stdout.write(f"{table} {kind}: {number}")

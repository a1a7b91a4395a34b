"""Import labs' directories of service centers from a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.management.commands import import_lab_catalogue
from labs.operations.catalogue.catalogue_rows import COLUMNS, read_catalogue_file

if TYPE_CHECKING:
    from argparse import ArgumentParser

_NEEDED, _OPTIONAL = COLUMNS["service_centers"]


class Command(import_lab_catalogue.Command):
    """Imports a CSV file; prints the faulty lines and exits 1 if there are any."""

    help = (
        "Import service centers of production's labs, or of a team's own, from a CSV"
        f" file. Required: {', '.join(_NEEDED)}. Optional: {', '.join(_OPTIONAL)}."
        " Separate list items with |. Write hours as 'mon-fri 06:30-12:00 12:30-15:30;"
        " sat 07:00-11:00'. Centers are matched by lab and site_code. If any line has"
        " an error, nothing is imported. Each difference is printed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--close-others",
            action="store_true",
            dest="complete",
            help="close centers of the file's labs that are not in the file",
        )
        self.add_shared_arguments(parser)

    def read_contents(self, options: dict[str, Any]) -> dict[str, bytes]:
        """Read the file. Raises: OSError; lab_catalogue_invalid, if it is too large."""
        return {"service_centers": read_catalogue_file(options["file"])}

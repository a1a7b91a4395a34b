"""Import a public list of insurers for production."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.management.public_lists import PublicListCommand
from labs.operations.public_lists import import_listed_payors

if TYPE_CHECKING:
    from collections.abc import Iterable


class Command(PublicListCommand):
    help = (
        "Import the CSV of the Medicare Advantage contract directory of CMS as"
        " production's insurers. It replaces the imported insurers."
        " If any line has an error, nothing is imported."
    )

    def import_lines(self, lines: Iterable[str]) -> str:
        return f"Insurers imported: {import_listed_payors(lines=lines)}."

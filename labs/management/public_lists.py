"""Shape of the commands that import a public list from a file."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable


class PublicListCommand(BaseCommand):
    """Imports a file; prints the faulty lines and exits 1 if there are any."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    @abstractmethod
    def import_lines(self, lines: Iterable[str]) -> str:
        """Import a list and return what to print. Raises: public_list_invalid."""

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            with options["file"].open(encoding="utf-8-sig", newline="") as lines:
                done = self.import_lines(lines)
        except DomainError as refusal:
            raise CommandError(refusal.message) from None
        except (OSError, UnicodeDecodeError) as fault:
            raise CommandError(f"Can't read the file: {type(fault).__name__}") from None
        self.stdout.write(done)

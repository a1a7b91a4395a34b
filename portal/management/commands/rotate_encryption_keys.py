"""`manage.py rotate_encryption_keys`: every stored secret under the newest key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from portal.lib.secrets.encryption import list_encryption_key_fingerprints
from portal.ops.key_rotation import reencrypt_stored_secrets

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """Re-encrypt while the server goes on working; may be stopped and run again."""

    help = (
        "Re-encrypt stored secrets under the first of ENCRYPTION_KEYS, so that the"
        " others can be removed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="count only, change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Say what became of each table; 1 where a secret is under no known key."""
        newest, *former = list_encryption_key_fingerprints()
        self.stdout.write(f"Newest key {newest}, {len(former)} older keys.")
        word = "to re-encrypt" if options["check"] else "re-encrypted"
        unreadable = 0
        for done in reencrypt_stored_secrets(check_only=options["check"]):
            unreadable += done.unreadable
            self.stdout.write(
                f"{done.table}: {done.rows} rows, {done.renewed} {word},"
                f" {done.unreadable} unreadable"
            )
        if unreadable:
            raise CommandError(
                f"{unreadable} rows can't be decrypted with ENCRYPTION_KEYS. Add the"
                " key that they were encrypted with."
            )

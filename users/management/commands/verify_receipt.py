"""`manage.py verify_receipt`: verify the signed file of an erasure receipt."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from portal.lib.secrets.signatures import (
    Signature,
    is_signed_with_installation_key,
    is_valid_signature,
)

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """Verify a receipt; exit 1 if it is invalid."""

    help = (
        "Verify the signed file of an erasure receipt, downloaded from the dashboard."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            data = json.loads(options["file"].read_text())
            document = data["document"].encode()
            signature = Signature(data["public_key"], data["signature"])
            digest = data["sha256"]
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise CommandError("This is not a receipt file.") from None
        is_whole = hashlib.sha256(document).hexdigest() == digest
        if not is_whole or not is_valid_signature(document, signature):
            raise CommandError("The receipt was changed after it was signed.")
        if not is_signed_with_installation_key(signature):
            raise CommandError(
                "The receipt is signed with a key of another installation."
            )
        self.stdout.write("The receipt is unchanged and signed by this installation.")

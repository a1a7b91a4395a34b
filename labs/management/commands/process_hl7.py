"""Process waiting HL7 files now; the worker does so every minute."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from labs.operations.inbound.files import process_files_of_all_hl7_folders
from portal.lib.actor import Actor


class Command(BaseCommand):
    """`manage.py process_hl7`."""

    help = "Process the HL7 files that labs delivered, without waiting for the worker."

    def handle(self, *args: Any, **options: Any) -> None:
        number = process_files_of_all_hl7_folders(actor=Actor.system("process_hl7"))
        self.stdout.write(f"Processed {number} file{'s' * (number != 1)}.")

"""Import the ICD-10-CM order file of CMS (icd10cm-order-YYYY.txt)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.management.public_lists import PublicListCommand
from labs.operations.public_lists import import_diagnosis_codes

if TYPE_CHECKING:
    from collections.abc import Iterable


class Command(PublicListCommand):
    help = (
        "Import the ICD-10-CM order file of CMS (icd10cm-order-YYYY.txt)."
        " It replaces the imported codes."
        " If any line has an error, nothing is imported."
    )

    def import_lines(self, lines: Iterable[str]) -> str:
        return f"Diagnosis codes imported: {import_diagnosis_codes(lines=lines)}."

"""The official LOINC table of this server: import it, and say where it lies.

What the table means is the parser's (reports.parser.loinc).
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from portal.lib.errors import DomainError
from reports.parser.loinc import ReleaseFault, ReleaseRefused, write_release

_SENTENCES = {
    ReleaseFault.FOREIGN: "The file is no LOINC table: take Loinc.csv of the release.",
    ReleaseFault.DAMAGED: "The table is damaged{where}.",
    ReleaseFault.EMPTY: "The table holds no active laboratory code.",
}


def import_loinc(*, source: Path) -> int:
    """Take over the release's table for searching; the number of codes it holds.

    The last import stays in use until the new one is whole. Raises:
    not_a_loinc_table, damaged_loinc_table, empty_loinc_table, file_not_found. Source:
    Ours; the LOINC licence lets a product hold the table, not hand it out changed.
    """
    try:
        return write_release(source, loinc_folder())
    except ReleaseRefused as refusal:
        where = f" in line {refusal.line}" if refusal.line else ""
        sentence = _SENTENCES[refusal.fault].format(where=where)
        raise DomainError(refusal.fault.value, sentence, "file") from None
    except FileNotFoundError:
        raise DomainError("file_not_found", "There is no such file.", "file") from None


def loinc_folder() -> Path:
    """Where the imported table lies, if there is one."""
    return Path(settings.LOINC_DIR)

"""Imports the official LOINC table of this server and returns its folder.

What the table means is the parser's (reports.parser.loinc).
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from reports.parser.loinc import ReleaseFault, ReleaseRefused, import_loinc_release

_SENTENCES = {
    ReleaseFault.FOREIGN: gettext_lazy(
        "The file is not a LOINC table. Use Loinc.csv from the release."
    ),
    ReleaseFault.DAMAGED: gettext_lazy("The table is damaged."),
    ReleaseFault.EMPTY: gettext_lazy("The table has no active laboratory codes."),
}


def import_loinc_table(*, source: Path) -> int:
    """Import the release's table for searching; return the number of codes.

    The last import stays in use until the new one is whole. Raises:
    not_a_loinc_table, damaged_loinc_table, empty_loinc_table, file_not_found. Source:
    Ours; the LOINC licence lets a product hold the table, not hand it out changed.
    """
    try:
        return import_loinc_release(source, get_imported_loinc_folder())
    except ReleaseRefused as refusal:
        sentence = str(_SENTENCES[refusal.fault])
        if refusal.fault is ReleaseFault.DAMAGED and refusal.line:
            sentence = _("The table is damaged in line %(line)d.") % {
                "line": refusal.line
            }
        raise DomainError(refusal.fault.value, sentence, "file") from None
    except FileNotFoundError:
        raise DomainError("file_not_found", _("File not found."), "file") from None


def get_imported_loinc_folder() -> Path:
    """Return the folder of the imported table, if there is one."""
    return Path(settings.LOINC_DIR)

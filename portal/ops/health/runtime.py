"""Check the Python that this server runs on, and a program that it may use."""

from __future__ import annotations

import sys

from portal.lib.tesseract import OCR_LANGUAGES, list_ocr_languages
from portal.ops.health.findings import Finding

# Before these a stranger's file, or a backup, keeps its reader busy for ever or shows
# other names than it unpacks. Source: the records of CVE-2025-8194 (tarfile) and
# CVE-2025-8291 (zipfile) by the Python Software Foundation.
LEAST_PATCH_LEVELS = {(3, 11): 14, (3, 12): 12, (3, 13): 10}


def check_python_version() -> Finding:
    """Check that Python has the fixes of modules that read strangers' files."""
    major, minor, patch = sys.version_info[:3]
    least = LEAST_PATCH_LEVELS.get((major, minor), 0)
    if patch >= least:
        return Finding(True, f"Python {major}.{minor}.{patch} has the known fixes.")
    return Finding(
        False,
        f"Python {major}.{minor}.{patch} lacks security fixes of"
        f" {major}.{minor}.{least} (CVE-2025-8194, CVE-2025-8291).",
        f"Install Python {major}.{minor}.{least} or newer. If your distribution fixed"
        " both in this version, nothing is to be done.",
        works_still=True,
    )


def check_ocr_languages() -> Finding:
    """Check which scripts can be read in pictures beside Latin and Chinese."""
    installed = list_ocr_languages()
    missing = [
        f"tesseract-ocr-{name}"
        for names in OCR_LANGUAGES.values()
        for name in names
        if name not in installed
    ]
    if not missing:
        scripts = ", ".join(name.capitalize() for name in OCR_LANGUAGES)
        return Finding(True, f"Pictures are read in Latin, Chinese, {scripts}.")
    return Finding(
        False,
        "Pictures of reports in some scripts fail as not_english.",
        f"Where such reports come, install {' '.join(missing)}.",
        works_still=True,
    )

"""Compile the catalogues under locale/ when they are missing or older than their text.

Compiled catalogues are not committed, and a bare machine has no gettext: each process
looks at its start, which costs a look at two times a language, and the first one
compiles. A build runs commands too, so an image has them.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

_log = logging.getLogger(__name__)


def compile_stale_catalogues(folder: Path) -> list[Path]:
    """Compile each translated `django.po` below a folder; return what was written.

    Where nothing can be written, as on a read-only disk, texts stay English and a line
    in the log says so. Two processes may compile at once: each replaces the whole file.
    """
    written = []
    for source in sorted(folder.glob("*/LC_MESSAGES/django.po")):
        compiled = source.with_suffix(".mo")
        # The English catalogue has no translations.
        if source.parts[-3] == "en" or _is_current(compiled, source):
            continue
        try:
            compile_catalogue(source, compiled)
        except OSError as error:
            _log.warning("%s could not be compiled: %s", source, error.strerror)
        else:
            written.append(compiled)
    return written


def compile_catalogue(source: Path, compiled: Path) -> None:
    """Write a catalogue as the binary file that gettext reads."""
    import polib  # where it is needed: most starts compile nothing

    content = polib.pofile(str(source)).to_binary()
    compiled.parent.mkdir(parents=True, exist_ok=True)
    temporary = compiled.with_name(f".{compiled.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(compiled)


def _is_current(compiled: Path, source: Path) -> bool:
    try:
        return compiled.stat().st_mtime >= source.stat().st_mtime
    except FileNotFoundError:
        return False

"""Read uploaded catalogue files, and pack exports to download."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.operations.catalogue.catalogue_rows import (
    COLUMNS,
    FILE_BYTES_MAX,
    MESSAGES,
    Fault,
    require_file_size,
)
from labs.operations.catalogue.import_catalogue import CatalogueInvalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# Older than zip files can be dated: the same files make the same bytes.
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
_ZIP_ENTRIES_MAX = 50


def read_catalogue_upload(files: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    """Return files of a catalogue by kind, from CSV files or a zip file of them.

    A CSV file is known by its name, in any folder of a zip file, and a file of HL7
    messages by its ending. Raises:
    lab_catalogue_invalid, for a file that is unknown, too large, there twice, or no zip
    file after all.
    """
    found: dict[str, bytes] = {}
    for name, content in _list_files(files):
        kind = PurePosixPath(name).stem.lower()
        if name.lower().endswith(".hl7"):
            kind = MESSAGES
        elif kind not in COLUMNS or not name.lower().endswith(".csv"):
            known = ", ".join(f"{each}.csv" for each in COLUMNS)
            message = _("the file is none of %(known)s") % {"known": known}
            raise CatalogueInvalid([Fault(name, message)])
        if kind in found:
            raise CatalogueInvalid([Fault(name, _("the file is there twice"))])
        found[kind] = content
    return found


def pack_catalogue_files(files: Mapping[str, bytes]) -> bytes:
    """Return a zip file of CSV files by kind; the same files make the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            ending = "hl7" if name == MESSAGES else "csv"
            entry = zipfile.ZipInfo(f"{name}.{ending}", _ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return packed.getvalue()


def _list_files(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    for name, content in files:
        require_file_size(name, len(content))
        if name.lower().endswith(".zip"):
            yield from _unzip(name, content)
        else:
            yield name, content


def _unzip(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [each for each in archive.infolist() if _is_file(each)]
            if len(entries) > _ZIP_ENTRIES_MAX:
                message = _("the zip file has too many files")
                raise CatalogueInvalid([Fault(name, message)])
            for entry in entries:
                # One more byte than may be: what it says of its size may be a lie.
                with archive.open(entry) as opened:
                    text = opened.read(FILE_BYTES_MAX + 1)
                require_file_size(entry.filename, len(text))
                yield entry.filename, text
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
    ):
        message = _("the zip file is damaged or encrypted")
        raise CatalogueInvalid([Fault(name, message)]) from None


def _is_file(entry: zipfile.ZipInfo) -> bool:
    """Return whether an entry is a file of the user, no folder or system's own."""
    path = PurePosixPath(entry.filename)
    is_hidden = path.name.startswith(".") or "__MACOSX" in path.parts
    return not (entry.is_dir() or is_hidden)

"""Detection of a file's format by its content; its name helps where content cannot."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from users.states.imports import ImportFormat, ImportRefusal
from users.wearables.formats.recognition import describe_head, find_known_form
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.uploads.archives import (
    DirectoryTooLong,
    find_apple_health_export,
    list_archive_members,
)
from users.wearables.formats.uploads.heads import HEAD_BYTES, Head
from users.wearables.formats.uploads.members import (
    SHORT_HEAD_BYTES,
    Budget,
    MemberDamaged,
    iterate_upload_members,
)
from users.wearables.formats.vendors import RECORDINGS, find_form

if TYPE_CHECKING:
    from pathlib import Path

# What is read while a request waits, in some 0.2 s; a long directory is the worker's.
_DIRECTORY_SHORT = 1024**2
_MEMBERS_LOOKED_AT = 300
_ROOT = re.compile(r"<HealthData[\s>/]")
_NAMED = re.compile(r'"(?:resource|series)"\s*:\s*"')
_SAMPLES = {"resource", "series"}


def detect_file_format(path: Path, name: str = "") -> ImportFormat:
    """Detect the format of a file by its head or the heads of an archive's members.

    A hostile file takes no longer: an archive with a long directory is taken for an
    Apple Health export, and its reader refuses it.

    Raises: FileRefused (file_empty, unsupported_file_type, export_not_supported,
    file_damaged, encrypted_file, archive_too_large, no_export_inside), whose message
    names what the file was recognized as. Source: Ours: a file's name and declared type
    can be wrong.
    """
    with path.open("rb") as opened:
        head = Head(opened.read(HEAD_BYTES), name)
    if head.kind == "empty":
        raise FileRefused(ImportRefusal.EMPTY)
    if head.kind == "zip":
        return _detect_archive(path, name)
    if head.kind == "gzip":
        head = _unpack_head(path, name)
    found = _detect(head)
    if found is None:
        raise _refusal_of(head)
    return found


def _detect(head: Head) -> ImportFormat | None:
    """Return the format of a single file by its head."""
    # Apple's are UTF-8; in another encoding a declaration could hide.
    is_plain = head.encoding in {"utf-8", "utf-8-sig"}
    if head.kind == "xml" and is_plain and _ROOT.search(head.text):
        return ImportFormat.APPLE_HEALTH
    form = find_form(head)
    if form is not None:
        return form.format
    if head.kind == "json" and _NAMED.search(head.text):
        return ImportFormat.NDJSON
    for line in head.headers:
        columns = set(line.columns)
        if _SAMPLES & columns and "value" in columns:
            return ImportFormat.CSV
    return None


def _unpack_head(path: Path, name: str) -> Head:
    try:
        (member,) = iterate_upload_members(
            path, name, Budget(path.stat().st_size), lambda _: None
        )
        return member.head()
    except (MemberDamaged, zlib.error):
        raise FileRefused(ImportRefusal.DAMAGED, "a gzip archive") from None


def _detect_archive(path: Path, name: str) -> ImportFormat:
    """Return the format of most of an archive's members, a vendor's before others."""
    try:
        members = list_archive_members(path, directory_max=_DIRECTORY_SHORT)
    except DirectoryTooLong:
        return ImportFormat.APPLE_HEALTH
    names = {each.filename for each in members}
    if {"xl/workbook.xml", "word/document.xml"} & names:
        raise FileRefused(ImportRefusal.UNSUPPORTED, "an Office document")
    export = find_apple_health_export(members)
    if export is not None and _is_apple(path, export.filename):
        return ImportFormat.APPLE_HEALTH
    found: Counter[ImportFormat] = Counter()
    others: Counter[str] = Counter()
    budget = Budget(path.stat().st_size)
    for member in islice(
        iterate_upload_members(path, name, budget, lambda _: None), _MEMBERS_LOOKED_AT
    ):
        try:
            head = member.head(SHORT_HEAD_BYTES)
        except MemberDamaged:
            continue
        form = find_form(head)
        if form is not None:
            found[form.format] += 1
        else:
            known = find_known_form(head)
            others[str(known.name) if known and known.is_export else ""] += 1
    vendors = Counter({each: n for each, n in found.items() if each not in RECORDINGS})
    for counts in (vendors, found):
        if counts:
            return counts.most_common(1)[0][0]
    del others[""]
    if others:
        raise FileRefused(ImportRefusal.NOT_READ_YET, others.most_common(1)[0][0])
    raise FileRefused(ImportRefusal.NO_EXPORT)


def _is_apple(path: Path, export: str) -> bool:
    """Return whether the XML that could be Apple's export is it."""
    budget = Budget(path.stat().st_size)
    for member in iterate_upload_members(path, "", budget, lambda _: None):
        if member.name == export:
            try:
                return bool(_ROOT.search(member.head().text))
            except MemberDamaged:
                return True  # its reader says what is wrong
    return False


def _refusal_of(head: Head) -> FileRefused:
    known = find_known_form(head)
    if known is not None:
        # A web page is no export that could be read one day.
        reason = (
            ImportRefusal.NOT_READ_YET if known.is_export else ImportRefusal.UNSUPPORTED
        )
        return FileRefused(reason, str(known.name))
    return FileRefused(ImportRefusal.UNSUPPORTED, describe_head(head))

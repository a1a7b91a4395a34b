"""Reading a file in tests: what its rows became, without a database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from portal.lib.periods import find_time_zone_by_name
from users.wearables.formats.parts import read_import_file_parts
from users.wearables.formats.sniffing import detect_file_format
from users.wearables.formats.staging import parse_file_into_parts
from users.wearables.readings import Context

if TYPE_CHECKING:
    from pathlib import Path

    from users.wearables.formats.parts import Part
    from users.wearables.formats.staging import Staged

CONTEXT = Context(
    user_uuid=UUID(int=7),
    provider="manual",
    time_zone="Europe/Berlin",
    zone=find_time_zone_by_name("Europe/Berlin"),
    now=datetime(2026, 3, 1, 12, tzinfo=UTC),
)


class Read(NamedTuple):
    """What is told of a file, and its parts."""

    staged: Staged
    parts: list[Part]

    def of(self, slug: str) -> list[dict[str, Any]]:
        """The elements of a resource, in the order of the parts."""
        mine = [part for part in self.parts if part.resource == slug]
        return [element for part in mine for element in part.elements]


def read(folder: Path, content: bytes, name: str = "") -> Read:
    """Sniff and stage a file of these bytes."""
    path, parts = folder / "upload", folder / "upload.parts"
    path.write_bytes(content)
    staged = parse_file_into_parts(
        path,
        parts,
        format_=detect_file_format(path, name),
        context=CONTEXT,
        file_name=name,
        on_progress=lambda _: None,
    )
    return Read(staged, list(read_import_file_parts(parts)))

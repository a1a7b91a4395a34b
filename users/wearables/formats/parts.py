"""Parts of a parsed file, one line each, stored one by one."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

import orjson

from users.wearables.formats.rows import Origin, ReportedDevice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

# A line is written once and read once.
_LEVEL = 1


class PartKind(StrEnum):
    """The kind of a part's elements."""

    SAMPLES = "samples"
    SUMMARIES = "summaries"
    STREAM = "stream"
    LAB_REPORTS = "lab_reports"


@dataclass(frozen=True, slots=True)
class Part:
    """Validated elements that are stored in one transaction.

    `resource` is a slug. `first` and `last` are the moments they reach from and to, in
    ISO 8601. A stream is one element, of the workout `workout_id`.
    """

    kind: PartKind
    resource: str
    origin: Origin
    elements: list[dict[str, Any]]
    first: str
    last: str
    workout_id: UUID | None = None


class PartsWriter:
    """A writer of parts to a new private file."""

    def __init__(self, path: Path) -> None:
        self._raw = os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb"
        )
        self._packed = gzip.GzipFile(
            fileobj=self._raw, mode="wb", compresslevel=_LEVEL, mtime=0
        )
        self.count = 0

    def write(self, part: Part) -> None:
        """Append a part."""
        line = {
            "kind": part.kind,
            "resource": part.resource,
            "origin": [
                *part.origin[:3],
                part.origin.device and [*part.origin.device],
                part.origin.provider,
            ],
            "elements": part.elements,
            "first": part.first,
            "last": part.last,
            "workout_id": part.workout_id,
        }
        self._packed.write(orjson.dumps(line) + b"\n")
        self.count += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._packed.close()
        if kind is None:
            # The row that counts on it survives a power cut, so the file has to.
            self._raw.flush()
            os.fsync(self._raw.fileno())
        self._raw.close()


def read_import_file_parts(path: Path) -> Iterator[Part]:
    """Yield the parts of a file in order."""
    with gzip.open(path, "rb") as opened:
        for line in opened:
            read = orjson.loads(line)
            source_type, app_id, device_id, device, provider = read["origin"]
            workout_id = read["workout_id"]
            yield Part(
                kind=PartKind(read["kind"]),
                resource=read["resource"],
                origin=Origin(
                    source_type,
                    app_id,
                    device_id and UUID(device_id),
                    device and ReportedDevice(*device),
                    provider,
                ),
                elements=read["elements"],
                first=read["first"],
                last=read["last"],
                workout_id=workout_id and UUID(workout_id),
            )

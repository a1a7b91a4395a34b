"""FIT activities of sports watches and bike computers: a workout and its stream.

Must not be here: whether a value can be right (staging).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.states.imports import ImportRefusal
from users.wearables.formats.refusals import FileRefused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from users.wearables.formats.rows import Row
    from users.wearables.readings import Context


class FitReader:
    def __init__(self, path: Path, context: Context) -> None:
        self.provider = context.provider
        self.bytes_total = path.stat().st_size
        self.bytes_read = 0

    def rows(self) -> Iterator[Row]:
        raise FileRefused(ImportRefusal.UNSUPPORTED)

"""The error of a refused file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from users.states.imports import ImportRefusal


class FileRefused(DomainError):
    """The file is refused as a whole; its `code` is an ImportRefusal."""

    def __init__(self, reason: ImportRefusal) -> None:
        super().__init__(reason.value, str(reason.label), "file")
        self.reason = reason

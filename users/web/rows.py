"""Sources of a user as the page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from users.models import Connection
    from users.wearables.providers import Provider

# More resources than this are counted, not named.
_NAMED_RESOURCES = 4


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A connected source, what it is called, and what it gives."""

    connection: Connection
    provider: Provider

    @property
    def resources(self) -> tuple[str, ...]:
        """The first of what the source gives."""
        return self.provider.resources[:_NAMED_RESOURCES]

    @property
    def more(self) -> int:
        """How many further resources it gives."""
        return len(self.provider.resources) - len(self.resources)


def source_row(connection: Connection) -> SourceRow:
    """A connection as a row."""
    return SourceRow(connection, find_provider(connection.provider))

"""What lower apps need from higher ones, handed over in `AppConfig.ready`.

Lives here: the registers. Must not be here: anything that fills or reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

T = TypeVar("T")


class Register(Generic[T]):
    """Named entries in the order of their names; a name is taken once."""

    def __init__(self) -> None:
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T) -> None:
        """Enter `entry` under `name`."""
        if self._entries.setdefault(name, entry) is not entry:
            raise ValueError(f"{name} is registered already")

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return iter(sorted(self._entries.items()))


# Each eraser removes all that its app keeps of one user: (tenant key, user uuid).
user_erasers: Register[Callable[[int, UUID], None]] = Register()

"""Who did it: the value every operation takes and every audit line keeps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ActorKind(StrEnum):
    """What kind of actor."""

    MEMBER = "member"
    API_KEY = "api_key"
    MANAGEMENT_KEY = "management"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Actor:
    """A member, a key, or the system (a job, a command).

    `key` is the primary key of the member or key, or the name of the job or
    command. `label` is how people know it: an email address, a key's label. `address`
    is the client's IP address where there is one.
    """

    kind: ActorKind
    key: str
    label: str
    address: str | None = None

    @classmethod
    def system(cls, name: str) -> Actor:
        """Return a job or command, by its name."""
        return cls(ActorKind.SYSTEM, name, name)

"""Domain errors that operations raise, each with a code."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import timedelta


class DomainError(Exception):
    """A rule refused. On the wire: 400, unless a child says otherwise.

    `code` is lower snake case and stable; `message` is one sentence for people, with no
    health data in it; `field` names the input at fault where one is.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.field = field

    @property
    def details(self) -> dict[str, object]:
        """What a refusal's body holds beside its sentence and its code."""
        return {}


class NotFound(DomainError):
    """Unknown, or of another owner: the two look the same."""


class NotAllowed(DomainError):
    """The feature is off for the team, or the role lacks the right."""


class Conflict(DomainError):
    """The same request is being executed."""


class TooLarge(DomainError):
    """The upload is over its limit."""


class TooMany(DomainError):
    """It was asked for too often; `wait` is after how long it may be asked again."""

    def __init__(self, code: str, message: str, *, wait: timedelta) -> None:
        super().__init__(code, message)
        self.wait = wait


class Invalid(DomainError):
    """An input that only the domain can judge; on the wire a 422 at `loc`."""

    def __init__(
        self, code: str, message: str, field: str, *, place: str = "body"
    ) -> None:
        super().__init__(code, message, field)
        self.loc = (place, field)


class Damaged(DomainError):
    """What is stored can't be read; it stays so until it is restored from a backup."""


class Unavailable(DomainError):
    """Somebody else's service does not answer; the same request may be sent again."""

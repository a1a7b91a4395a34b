"""State machines as data, and the compare-and-swap that moves a row.

The table type and the one write of a status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.utils.translation import gettext as _

from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Set

    from django.db.models import Model, QuerySet

S = TypeVar("S", bound=str)


class Transitions(Generic[S]):
    """Allowed moves: from each status to the statuses that may follow it."""

    def __init__(self, moves: Mapping[S, Set[S]]) -> None:
        named = {status for following in moves.values() for status in following}
        if missing := named - set(moves):
            raise ValueError(f"no row for {sorted(missing)}")
        self._moves = {
            status: frozenset(following) for status, following in moves.items()
        }

    def allows(self, old: str, new: str) -> bool:
        """Whether a row in `old` may move to `new`; an unknown `old` may not move."""
        return any(old == status and new in following for status, following in self)

    def is_terminal(self, status: str) -> bool:
        """Return whether nothing follows; an unknown status is not terminal."""
        return any(status == known and not following for known, following in self)

    def __iter__(self) -> Iterator[tuple[S, frozenset[S]]]:
        return iter(self._moves.items())


def move_status(
    row: Model, *, moves: Transitions[Any], to: str, **changes: object
) -> None:
    """Move `row.status` to `to` and set `changes` with it, or refuse.

    The write is a compare-and-swap on the status the caller read, so that of two racing
    moves one is refused. Raises: transition_not_allowed.
    Source: Ours (architecture 2.5): one writer of status.
    """
    old = row.status  # type: ignore[attr-defined]  # each caller's model has it
    if not moves.allows(old, to):
        raise _refusal(old, to)
    touched = (
        type(row)
        ._base_manager.filter(pk=row.pk, status=old)
        .update(status=to, **changes)
    )
    if touched != 1:
        raise _refusal(old, to)
    row.status = to  # type: ignore[attr-defined]  # as above
    for name, value in changes.items():
        setattr(row, name, value)


def move_status_of_all(
    rows: QuerySet[Any], *, moves: Transitions[Any], to: str, **changes: object
) -> int:
    """Move every row of a set whose status allows it; returns how many did.

    The others stay as they are. Source: Ours (architecture 2.5): one writer of status.
    """
    allowed = [str(old) for old, following in moves if to in following]
    return rows.filter(status__in=allowed).update(status=to, **changes)


def _refusal(old: str, new: str) -> DomainError:
    return DomainError(
        "transition_not_allowed",
        _("The status can't change from %(old)s to %(new)s.")
        % {"old": old, "new": new},
    )

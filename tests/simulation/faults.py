"""Where a process is killed: just before or just after one of its commits."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

from django.db import transaction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random


class Killed(BaseException):
    """The process is gone: nothing of it may catch this."""


class _Commits:
    """Counts the outermost transactions of what runs, and kills at one of them."""

    def __init__(self, at: int, *, is_kept: bool) -> None:
        self.left, self.is_kept, self.depth = at, is_kept, 0


@contextmanager
def killed_at_a_commit(dice: Random) -> Iterator[None]:
    """Kill what runs at its first to third commit, which is kept or lost.

    What has fewer commits ends in peace. All of it runs in the savepoints of one
    transaction, so that a lost commit is a savepoint that is rolled back.
    """
    plan = _Commits(dice.randint(1, 3), is_kept=dice.random() < 0.5)
    enter, leave = transaction.Atomic.__enter__, transaction.Atomic.__exit__

    def on_enter(self: Any) -> None:
        if plan.depth == 0:
            self.savepoint = True  # elsewhere this would be a transaction of its own
        plan.depth += 1
        enter(self)

    def on_exit(self: Any, kind: Any, error: Any, trace: Any) -> None:
        plan.depth -= 1
        if plan.depth == 0 and kind is None:
            plan.left -= 1
            if plan.left == 0:
                lost = None if plan.is_kept else Killed
                leave(self, lost, lost and lost(), None)
                raise Killed
        leave(self, kind, error, trace)

    with (
        mock.patch.object(transaction.Atomic, "__enter__", on_enter),
        mock.patch.object(transaction.Atomic, "__exit__", on_exit),
    ):
        yield

"""What goes wrong at a commit: the process dies, the disk is full, another one acts."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

import psycopg
from django.db import OperationalError, transaction

from portal.lib.storage import folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random


class Killed(BaseException):
    """The process is gone: nothing of it may catch this."""


@contextmanager
def killed_at_a_commit(dice: Random) -> Iterator[None]:
    """Kill what runs at its first to third commit, which is kept or lost.

    What has fewer commits ends in peace.
    """
    with _at_a_commit(dice, _die, keeps=dice.random() < 0.5):
        yield


@contextmanager
def full_disk(dice: Random) -> Iterator[None]:
    """Let the disk be full: at one commit of the database, or for all new files."""
    if dice.random() < 0.5:
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch.object(folder, "open", side_effect=full, create=True):
            yield
    else:
        with _at_a_commit(dice, _refuse, keeps=False):
            yield


@contextmanager
def overtaken(dice: Random, other: Callable[[], Any]) -> Iterator[None]:
    """Let another process do all its work just after a commit of what runs.

    Between its transactions a process holds no lock, so there any other may come first.
    """
    with _at_a_commit(dice, other, keeps=True):
        yield


def _die() -> None:
    raise Killed


def _refuse() -> None:
    raise OperationalError from psycopg.errors.DiskFull()


@contextmanager
def _at_a_commit(
    dice: Random, happens: Callable[[], Any], *, keeps: bool
) -> Iterator[None]:
    """Have something happen at the first to third outermost commit of what runs.

    All of it runs in the savepoints of one transaction, so that a commit that is lost
    is a savepoint that is rolled back.
    """
    left, depth = dice.randint(1, 3), 0
    enter, leave = transaction.Atomic.__enter__, transaction.Atomic.__exit__

    def on_enter(self: Any) -> None:
        nonlocal depth
        if depth == 0:
            self.savepoint = True  # elsewhere this would be a transaction of its own
        depth += 1
        enter(self)

    def on_exit(self: Any, kind: Any, error: Any, trace: Any) -> None:
        nonlocal depth, left
        depth -= 1
        if depth == 0 and kind is None:
            left -= 1
            if left == 0:
                lost = None if keeps else Killed
                leave(self, lost, lost and lost(), None)
                happens()
                return
        leave(self, kind, error, trace)

    with (
        mock.patch.object(transaction.Atomic, "__enter__", on_enter),
        mock.patch.object(transaction.Atomic, "__exit__", on_exit),
    ):
        yield


def fault(name: str, dice: Random, again: Callable[[], Any]) -> Any:
    """Return the fault of this name as a context; `again` is what another one does."""
    match name:
        case "killed":
            return killed_at_a_commit(dice)
        case "full":
            return full_disk(dice)
        case _:
            return overtaken(dice, again)

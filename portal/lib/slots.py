"""Slots of this machine for costly work that a request waits for: few in all.

A slot is a locked file in VAR_DIR/slots, so all web processes of a machine share them
and the kernel frees what a killed process held.
"""

from __future__ import annotations

import fcntl
import logging
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from django.conf import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portal.lib.tenancy import HasPrimaryKey

logger = logging.getLogger(__name__)

# Ours, of each kind: who has one holds a thread of the web, of which a machine has
# eight by default, and keeps a processor busy for as long as the work may last.
IN_ALL = 2


class Work(StrEnum):
    """What a slot is for; one kind never waits for the other."""

    UPLOAD = "upload"  # a look into what somebody sends
    STORED = "stored"  # reading or drawing of what was sent before, for its reader


class NoSlot(Exception):
    """The tenant has its slot already, or all of the machine's are taken."""


@contextmanager
def hold_work_slot(work: Work, *, tenant: HasPrimaryKey) -> Iterator[None]:
    """Hold one of the machine's IN_ALL slots of a kind; a tenant gets one at a time.

    Never waits: who waits holds a thread. Raises: NoSlot. Source: Ours: one tenant's
    uploads must not take the threads that all others are answered by.
    """
    folder = Path(settings.VAR_DIR) / "slots"
    with ExitStack() as held:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            is_had = _lock(held, folder / f"{work}-tenant-{tenant.pk}") and any(
                _lock(held, folder / f"{work}-{number}") for number in range(IN_ALL)
            )
        except OSError as error:
            logger.error("slots can't be locked: %s", type(error).__name__)  # noqa: TRY400 - a path says nothing more
            is_had = False
        if not is_had:
            raise NoSlot
        yield


def _lock(held: ExitStack, path: Path) -> bool:
    """Lock a file until the stack is left; False where somebody else has it."""
    file: BinaryIO = held.enter_context(path.open("ab"))
    try:
        # Of the opened file, not of the process: threads exclude one another as well.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

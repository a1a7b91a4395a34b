"""A limit of time for calls to folders that may hang, as a network share does."""

from __future__ import annotations

from concurrent.futures import Future
from functools import wraps
from threading import Thread
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Inputs = ParamSpec("Inputs")
Found = TypeVar("Found")

# For one file or listing, as by SFTP.
STEP_S = 60.0
_hanging: list[Thread] = []


def limit_time(function: Callable[Inputs, Found]) -> Callable[Inputs, Found]:
    """Let a function fail after STEP_S; it must not use the database.

    It goes on in a thread of its own, as nothing can end a call that hangs. While one
    hangs, further calls fail at once, so that there is one such thread in a process.
    Raises: TimeoutError, an OSError.
    """

    @wraps(function)
    def limited(*args: Inputs.args, **named: Inputs.kwargs) -> Found:
        _hanging[:] = [thread for thread in _hanging if thread.is_alive()]
        if _hanging:
            raise TimeoutError("an earlier call to the folder still hangs")
        outcome: Future[Found] = Future()

        def run() -> None:
            try:
                outcome.set_result(function(*args, **named))
            except BaseException as fault:  # noqa: BLE001 - raised by the caller below
                outcome.set_exception(fault)

        thread = Thread(target=run, daemon=True)
        thread.start()
        try:
            return outcome.result(STEP_S)
        except TimeoutError:
            if not outcome.done():
                _hanging.append(thread)
            raise

    return limited

"""What the state machines share: examples that leave no rows, and how many are tried.

A model here is written from docs/contract.md, or read out of it, never from the tables
that the product has: of two that agree by birth neither can be found wrong.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import time_machine
from django.db import transaction
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from portal.lib.errors import DomainError
from tests.jobs import queued

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)  # a Monday, nine in Phoenix
# Of `check_all --long`: others each time.
MANY = {"max_examples": 60, "stateful_step_count": 40}
PHASES = [Phase.generate, Phase.shrink]


def efforts(walks: int, steps: int) -> pytest.MarkDecorator:
    """Try a machine twice: so often in the suite, always the same; much in long runs.

    How often each can be walked in one or two seconds of processor is its own.
    """
    few = {"max_examples": walks, "stateful_step_count": steps}
    long = [pytest.mark.long, pytest.mark.timeout(0)]
    return pytest.mark.parametrize(
        "effort",
        [pytest.param(few, id="few"), pytest.param(MANY, id="many", marks=long)],
    )


class Machine(RuleBasedStateMachine):
    """A walk whose rows go when it ends, on a clock that moves when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self._clock = time_machine.travel(NOW, tick=False)
        self.clock = self._clock.start()
        self._rows = transaction.atomic()
        self._rows.__enter__()

    def teardown(self) -> None:
        """Undo what the walk wrote."""
        transaction.set_rollback(True)
        self._rows.__exit__(None, None, None)
        self._clock.stop()

    def wait(self, **time: float) -> None:
        """Let time pass."""
        self.clock.shift(timedelta(**time))


def walk(machine: Callable[[], Machine], effort: dict[str, int]) -> None:
    """Take walks of a machine; where one fails, name the seed that takes it again.

    `SEED=… pytest -m long …` takes those of a failed run.
    """
    is_short = effort is not MANY
    number = 0 if is_short else int(os.environ.get("SEED") or secrets.randbits(32))
    chosen = settings(
        **effort,
        derandomize=is_short,
        database=None,
        deadline=None,
        phases=PHASES,
        suppress_health_check=list(HealthCheck),
    )

    def start() -> Machine:
        return machine()

    if not is_short:
        seed(number)(start)
        print(f"{machine.__name__}: SEED={number}")  # noqa: T201 - shown by -s
    try:
        run_state_machine_as_test(start, settings=chosen)
    except BaseException as error:
        error.add_note(f"SEED={number}")
        raise


@contextmanager
def nothing_changes(read: Callable[[], Any]) -> Any:
    """Expect that what `read` finds, and the queue, are the same afterwards."""
    before = read(), len(queued())
    yield
    assert (read(), len(queued())) == before


def refusal_of(act: Callable[[], object]) -> str | None:
    """Return the code by which an operation refused; None if it did its work."""
    try:
        with transaction.atomic():
            act()
    except DomainError as refused:
        return refused.code
    return None

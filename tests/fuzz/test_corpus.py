"""Every kept input, and a few changes of each: refused or read, within bounds.

What a long run finds (`python -m tests.fuzz`) is beside the others from then on.
"""

from __future__ import annotations

import random
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.targets import TARGETS, try_input

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = Path(__file__).with_name("corpus")
# Not a goal of speed: what takes so long never ends.
HANGS_AFTER_S = 60
CHANGES = 12
TOKENS = (
    *(b"\x00", b"\xff" * 4, b"-1", b"1e999", b"9" * 25, b"NaN", b'"', b"{", b"[" * 300),
    *(b"|", b"^", b"&", b"\r", b"\r\n", b",", b"<", b"&#0;", b"0000-00-00", b"null"),
)


def change(content: bytes, chance: random.Random) -> bytes:
    """Return an input with one to three changes."""
    changed = bytearray(content)
    for _each in range(chance.randint(1, 3)):
        at = chance.randrange(len(changed) + 1)
        end = min(len(changed), at + chance.randint(1, 16))
        match chance.randrange(5):
            case 0:
                del changed[at:end]
            case 1:
                changed[at:end] = chance.choice(TOKENS)
            case 2:
                changed[at:at] = changed[at:end] * chance.choice((1, 2, 200))
            case 3:
                del changed[at:]
            case _:
                changed[at:end] = chance.randbytes(end - at)
    return bytes(changed)


@contextmanager
def hanging_fails(what: str) -> Iterator[None]:
    def fail(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"{what} hangs")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, HANGS_AFTER_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_of_strangers_are_read_or_refused(name):
    target = TARGETS[name]
    kept = sorted((CORPUS / name).iterdir())
    assert kept

    for path in kept:
        content = path.read_bytes()
        chance = random.Random(f"{name}/{path.name}")  # noqa: S311 - the same each time
        inputs = [content, *(change(content, chance) for _each in range(CHANGES))]
        for number, each in enumerate(inputs):
            with hanging_fails(f"{path.name}, change {number}"):
                try:
                    try_input(target, each[: target.largest])
                except Exception as fault:
                    fault.add_note(f"{name}/{path.name}, change {number}")
                    raise


def test_a_fault_is_no_refusal():
    def fail(content: bytes) -> None:
        raise KeyError(content)

    target = TARGETS["answers"]
    faulty = type(target)(fail, target.refusals, target.watched)
    with pytest.raises(KeyError):
        try_input(faulty, b"x")
    try_input(target, b"\x00no HTTP at all\r\n\r\n")

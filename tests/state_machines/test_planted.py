"""Planted faults: what the walks find, the short ones of the suite and the long ones.

`pytest -m long -s tests/state_machines/test_planted.py` says which found each.
"""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from tests.state_machines import machine
from tests.state_machines.planted import PLANTED

EACH = [(place, fault) for place, faults in PLANTED.items() for fault in faults]
# Found by luck of the draw: the short walks of the suite don't come so far.
TOO_DEEP = ("an order has two visits",)


def walks_of(place):
    """The test of a machine, and the efforts it is parametrized with."""
    module = import_module(f"tests.state_machines.test_{place}")
    (test,) = [each for name, each in vars(module).items() if name.startswith("test_")]
    (mark,) = [each for each in test.pytestmark if each.name == "parametrize"]
    return test, [each.values[0] for each in mark.args[1]]


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.django_db
@pytest.mark.parametrize(("place", "fault"), EACH)
def test_a_planted_fault_is_found(place, fault, request, monkeypatch):
    monkeypatch.setattr(machine, "PHASES", machine.PHASES[:1])  # found is enough
    test, efforts = walks_of(place)
    names = [name for name in inspect.signature(test).parameters if name != "effort"]
    given = {name: request.getfixturevalue(name) for name in names}
    with PLANTED[place][fault]():
        for effort in efforts:
            try:
                test(effort, **given)
            except Exception:  # noqa: BLE001 - whatever shows it
                is_short = effort is not machine.MANY
                print(f"{fault}: by {'short' if is_short else 'long'} walks")  # noqa: T201 - shown by -s
                assert is_short or fault in TOO_DEEP
                return
    pytest.fail(f"no walk found that {fault}")

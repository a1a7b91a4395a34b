from __future__ import annotations

from users.wearables.formats import moments
from users.wearables.formats.moments import Moments


def test_each_moment_is_new_once_whatever_the_order():
    told = Moments()

    assert told.add([10, 20, 30]) == [0, 1, 2]
    assert told.add([40, 40, 20, 25, 25, 50]) == [0, 3, 5]
    assert told.add([25, 5, 60, 60]) == [1, 2]


def test_what_comes_out_of_order_is_put_in(monkeypatch):
    monkeypatch.setattr(moments, "_ASIDE_MAX", 2)
    told = Moments()
    told.add([100])

    assert told.add([3, 2, 1, 99]) == [0, 1, 2, 3]
    assert told.add([1, 2, 3, 99, 100, 101]) == [5]

from __future__ import annotations

import sys

from portal.ops.health import runtime


def test_a_python_without_fixes_of_its_readers_is_warned_about(monkeypatch):
    def state_of(*version):
        monkeypatch.setattr(sys, "version_info", version)
        return runtime.check_python_version().state

    assert [state_of(3, 11, patch) for patch in (2, 13, 14, 15)] == [
        *("warn", "warn", "ok", "ok")
    ]
    assert [state_of(3, 12, 11), state_of(3, 12, 12)] == ["warn", "ok"]
    assert [state_of(3, 13, 9), state_of(3, 13, 10)] == ["warn", "ok"]

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime

import pytest
import time_machine

from portal.ops import dependency_audit
from portal.ops.dependency_audit import has_no_overdue_advisory

NOW = datetime(2026, 3, 9, tzinfo=UTC)


def advisory(id_, *, published="2026-01-01T00:00:00Z", fixed=("2.0",)):
    return {
        "dependency": {"name": "leaky", "version": "1.0"},
        "id": id_,
        "link": f"https://osv.dev/vulnerability/{id_}",
        "fix_versions": list(fixed),
        "published": published,
    }


@pytest.fixture
def audited(monkeypatch):
    """Let uv find these advisories, or fail as it does without a network."""

    def answer(*found, out=None):
        said = json.dumps({"vulnerabilities": found}) if out is None else out
        monkeypatch.setattr(
            subprocess,
            "run",
            lambda command, **_: subprocess.CompletedProcess(command, 1, said, ""),
        )
        with time_machine.travel(NOW, tick=False):
            return has_no_overdue_advisory()

    return answer


def test_only_a_fix_that_was_there_for_two_weeks_fails(audited, monkeypatch, capsys):
    monkeypatch.setattr(dependency_audit, "IGNORED", {"OSV-4": "we never call it"})
    harmless = (
        advisory("OSV-2", fixed=()),
        advisory("OSV-3", published="2026-02-24T00:00:00Z"),
        advisory("OSV-4"),
    )

    assert audited() is True
    assert audited(*harmless) is True
    assert audited(*harmless, advisory("OSV-1")) is False

    verdicts = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert verdicts == [*["unfixed", "new", "ignored"] * 2, "overdue"]


def test_without_an_answer_it_says_so_and_passes(audited, capsys):
    assert audited(out="") is True

    assert capsys.readouterr().out.startswith("Not checked")

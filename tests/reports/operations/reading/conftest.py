from __future__ import annotations

import sys

import pytest

from reports.operations.reading import child_process
from tests.factories.reports import make_pdf


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report"
    path.write_bytes(make_pdf())
    return path


@pytest.fixture
def child(monkeypatch, tmp_path):
    """Let the child run this Python text in place of the parser."""

    def run(text: str) -> None:
        script = tmp_path / "child.py"
        script.write_text(f"import os, sys\nsys.stdin.read()\n{text}\n")
        monkeypatch.setattr(child_process, "_COMMAND", (sys.executable, str(script)))

    return run

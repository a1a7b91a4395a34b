from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

from reports.states import JOB_MOVES

README = (Path(settings.BASE_DIR) / "README.md").read_text()


def diagram_of(moves) -> list[str]:
    """The lines of a Mermaid state diagram, drawn from a table of moves."""
    lines = []
    for status, following in moves:
        lines += [f"    {status.value} --> {new.value}" for new in following]
        if not following:
            lines.append(f"    {status.value} --> [*]")
    return sorted(lines)


def test_the_diagram_of_parsing_jobs_is_that_of_the_code():
    drawn = re.search(r"```mermaid\nstateDiagram-v2\n(.*?)```", README, re.DOTALL)

    assert drawn is not None
    assert sorted(drawn[1].rstrip("\n").split("\n")) == diagram_of(JOB_MOVES)


def test_every_path_in_readme_and_the_security_document_exists():
    security = (Path(settings.BASE_DIR) / "docs" / "security.md").read_text()
    named = set(
        re.findall(
            r"`((?:portal|accounts|users|labs|reports|tests|docs|deploy)/[^` ]*)`",
            README + security,
        )
    )

    missing = [path for path in named if not (Path(settings.BASE_DIR) / path).exists()]
    assert missing == []

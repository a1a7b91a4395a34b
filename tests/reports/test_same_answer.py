"""The same bytes give the same answer, byte for byte, in any process."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from importlib.util import find_spec

import orjson
import pytest
from django.conf import settings
from django.core.management import call_command

from tests.reports.corpus import draw_report

LAYOUTS = ("sample-cbc", "in-three-tables", "us-same-analyte-twice", "fr-hopital")


def answer(paths):
    """What the command prints in this process."""
    printed = io.StringIO()
    call_command("parse_report", *map(str, paths), stdout=printed)
    return printed.getvalue().encode()


def answer_elsewhere(paths):
    """What it prints in another, with the order of sets thrown anew."""
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    found = subprocess.run(
        [sys.executable, "manage.py", "parse_report", *map(str, paths)],
        cwd=settings.BASE_DIR,
        env={"SECRET_KEY": "x" * 50, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
    )
    return found.stdout


# A picture beside them where there is a reader: reports of both kinds go through one
# other process.
@pytest.mark.long
def test_reports_and_a_picture_give_the_same_bytes_twice(tmp_path):
    paths = [draw_report(tmp_path, name).path for name in LAYOUTS]
    rows = dict.fromkeys((path.name for path in paths), 5)
    if find_spec("rapidocr"):
        shot = draw_report(tmp_path, "sixth-uk-state-behind", kind="screenshot").path
        paths.append(shot)
        rows[shot.name] = 5

    first = answer(paths)

    assert first == answer_elsewhere(paths)
    found = {name: len(read["results"]) for name, read in orjson.loads(first).items()}
    assert found.keys() == rows.keys()
    assert [name for name, least in rows.items() if found[name] <= least] == []
    assert sum(found.values()) > sum(rows.values()) + 40

"""The same bytes give the same answer, byte for byte, in any process."""

from __future__ import annotations

import subprocess
import sys

import pytest
from django.conf import settings

from tests.reports.corpus import draw_report

LAYOUTS = ("sample-cbc", "in-three-tables", "us-same-analyte-twice", "fr-hopital")


def answer(paths, *, hash_seed):
    """What the command prints, with the order of sets and dicts thrown anew."""
    found = subprocess.run(
        [sys.executable, "manage.py", "parse_report", *map(str, paths)],
        cwd=settings.BASE_DIR,
        env={"SECRET_KEY": "x" * 50, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    )
    return found.stdout


def test_text_reports_give_the_same_bytes_twice(tmp_path):
    paths = [draw_report(tmp_path, name).path for name in LAYOUTS]

    first = answer(paths, hash_seed="1")

    assert first == answer(paths, hash_seed="2")
    assert first.count(b'"test_name"') > 60


def test_a_picture_gives_the_same_bytes_twice(tmp_path):
    pytest.importorskip("rapidocr", reason="pictures need the OCR group")
    shot = draw_report(tmp_path, "sample-metabolic", kind="screenshot")

    first = answer([shot.path], hash_seed="1")

    assert first == answer([shot.path], hash_seed="2")
    assert first.count(b'"test_name"') > 20

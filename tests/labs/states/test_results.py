from __future__ import annotations

import pytest

from labs.states.results import get_worst_interpretation, interpret_lab_flag


@pytest.mark.parametrize(
    ("flag", "interpretation"),
    [
        ("", None),
        ("N", "normal"),
        ("h", "abnormal"),
        ("L", "abnormal"),
        ("A", "abnormal"),
        (">", "abnormal"),
        ("HH", "critical"),
        ("LL", "critical"),
        ("AA", "critical"),
        ("Critical High", "critical"),
        ("H~HH", "critical"),
        ("N~???", "normal"),
        ("R", None),  # resistance of a germ, which says nothing of a range
    ],
)
def test_a_flag_of_a_lab_is_understood(flag, interpretation):
    assert interpret_lab_flag(flag) == interpretation


@pytest.mark.parametrize(
    ("several", "overall"),
    [
        ([], None),
        (["", None, "unknown"], None),
        (["normal", ""], "normal"),
        (["normal", "abnormal"], "abnormal"),
        (["critical", "abnormal", "normal"], "critical"),
    ],
)
def test_the_worst_that_is_told_counts(several, overall):
    assert get_worst_interpretation(several) == overall

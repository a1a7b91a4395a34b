"""The security documents name each line of the standard once, and tests that exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from django.conf import settings

from portal.docs.asvs import ASVS_LINES, STATES, list_asvs_answers

DOCUMENT = (Path(settings.BASE_DIR) / "docs/explanation/security.md").read_text()
# What the code, not a page, is the whole evidence of.
WITHOUT_EVIDENCE = {"1.3.7", "14.3.3"}


def test_every_line_of_levels_1_and_2_is_answered_once():
    answered = Counter(line for each in list_asvs_answers() for line in each.lines)

    assert len(ASVS_LINES) == 253
    assert answered == Counter(ASVS_LINES)


def test_what_is_met_names_a_test_or_a_document_and_the_rest_says_why():
    answers = list_asvs_answers()
    missing = [
        (each.label, path)
        for each in answers
        for path in each.evidence
        if not (Path(settings.BASE_DIR) / path).is_file()
    ]
    bare = {
        line
        for each in answers
        if each.state == "met" and not each.evidence
        for line in each.lines
    }

    assert missing == []
    assert {each.state for each in answers} <= set(STATES)
    assert bare == WITHOUT_EVIDENCE
    assert [each.label for each in answers if not (each.text and each.asks)] == []


def test_every_path_that_the_document_names_exists():
    names = set(re.findall(r"`((?:\w+/)+[\w.]*)`", DOCUMENT))
    wrong = {name for name in names if not (Path(settings.BASE_DIR) / name).exists()}

    assert len(names) > 60
    assert wrong == set()


def test_every_promise_and_every_threat_names_a_test():
    tables = re.findall(
        r"^\| (?:Promise|Threat) \|.*\n((?:\|.*\n)+)", DOCUMENT, re.MULTILINE
    )
    lines = [line for each in tables for line in each.splitlines()[1:]]
    named = {line.split("|")[1]: line.rpartition("| ")[2] for line in lines}

    assert len(tables) == 2
    assert [each for each, by in named.items() if "tests" not in by] == []

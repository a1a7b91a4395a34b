"""Scripts show texts of the page: none of their own, and none that is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import engines

from portal.ui.script_texts import FAILURE_TEXTS, SCRIPT_TEXTS

SCRIPTS = sorted((Path(settings.BASE_DIR) / "static" / "js").glob("*.js"))
COMMENT = re.compile(r"(?<!:)//.*")
LITERAL = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`]*)`")
# A capital and letters, or a word after a word: neither is a selector nor a key.
SENTENCE = re.compile(r"[A-Z][a-z]+ [a-z]|^[A-Z][a-z]+[.!]?$")
KEY = re.compile(r"pageText\(([^,)]*)")
# Names of the browser's own, and of a FHIR resource.
KNOWN = {"Enter", "Escape", "Home", "End", "Event", "Accept", "Patient"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_has_no_text_of_its_own(path):
    source = COMMENT.sub("", path.read_text())

    literals = ["".join(groups) for groups in LITERAL.findall(source)]

    assert [
        text for text in literals if SENTENCE.search(text) and text not in KNOWN
    ] == []


def test_every_text_of_the_table_is_used_and_every_used_one_is_there():
    used = set()
    for path in SCRIPTS:
        for argument in KEY.findall(path.read_text()):
            used.update(re.findall(r'"(\w+)"', argument))

    assert used == set(SCRIPT_TEXTS)


def test_the_failures_with_a_text_are_those_of_the_script():
    toasts = next(path for path in SCRIPTS if path.name == "toasts.js").read_text()

    named = re.search(r"EXPLAINED = \[([\d, ]+)\]", toasts)[1].split(", ")

    assert {*named, "other"} == set(FAILURE_TEXTS)


def test_the_page_has_the_texts_as_data():
    html = engines["django"].from_string("{% load look %}{% script_texts %}").render()

    opening, body = html.removesuffix("</script>").split(">", 1)
    texts = json.loads(body)
    assert opening == '<script id="texts" type="application/json"'
    assert texts["copied"] == "Copied"
    assert texts["failure_413"] == "File too large"
    assert texts["failure_413_help"] == "Nothing was stored. Choose a smaller file."

"""Every text of a template goes through gettext: the catalogue has all of them."""

from __future__ import annotations

import re
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.template.base import Lexer, TokenType

from portal.management.commands.makemessages import needs_translation

FOLDER = settings.BASE_DIR / "templates"
PAGES = sorted(FOLDER.rglob("*.html")) + sorted(FOLDER.rglob("*.txt"))
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
UNREAD = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
ELEMENT = re.compile(r"<[^>]*>", re.DOTALL)
READ_ATTRIBUTES = re.compile(
    r"\b(?:title|alt|placeholder|aria-label|aria-description|content|label)"
    r'="([^"]*)"'
)
ENTITY = re.compile(r"&\w+;|&#\w+;")
WORD = re.compile(r"[A-Za-z]{2,}")
# A literal with a capital or a space is a text; names and classes have neither.
LITERAL = re.compile(r'(_\()?"([^"]*)"')
TEXT = re.compile(r"[A-Z]|.* ", re.DOTALL)
CLASSES = re.compile(r'\b(class|rel|allow|attrs|page_classes|parameter|hx_\w+)="[^"]*"')
# What is written alike in every language: names, formats of the wire, commands.
NOT_TEXTS = {
    "Assay",
    "· Assay",
    "UTC",
    "HTTP",
    "ISO",
    "POST",
    "text/html; charset=utf-8",
    "SHA-256",
    "GET",
    "width=device-width, initial-scale=1",
}
# Marked already, not read, or code to copy.
BLOCKS = {"blocktranslate", "comment", "codebox"}
DATE_FORMAT = re.compile(r"[dDjlNmnMFbBYyHhGgiAaPsTt ,:.\-/]+")


def strip_markup(text):
    """Give what a person reads of a piece of HTML: its text and some attributes."""
    read = READ_ATTRIBUTES.findall(text)
    text = ELEMENT.sub(" ", text)
    return [ENTITY.sub(" ", part) for part in (text, *read)]


def literals(contents):
    """Give the texts among a tag's literals that are not marked."""
    return [
        literal
        for marked, literal in LITERAL.findall(CLASSES.sub("", contents))
        if not marked
        and TEXT.match(literal)
        and WORD.search(literal)
        and not DATE_FORMAT.fullmatch(literal)
    ]


def untranslated_texts(page: Path) -> list[str]:
    source = UNREAD.sub(" ", COMMENT.sub("", page.read_text()))
    source = source.replace("{% verbatim %}", "").replace("{% endverbatim %}", "")
    found = []
    inside = None
    plain = ""
    for token in Lexer(source).tokenize():
        name = token.contents.split(" ", 1)[0]
        if token.token_type is TokenType.BLOCK and name in BLOCKS:
            inside = f"end{name}"
            if name == "codebox":
                found += literals(token.contents)
        elif token.token_type is TokenType.BLOCK and name == inside:
            inside = None
        elif inside:
            continue
        elif token.token_type is TokenType.TEXT:
            plain += token.contents
        elif token.token_type is not TokenType.COMMENT:
            plain += "\0"  # a mark for what a tag puts there
            if name not in {"translate", "load", "extends", "url", "now"}:
                found += literals(token.contents)
    for part in strip_markup(plain):
        found += [piece.strip() for piece in part.split("\0") if WORD.search(piece)]
    return [text for text in found if text not in NOT_TEXTS]


def test_no_text_with_a_percent_sign_is_an_argument_of_a_tag():
    """Django doubles the sign there; `{% translate … as name %}` does not."""
    doubled = re.compile(r'_\("[^"]*%[^"]*"\)')

    found = {page.name: doubled.findall(page.read_text()) for page in PAGES}

    assert {name: texts for name, texts in found.items() if texts} == {}


def test_what_patients_see_is_translated_with_its_values_and_markup():
    """An English text that changed waits untranslated, and fails here."""
    values = re.compile(r"%\(\w+\)[sd]|\{\w+\}|<[^>]+>")
    english = polib.pofile(str(settings.LOCALE_PATHS[0] / "en/LC_MESSAGES/django.po"))
    needed = {entry.msgid for entry in english if needs_translation(entry)}
    faults = []
    for path in settings.LOCALE_PATHS[0].glob("*/LC_MESSAGES/django.po"):
        if path.parts[-3] == "en":
            continue
        catalogue = polib.pofile(str(path))
        language = path.parts[-3]
        missing = needed - {entry.msgid for entry in catalogue.translated_entries()}
        faults += [(language, "untranslated", text) for text in missing]
        for entry in catalogue:
            texts = [*entry.msgstr_plural.values()] or [entry.msgstr]
            expected = sorted(values.findall(entry.msgid))
            faults += [
                (language, "values differ", text)
                for text in texts
                if sorted(values.findall(text)) != expected
            ]

    assert len(needed) > 250
    assert faults == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(FOLDER)))
def test_every_text_of_a_template_goes_through_gettext(page):
    assert untranslated_texts(page) == []

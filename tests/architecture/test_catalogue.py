"""Every text of a template goes through gettext: the catalogue has all of them."""

from __future__ import annotations

import re
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.template.base import Lexer, TokenType

from portal.management.commands.makemessages import count_plurals, needs_translation

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
# Placeholders of all three kinds, and markup.
KEPT = re.compile(r"%\(\w+\)[\d.]*[sdfg]|%%|%[sd]|\{\w*\}|</?\w[^>]*>|`[^`]*`")
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


@pytest.mark.parametrize("language", ["de", "es", "fr", "pt_BR"])
def test_a_catalogue_is_whole_and_keeps_values_markup_and_spaces(language):
    """An English text that changed waits untranslated, and fails here."""
    english = polib.pofile(str(settings.LOCALE_PATHS[0] / "en/LC_MESSAGES/django.po"))
    path = settings.LOCALE_PATHS[0] / language / "LC_MESSAGES/django.po"
    catalogue = polib.pofile(str(path))
    forms = count_plurals(catalogue)
    offered = language.lower().replace("_", "-") in settings.MEMBER_LANGUAGES
    faults = []
    for entry in catalogue:
        key = (entry.msgctxt, entry.msgid)
        texts = [*entry.msgstr_plural.values()] or [entry.msgstr]
        if "" in texts:
            # A language that members are not offered yet may have some that wait.
            faults += [("untranslated", *key)] if offered or any(texts) else []
            continue
        if entry.fuzzy or (entry.msgid_plural and len(texts) != forms):
            faults.append(("fuzzy or forms", *key))
        # Either English form may be the one that a plural form is made of.
        sources = [entry.msgid, *filter(None, [entry.msgid_plural])]
        expected = [list_kept_parts(source) for source in sources]
        for text in texts:
            if list_kept_parts(text) not in expected:
                faults.append(("values, markup or spaces differ", *key))
    needed = {(e.msgctxt, e.msgid) for e in english if needs_translation(e)}

    assert faults == []
    assert {(entry.msgctxt, entry.msgid) for entry in catalogue} == needed


def list_kept_parts(text):
    """Give what a translation must have as its source has it, in any order."""
    edges = (text[:1].isspace(), text[-1:].isspace())
    return edges, sorted(KEPT.findall(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(FOLDER)))
def test_every_text_of_a_template_goes_through_gettext(page):
    assert untranslated_texts(page) == []

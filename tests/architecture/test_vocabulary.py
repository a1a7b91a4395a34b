"""The words that people read are the field's: see docs/glossary.md.

Read are the catalogue (all of the interface), the first lines of docstrings, the names
of functions and classes, and the docs. A word of the contract or of a standard goes
into the exceptions beside its entry, with the reason.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings

from tests.architecture.source import PACKAGES, modules

ROOT = Path(settings.BASE_DIR)
CATALOGUE = ROOT / "locale/en/LC_MESSAGES/django.po"
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]")
CODE = re.compile(r"<code.*?</code>|<[^>]*>")
# The binding texts that the code cites, word for word.
CITED = {"docs/contract.md", "docs/specification.md"}


@dataclass(frozen=True)
class Word:
    """An old word as a regular expression, what to say, and where it is right."""

    old: str
    say: str
    but: str = r"(?!)"


WORDS = (
    Word(r"\bwho looked\b", "access log"),
    Word(
        r"\bpapers?\b",
        "document, PDF",
        r"paper (form|copy|report)|(on|by|less|of|its|the) paper\b",
    ),
    Word(r"\bcall(s|ed|ing)? off\b|\bcall-off", "cancel"),
    Word(
        r"\btold\b|\btells?\b", "sent, informed, says, shows; to distinguish", r"apart"
    ),
    Word(r"\bhears?\b|\bheard\b", "receives"),
    Word(r"\bwhose word\b|\bits word\b|\bthe word of\b", "source priority"),
    Word(r"\bcarriers?\b", "source"),
    Word(r"\bledgers?\b", "source priority"),
    Word(r"\blays\b|\blaid\b|^Lay\b", "render, create, install, overlay"),
    Word(r"\bmend(s|ed|ing)?\b", "repair, restore, clamp"),
    Word(r"\babreast\b", "side by side"),
    Word(r"\bverdicts?\b", "outcome, result"),
    Word(r"\bsome(body|one) of (yours|ours)\b", "member"),
    Word(r"\bwhom\b", "name the person: user, member, patient"),
    Word(r"\bof (ours|yours|one's own)\b", "name the owner: Assay, your team"),
    Word(r"\bdice\b", "jitter"),
    Word(r"\bfates?\b", "erasure rule"),
    Word(r"\b(how|least|most) sure\b|\bsure to\b", "confidence"),
    Word(r"\bnobody alone\b", "no single user"),
    Word(r"\b(runs?|is|are|sends?|sent|may|does) no more\b", "cancel, stop, any more"),
    Word(r"\bonce more\b|\banew\b", "again"),
    Word(r"\bgo(es)? without\b", "has none"),
    Word(r"\binto being\b", "create"),
    Word(r"\bwrong value\b", "name what is expected, and the bound"),
    Word(r"\bis (had|gotten)\b", "is confirmed, exists"),
    Word(r"\bas good as none\b", "is treated as absent"),
    Word(r"\b(the|its|their) doors?\b", "endpoints"),
    Word(r"\bwants? to be\b", "must be"),
    Word(r"\bwho asks\b", "name it"),
)
# Of the interface alone, which is spelled as in America.
SPELLINGS = (
    Word(r"\d %", "97%"),
    Word(r"(?-i:\b[Zz]ip code)", "ZIP code"),
    Word(r"colour|behaviour|favour|honour", "-or"),
    Word(r"\bcentres?\b|\bmetres?\b|\blitres?\b", "-er"),
    Word(r"(organ|recogn|real|summar|normal|author)is(e|ed|es|ing|ation)\b", "-ize"),
    Word(r"\bcatalogues?\b", "catalog"),
    Word(r"\bcanceled\b|\bcanceling\b", "cancelled, as on the wire"),
    Word(r"\blicence\b", "license"),
    Word(r"\be-mail", "email"),
    Word(r"(?-i:(?<!-)\b[Ii]ds?\b)", "ID"),
)
# A serializer's name is the name of its schema in the API document.
KEPT_NAMES = {"LedgerLineAnswer"}
# Parts of names.
NAME_PARTS = {
    "tell": "record, send",
    "told": "sent, outcome",
    "hear": "receive, record",
    "heard": "received",
    "lay": "render, create, install",
    "laid": "rendered",
    "mend": "repair, restore",
    "mends": "repair, restore",
    "paper": "document",
    "papers": "documents",
    "abreast": "side_by_side",
    "dice": "jitter",
    "verdict": "outcome",
    "verdicts": "outcomes",
    "fate": "erasure_rule",
    "fates": "erasure_rules",
    "ledger": "source_priority",
    "whose": "owner_of",
    "whom": "user",
    "looked": "read",
    "holdings": "stored_rows",
}


def old_words(text, words=WORDS):
    """The old words in a text, each with what to say instead."""
    found = []
    for word in words:
        for match in re.finditer(word.old, text, re.IGNORECASE):
            around = text[max(match.start() - 12, 0) : match.end() + 12]
            if not re.search(word.but, around, re.IGNORECASE):
                found.append(f"{match[0]!r} (say: {word.say}) in {text[:160]!r}")
    return found


def messages():
    """Each text of the interface: the sources of the catalogue."""
    entries = re.findall(
        r'^(?:msgid|msgid_plural) ((?:"(?:[^"\\]|\\.)*"\n)+)',
        CATALOGUE.read_text(),
        re.MULTILINE,
    )
    parts = (re.findall(r'"((?:[^"\\]|\\.)*)"', entry) for entry in entries)
    texts = (PLACEHOLDER.sub("…", "".join(each)) for each in parts)
    return [CODE.sub("", text) for text in texts if text]


def defined(tree):
    return [
        node
        for node in ast.walk(tree)
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        )
    ]


def docs():
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    names = sorted(str(path.relative_to(ROOT)) for path in found)
    return [name for name in names if name not in CITED and "glossary" not in name]


def without_code(text):
    """A page of the docs without its code, which says what a program says."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", text)


def test_the_interface_speaks_the_words_of_the_field():
    texts = messages()

    assert len(texts) > 1000
    assert [each for text in texts for each in old_words(text)] == []
    assert [each for text in texts for each in old_words(text, SPELLINGS)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_first_lines_of_docstrings_speak_them(package):
    found = [
        f"{path}:{getattr(node, 'lineno', 1)} {each}"
        for path, tree in modules(packages=[package])
        for node in defined(tree)
        for each in old_words((ast.get_docstring(node) or "").split("\n", 1)[0])
    ]

    assert found == []


@pytest.mark.parametrize("package", PACKAGES)
def test_names_of_functions_and_classes_speak_them(package):
    found = [
        f"{path}:{node.lineno} {node.name} (say: {NAME_PARTS[part]})"
        for path, tree in modules(packages=[package])
        for node in defined(tree)
        if not isinstance(node, ast.Module)
        for part in re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.name).lower().split("_")
        if part in NAME_PARTS and node.name not in KEPT_NAMES
    ]

    assert found == []


@pytest.mark.parametrize("name", docs())
def test_the_docs_speak_them(name):
    lines = without_code((ROOT / name).read_text()).splitlines()

    assert [each for line in lines for each in old_words(line)] == []


def test_an_old_word_is_found_and_a_right_one_left_alone():
    assert len(old_words("The lab is told of the order; 3 papers wait.")) == 2
    assert old_words("The patient signs on paper forms.") == []
    assert old_words("97 % of all", SPELLINGS) != []
    assert old_words("97% of all", SPELLINGS) == []

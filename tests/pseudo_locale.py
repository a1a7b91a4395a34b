"""A language of no country: what patients see, marked, and 40 percent longer.

It has the texts that the translated catalogues have, and Django's own. A page without
an unmarked text can therefore be read in every language, and one that does not overflow
has room for the longest of them.
"""

from __future__ import annotations

import re
from pathlib import Path

import django
import polib
from django.conf import settings

from portal.lib.catalogues import compile_catalogue

CODE = "en-xa"
OPEN, CLOSE = "⟦", "⟧"
_LONGER = 0.4
_KEPT = re.compile(r"(%\(\w+\)[\d.]*[sdfg]|%[sd]|\{\w*\}|<[^>]+>)")
_MARKED = str.maketrans("aeiouAEIOU", "áéíóúÁÉÍÓÚ")


def mark(text: str) -> str:
    """Return a text with accents, 40 percent more of it, and brackets around it.

    Values and markup stay, so a bracket may hold several elements.
    """
    parts = _KEPT.split(text)
    letters = sum(len(part) for part in parts[::2])
    parts[::2] = [part.translate(_MARKED) for part in parts[::2]]
    words = " ".join(["one two six"] * (1 + int(letters * _LONGER) // 11))
    filling = words[: int(letters * _LONGER)].strip()
    return f"{OPEN}{''.join(parts)}{' ' if filling else ''}{filling}{CLOSE}"


def write_pseudo_locale(folder: Path) -> None:
    """Write and compile the catalogue below a folder that is to be a locale path."""
    ours = settings.BASE_DIR / "locale/de/LC_MESSAGES/django.po"
    theirs = Path(django.__path__[0]) / "conf/locale/en/LC_MESSAGES/django.po"
    pseudo = polib.POFile()
    pseudo.metadata = {
        "Content-Type": "text/plain; charset=UTF-8",
        "Plural-Forms": "nplurals=2; plural=(n != 1);",
    }
    known = set()
    for entry in [*polib.pofile(str(ours)), *polib.pofile(str(theirs))]:
        if (entry.msgctxt, entry.msgid) in known:
            continue
        known.add((entry.msgctxt, entry.msgid))
        made = polib.POEntry(msgctxt=entry.msgctxt, msgid=entry.msgid)
        if entry.msgid_plural:
            made.msgid_plural = entry.msgid_plural
            made.msgstr_plural = {0: mark(entry.msgid), 1: mark(entry.msgid_plural)}
        else:
            made.msgstr = mark(entry.msgid)
        pseudo.append(made)
    place = folder / "en_XA" / "LC_MESSAGES"
    place.mkdir(parents=True)
    pseudo.save(str(place / "django.po"))
    compile_catalogue(place / "django.po", place / "django.mo")

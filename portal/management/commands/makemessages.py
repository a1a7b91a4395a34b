"""`manage.py makemessages`: collect every translatable text into the catalogues.

The English one holds the source of the whole interface, so that one review reads all of
it. Those of other languages hold all of it but what developers and operators alone see
(ENGLISH_PLACES): a test refuses one that is not translated. Needs GNU gettext on the
path.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.commands import makemessages

if TYPE_CHECKING:
    from polib import POEntry, POFile

_HEADER_DATE = re.compile(r'^"POT-Creation-Date:.*\n', re.MULTILINE)
# Names of models and their fields, which the operators' admin alone shows.
_MODELS = re.compile(r"\w+/(webhooks/)?models/")
_DEFAULTS: dict[str, Any] = {
    "locale": ["en"],
    "no_obsolete": True,
    "no_wrap": True,
    "add_location": "file",
    "ignore_patterns": ["var/*", "tests/*", ".venv/*", "static/*", "staticfiles/*"],
}


# What stays English, as beginnings of paths, and why. A text that also stands elsewhere
# is translated.
ENGLISH_PLACES: dict[str, str] = {
    "templates/docs/": "the guide for developers and operators",
    "templates/portal/docs/": "the reference of the API, for developers",
    "templates/webhooks/docs": "the reference of events, for developers",
    "templates/admin/": "the operators' admin",
    "templates/portal/isolation": "the operators' admin",
    "templates/users/parity_report.html": "a report of a command",
    "templates/portal/components": "the gallery of components, for developers",
    "portal/api_docs/": "the reference of the API, for developers",
    "portal/ops/": "the operators' admin, checks and commands",
    "portal/demo/": "a command",
    "portal/lib/api/": "errors and descriptions of the API",
    "accounts/webhooks/web/docs.py": "the reference of events, for developers",
    "accounts/admin.py": "the operators' admin",
    "accounts/webhooks/admin.py": "the operators' admin",
    "labs/admin.py": "the operators' admin",
    "reports/admin.py": "the operators' admin",
    "users/admin.py": "the operators' admin",
    "portal/admin": "the operators' admin",
    "labs/operations/public_lists.py": "a command that imports public lists",
    "portal/settings.py": "the operators' admin",
}


def update_translations(source: Path) -> None:
    """Give each language's catalogue the texts it needs, in the order of the English.

    Translations stay; a text that is gone is taken out, a new one waits untranslated,
    which a test refuses.
    """
    import polib

    english = polib.pofile(str(source))
    for catalogue in source.parents[2].glob("*/LC_MESSAGES/django.po"):
        if catalogue == source:
            continue
        old = polib.pofile(str(catalogue), wrapwidth=0)
        known = {(entry.msgctxt, entry.msgid): entry for entry in old}
        new = polib.POFile(wrapwidth=0)
        new.header, new.metadata = old.header, old.metadata
        for entry in english:
            kept = known.get((entry.msgctxt, entry.msgid))
            if needs_translation(entry):
                new.append(_take_over(entry, kept, forms=count_plurals(old)))
        new.save(str(catalogue))


def needs_translation(entry: POEntry) -> bool:
    """Return whether a text of the English catalogue is seen by patients or members."""
    return not all(
        place.startswith(tuple(ENGLISH_PLACES)) or _MODELS.match(place)
        for place, _line in entry.occurrences
    )


def count_plurals(catalogue: POFile) -> int:
    """Return how many plural forms a catalogue's language has."""
    found = re.match(r"nplurals=(\d)", catalogue.metadata["Plural-Forms"])
    assert found  # noqa: S101 - a catalogue without it is no catalogue
    return int(found[1])


def _take_over(entry: POEntry, kept: POEntry | None, *, forms: int) -> POEntry:
    import polib

    texts: dict[str, Any] = {"msgstr": kept.msgstr if kept else ""}
    if entry.msgid_plural:
        plurals = kept.msgstr_plural if kept else {}
        texts = {
            "msgid_plural": entry.msgid_plural,
            "msgstr_plural": {at: plurals.get(at, "") for at in range(forms)},
        }
    return polib.POEntry(
        msgctxt=entry.msgctxt, msgid=entry.msgid, flags=entry.flags, **texts
    )


class Command(makemessages.Command):
    """Django's command for our catalogues, without a line that changes each run."""

    requires_system_checks = ()
    xgettext_options = [
        *makemessages.Command.xgettext_options,
        "--keyword=StoredSentence:1",
        "--keyword=StoredPlural:1,2",
    ]

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the catalogue of English texts; other options stay Django's."""
        super().handle(*args, **(options | _DEFAULTS))
        source = Path(settings.LOCALE_PATHS[0]) / "en/LC_MESSAGES/django.po"
        source.write_text(_HEADER_DATE.sub("", source.read_text(), count=1))
        update_translations(source)

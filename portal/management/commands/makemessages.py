"""`manage.py makemessages`: collect every translatable text into the catalogues.

The English one holds the source of the whole interface, so that one review reads all of
it. Those of other languages hold what patients see: the texts of PATIENT_PLACES, to be
translated in all languages, and any other that was entered there. Needs GNU gettext on
the path.
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
_DEFAULTS: dict[str, Any] = {
    "locale": ["en"],
    "no_obsolete": True,
    "no_wrap": True,
    "add_location": "file",
    "ignore_patterns": ["var/*", "tests/*", ".venv/*", "static/*", "staticfiles/*"],
}


# Where patients' texts stand, as beginnings of paths. A text of theirs that stands
# among members' (a status, an error) is entered in the catalogues by hand; the walk
# through the pseudo-locale finds one that is missing (tests/browser/test_languages.py).
PATIENT_PLACES = (
    *("templates/connect/", "templates/users/email/"),
    "templates/labs/email/patient_notice_",
    "templates/labs/requisition_link_ended.html",
    *("templates/exchange/portal_share.html", "templates/exchange/viewer.html"),
    *("templates/exchange/_made_link.html", "templates/exchange/_link_state.html"),
    *("templates/account/_entrance.html", "templates/components/toast.html"),
    *("templates/400.html", "templates/403", "templates/404.html"),
    *("templates/413.html", "templates/429.html", "templates/50"),
    *("users/web/connect/page.py", "users/web/connect/phones.py"),
    *("users/web/connect/files.py", "users/states/links.py", "users/states/phones.py"),
    *("users/operations/connect/birth_dates.py", "users/wearables/providers.py"),
    *("exchange/web/portal_sharing.py", "exchange/web/forms.py"),
    *("exchange/operations/sharing/", "portal/lib/birth_dates.py"),
)
# Texts of those places that no patient meets: purposes of an API's options, reasons why
# a source is not offered, parts of phones' batches.
_NEVER_SHOWN = (
    *("Redirect to redirect_url", "Open at once", "Send by email or SMS"),
    *("Stage of sleep", "Entry of a menstrual cycle", "Eight Sleep publishes no API."),
    *("Systolic blood pressure", "Diastolic blood pressure"),
    "Its API is for apps that Ultrahuman approves. Owners of a ring are reported to"
    " register one themselves; this release does not read it.",
)


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
            if kept or needs_translation(entry):
                new.append(_take_over(entry, kept, forms=count_plurals(old)))
        new.save(str(catalogue))


def needs_translation(entry: POEntry) -> bool:
    """Return whether an entry of the English catalogue is a text that patients see."""
    return entry.msgid not in _NEVER_SHOWN and any(
        place.startswith(PATIENT_PLACES) for place, _line in entry.occurrences
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

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the catalogue of English texts; other options stay Django's."""
        super().handle(*args, **(options | _DEFAULTS))
        source = Path(settings.LOCALE_PATHS[0]) / "en/LC_MESSAGES/django.po"
        source.write_text(_HEADER_DATE.sub("", source.read_text(), count=1))
        update_translations(source)

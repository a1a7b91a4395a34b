from __future__ import annotations

import gettext
import os

import polib
import pytest
from django.conf import settings

from portal.lib.catalogues import compile_stale_catalogues

SOURCE = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\\n"

msgid "Close"
msgstr "Schließen"

msgid "day"
msgid_plural "days"
msgstr[0] "jour"
msgstr[1] "jours"

msgctxt "door"
msgid "Close"
msgstr "Zu"
"""


@pytest.fixture
def source(tmp_path):
    source = tmp_path / "fr" / "LC_MESSAGES" / "django.po"
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    return source


def test_a_catalogue_is_compiled_once_until_its_text_changes(source, tmp_path):
    english = tmp_path / "en" / "LC_MESSAGES" / "django.po"
    english.parent.mkdir(parents=True)
    english.write_text(SOURCE)
    compiled = source.with_suffix(".mo")

    assert compile_stale_catalogues(tmp_path) == [compiled]
    assert compile_stale_catalogues(tmp_path) == []

    with compiled.open("rb") as file:  # Python's own reader
        texts = gettext.GNUTranslations(file)
    assert texts.gettext("Close") == "Schließen"
    assert texts.pgettext("door", "Close") == "Zu"
    assert [texts.ngettext("day", "days", n) for n in (0, 1, 2)] == [
        *("jour", "jour", "jours")
    ]
    later = compiled.stat().st_mtime + 1
    os.utime(source, (later, later))
    assert compile_stale_catalogues(tmp_path) == [compiled]
    assert sorted(each.name for each in compiled.parent.iterdir()) == [
        *("django.mo", "django.po")
    ]


def test_a_disk_that_takes_no_file_leaves_texts_english(source, tmp_path, monkeypatch):
    def refuse(*_args):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("pathlib.Path.write_bytes", refuse)

    assert compile_stale_catalogues(tmp_path) == []

    assert not source.with_suffix(".mo").exists()


def test_each_language_that_is_offered_has_a_catalogue_in_its_own_plural_forms():
    folder = settings.LOCALE_PATHS[0]
    found = {each.name for each in folder.iterdir() if each.is_dir()}

    assert found == {"en", "es", "de", "fr", "pt_BR"}
    assert [code for code, _name in settings.LANGUAGES] == [
        *("en", "es", "de", "fr", "pt-br")
    ]
    for name in found - {"en"}:
        ours = polib.pofile(str(folder / name / "LC_MESSAGES/django.po")).metadata
        # As in Django's catalogue of the language, so that both are one.
        django = polib.mofile(f"{_find_django()}/{name}/LC_MESSAGES/django.mo").metadata
        assert ours["Plural-Forms"] == django["Plural-Forms"]


def _find_django():
    import django

    return f"{django.__path__[0]}/conf/locale"

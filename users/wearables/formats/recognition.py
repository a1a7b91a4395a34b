"""Names of files that are recognized, and cannot be read or are no health data.

A person who sent the wrong file learns from its name what they sent. Names are of kinds
and vendors, never of what a file says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from django.utils.translation import gettext as _

from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from users.wearables.formats.uploads.heads import Head


class Known(NamedTuple):
    """A form that is recognized by its columns, keys, root element or first text."""

    name: str
    columns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    root: str = ""
    text: str = ""
    is_export: bool = True


# What public code reads of them (read 2026-11-24): parsers that name these columns or
# keys were found for Suunto, Huawei, Zepp, mySugr, CareLink, Glooko, MyFitnessPal,
# Cronometer and Renpho. Not confirmed by a public source: Polar's exportVersion,
# Tidepool's pair of keys and Ultrahuman's key; a wrong one is refused as any JSON.
_KNOWN = (
    Known(gettext_lazy("a Polar Flow export"), keys=("exportVersion", "exercises")),
    Known(gettext_lazy("a Polar Flow export"), keys=("exportVersion", "deviceId")),
    Known(gettext_lazy("a Polar Flow export"), keys=("exportVersion", "samples")),
    Known(gettext_lazy("a Suunto export"), keys=("DeviceLog",)),
    Known(gettext_lazy("a Suunto export"), root="openambitlog"),
    Known(gettext_lazy("a Huawei Health export"), keys=("attribute", "sportType")),
    Known(
        gettext_lazy("a Zepp export"),
        columns=("date", "steps", "distance", "rundistance"),
    ),
    Known(gettext_lazy("a Zepp export"), columns=("date", "lastsynctime")),
    Known(gettext_lazy("a Tidepool export"), keys=("uploadId", "deviceTime")),
    Known(
        gettext_lazy("a mySugr export"),
        columns=("date", "time", "tags", "blood sugar measurement (mg/dl)"),
    ),
    Known(
        gettext_lazy("a Medtronic CareLink export"),
        columns=("index", "date", "time", "new device time"),
    ),
    Known(
        gettext_lazy("a Glooko export"),
        columns=("timestamp", "cgm glucose value (mg/dl)"),
    ),
    Known(gettext_lazy("an Ultrahuman export"), keys=("metric_data",)),
    Known(gettext_lazy("a MyFitnessPal export"), columns=("date", "meal", "calories")),
    Known(gettext_lazy("a Cronometer export"), columns=("day", "group", "food name")),
    Known(
        gettext_lazy("a Renpho export"), columns=("time of measurement", "weight(kg)")
    ),
    Known(
        gettext_lazy("a Renpho export"), columns=("time of measurement", "weight(lb)")
    ),
    Known(gettext_lazy("a Health Auto Export file"), keys=("data", "metrics")),
    Known(gettext_lazy("a Nightscout profile"), keys=("defaultProfile", "store")),
    Known(gettext_lazy("a Nightscout device status"), keys=("device", "pump")),
    Known(gettext_lazy("a FHIR document"), keys=("resourceType",)),
    Known(gettext_lazy("a clinical document (CDA)"), root="ClinicalDocument"),
    Known(gettext_lazy("a map (KML)"), root="kml", is_export=False),
    Known(gettext_lazy("a TrainingPeaks workout"), root="pwx"),
    Known(gettext_lazy("a Zwift workout plan"), root="workout_file"),
    Known(gettext_lazy("a web page"), root="html", is_export=False),
    Known(gettext_lazy("a picture (SVG)"), root="svg", is_export=False),
    Known(gettext_lazy("a Polar HRM file"), text=r"\[Params\]\s"),
    Known(gettext_lazy("an HL7 message"), text=r"MSH\|"),
    Known(gettext_lazy("a calendar"), text=r"BEGIN:VCALENDAR", is_export=False),
)
_KINDS = {
    "pdf": gettext_lazy("a PDF document"),
    "picture": gettext_lazy("a picture"),
    "7z": gettext_lazy("a 7z archive"),
    "rar": gettext_lazy("a RAR archive"),
    "office": gettext_lazy("an old Office document"),
    "plist": gettext_lazy("an Apple property list"),
    "parquet": gettext_lazy("a Parquet file"),
    "sqlite": gettext_lazy("an SQLite database"),
    "gzip": gettext_lazy("a gzip archive"),
    "zip": gettext_lazy("a zip archive"),
    "binary": gettext_lazy("a binary file"),
}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_ ().%/-]{0,39}")
_WORDS_SHOWN = 4


def find_known_form(head: Head) -> Known | None:
    """Return what a file is that cannot be read; None if unknown."""
    keys = {each for names in head.keys.values() for each in names}
    columns = [set(line.columns) for line in head.headers]
    for known in _KNOWN:
        if known.keys and set(known.keys) <= keys:
            return known
        if known.columns and any(set(known.columns) <= each for each in columns):
            return known
        if known.root and known.root == head.root:
            return known
        if known.text and re.match(known.text, head.text):
            return known
    return None


def describe_head(head: Head) -> str:
    """Return what a file looks like, in words that hold none of its values."""
    if head.kind in _KINDS:
        return str(_KINDS[head.kind])
    if head.kind == "xml":
        root = head.root if _WORD.fullmatch(head.root) else "?"
        return _("an XML document of the kind %(root)s") % {"root": root}
    if head.kind == "json":
        names = [each for keys in head.keys.values() for each in keys]
        return _with_words(_("a JSON file"), _("with the keys"), names)
    if head.headers:
        line = max(head.headers, key=lambda each: len(each.columns))
        return _with_words(_("a table (CSV)"), _("with the columns"), line.columns)
    return _("a text")


def _with_words(what: str, joined: str, names: list[str]) -> str:
    """Name columns or keys, if all that would be shown look like names."""
    shown = [each for each in names if each][:_WORDS_SHOWN]
    if not shown or not all(_WORD.fullmatch(each) for each in shown):
        return what
    return f"{what} {joined} {', '.join(shown)}"

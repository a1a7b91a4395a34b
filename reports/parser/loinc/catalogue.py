"""The built-in catalogue of analytes: LOINC codes and printed names.

Loads data/catalogue.csv and answers what a name could mean. Which meaning a row has
is decided in matching.py. A row of the file is one meaning of an analyte: `names` mean
the analyte whatever the row, `own_names` mean this row alone.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from reports.parser.cyrillic import write_cyrillic_name_in_latin

LOINC_NOTICE = (
    "This material contains content from LOINC (http://loinc.org). LOINC is copyright "
    "© 1995-2024, Regenstrief Institute, Inc. and the Logical Observation Identifiers "
    "Names and Codes (LOINC) Committee and is available at no cost under the license "
    "at http://loinc.org/license. LOINC® is a registered United States trademark of "
    "Regenstrief Institute, Inc."
)

_FILE = Path(__file__).parent.parent / "data" / "catalogue.csv"


@dataclass(frozen=True, slots=True)
class Entry:
    """One LOINC code in the sense of one analyte.

    specimen is finer than the wire's sample type (serum, blood, urine, urine24, ...);
    method names the word that has to be printed for the row to be meant ("direct",
    "hplc"), empty for the row an unqualified name means. order is the place in the
    file: of two rows that nothing tells apart the earlier is the usual one.
    """

    code: str
    analyte: str
    display_name: str
    property: str
    specimen: str
    scale: str
    method: str
    kind: str
    units: tuple[str, ...]
    panels: tuple[str, ...]
    source: str
    long_common_name: str
    order: int


@dataclass(frozen=True, slots=True)
class Sense:
    """What a name may mean: an analyte, or only some of its rows."""

    analyte: str
    codes: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything the file says, indexed by name key.

    ratios maps the analytes above and below the stroke to the analyte of the ratio.
    """

    entries: dict[str, tuple[Entry, ...]]
    aliases: dict[str, tuple[str, ...]]
    senses: dict[str, tuple[Sense, ...]]
    sorted_senses: dict[str, tuple[Sense, ...]]
    ratios: dict[tuple[str, str], str]

    def entries_of(self, sense: Sense) -> tuple[Entry, ...]:
        """The rows a sense allows, in file order."""

        rows = self.entries[sense.analyte]
        if sense.codes is None:
            return rows
        return tuple(row for row in rows if row.code in sense.codes)


# British and continental spellings of the same roots, applied to a key.
_ROOTS = (
    ("haem", "hem"),
    ("aemia", "emia"),
    ("oestr", "estr"),
    ("leuco", "leuko"),
    ("leucc", "leukc"),
    ("sulph", "sulf"),
    ("faec", "fec"),
    ("foet", "fet"),
    ("caerul", "cerul"),
    ("oedem", "edem"),
    ("tumour", "tumor"),
    ("billi", "bili"),
)


_NOT_IN_KEY = re.compile(r"[^a-z0-9%#]")
_KEY_WORD = re.compile(r"[a-z0-9%#]+")
# Letters that Unicode does not take apart.
_UNDIVIDED = str.maketrans(
    {"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "ı": "i"}
    | {"æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe"}
)
# The German letter stands for the Greek one where no word goes before it: "ß-HCG".
_BETA = re.compile(r"(?<![^\W\d_])ß")
_DASHES = re.compile(r"[‐-―−]")


@lru_cache(maxsize=16384)
def normalize_name_text(text: str) -> str:
    """Return a name in lower case, without accents, Greek letters spelled out."""

    text = _BETA.sub("beta", text.replace("µ", "u").replace("μ", "u"))
    text = text.translate(_UNDIVIDED)
    for letter, name in (("α", "alpha"), ("β", "beta"), ("γ", "gamma")):
        text = text.replace(letter, name)
    if text.isascii():
        return text.casefold()
    text = write_cyrillic_name_in_latin(text)
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _DASHES.sub("-", plain).casefold()


def unify_spelling_variants(key: str) -> str:
    """Return a normalized text with word roots in one spelling: "haem" as "hem"."""

    for spelling, root in _ROOTS:
        if spelling in key:
            key = key.replace(spelling, root)
    return key


def build_name_key(text: str) -> str:
    """Return a name's letters, digits and the signs % #, without blanks."""

    return unify_spelling_variants(_NOT_IN_KEY.sub("", normalize_name_text(text)))


def build_word_order_free_key(text: str) -> str:
    """Return a name's key whatever the order of its words; empty for ratios."""

    folded = normalize_name_text(text)
    words = _KEY_WORD.findall(folded)
    if len(words) < 2 or "/" in folded or ":" in folded or "ratio" in words:
        return ""
    return unify_spelling_variants("\x1f".join(sorted(words)))


@lru_cache(maxsize=1)
def load_loinc_catalogue() -> Catalogue:
    """Return the catalogue, read once per process."""

    entries: dict[str, list[Entry]] = {}
    aliases: dict[str, dict[str, None]] = {}
    senses: dict[str, list[Sense]] = {}
    by_words: dict[str, list[Sense]] = {}
    ratios: dict[tuple[str, str], str] = {}
    own: list[tuple[str, str, str]] = []
    with _FILE.open(encoding="utf-8", newline="") as lines:
        for order, row in enumerate(csv.DictReader(lines)):
            analyte = row["analyte"]
            entries.setdefault(analyte, []).append(
                Entry(
                    code=row["code"],
                    analyte=analyte,
                    display_name=row["display_name"],
                    property=row["property"],
                    specimen=row["specimen"],
                    scale=row["scale"],
                    method=row["method"],
                    kind=row["kind"],
                    units=tuple(filter(None, row["units"].split("|"))),
                    panels=tuple(filter(None, row["panels"].split("|"))),
                    source=row["source"],
                    long_common_name=row["long_common_name"],
                    order=order,
                )
            )
            known = aliases.setdefault(analyte, {})
            for name in filter(None, row["names"].split("|")):
                known[name] = None
                _add(senses, build_name_key(name), Sense(analyte, None))
                _add(by_words, build_word_order_free_key(name), Sense(analyte, None))
            for pair in filter(None, row["ratio_of"].split("|")):
                above, _, below = pair.partition("/")
                ratios[above, below] = analyte
            own.extend(
                (name, analyte, row["code"])
                for name in filter(None, row["own_names"].split("|"))
            )
    for name, analyte, code in own:
        aliases[analyte][name] = None
        _narrow(senses, build_name_key(name), Sense(analyte, (code,)))
        _narrow(by_words, build_word_order_free_key(name), Sense(analyte, (code,)))
    for rows in entries.values():
        for entry in rows:
            _add_official_name(senses, entry)
    return Catalogue(
        entries={key: tuple(rows) for key, rows in entries.items()},
        aliases={key: tuple(names) for key, names in aliases.items()},
        senses={key: tuple(found) for key, found in senses.items()},
        sorted_senses={key: tuple(found) for key, found in by_words.items()},
        ratios=ratios,
    )


def _narrow(index: dict[str, list[Sense]], key: str, sense: Sense) -> None:
    """Let a row's own name stand for that row, no longer for the whole analyte."""

    wide = Sense(sense.analyte, None)
    if wide in index.get(key, ()):
        index[key].remove(wide)
    _add(index, key, sense)


def _add_official_name(senses: dict[str, list[Sense]], entry: Entry) -> None:
    """Some reports print LOINC's own names; ours come first where both mean one."""

    component = re.split(r" \[| in | by ", entry.long_common_name)[0]
    for name in (entry.long_common_name, component if "/" in component else ""):
        key = build_name_key(name)
        if not any(sense.codes is None for sense in senses.get(key, ())):
            _add(senses, key, Sense(entry.analyte, (entry.code,)))


def _add(index: dict[str, list[Sense]], key: str, sense: Sense) -> None:
    if not key:
        return
    found = index.setdefault(key, [])
    if sense not in found:
        found.append(sense)

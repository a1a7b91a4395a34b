"""Decides whether a document is a readable lab report.

Judges whole documents: script and language, a shop's bill or a doctor's letter, and
whether the rows found carry enough to be believed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from reports.parser.pages import Page
from reports.parser.report import FailureReason, LoincReason, ParsedResult, Script
from reports.parser.text.folding import normalize_letters_and_digits
from reports.parser.text.ranges import looks_like_range
from reports.parser.word_lists import read_word_lists

_WORDS = read_word_lists("words.txt")
_ENGLISH, _FOREIGN = frozenset(_WORDS["english"]), frozenset(_WORDS["foreign"])
_BILL = re.compile(
    r"(?i)\b(?:invoice|receipt|grand total|sub\s?total|amount (?:due|paid|payable)"
    r"|total (?:due|paid|amount|payable)"
    r"|unit price|qty|quantity|net payable|gst\b|vat\b|cash tendered|change due"
    r"|bill (?:no|amount)|balance due|mrp|price)\b"
)


_NO_PERSON = re.compile(
    r"(?i)\b(?:nutrition facts|supplement facts|serving size|amount per serving"
    r"|% ?daily value|(?:drinking|potable|waste|well|tap) ?water|water (?:analysis"
    r"|quality)|soil (?:analysis|test)|effluent|feed analysis)\b"
)
_PERSON = re.compile(
    r"(?i)\b(?:patient|patientin|paciente|paziente|hasta|d\.?o\.?b|date of birth|gender"
    r"|sex|age|geburtsdatum|sexe|sexo|sesso)\b"
)


def is_unsupported_language(pages: Sequence[Page]) -> bool:
    """Return whether the text is clearly in an unsupported language."""
    words = [word.text for page in pages for word in page.words]
    letters = [sign for text in words for sign in text if sign.isalpha()]
    if not letters:
        return False
    latin = sum(1 for sign in letters if sign.isascii() or _is_latin(sign))
    if latin < 0.5 * len(letters):
        return True
    folded = [text.lower().strip(".,;:()") for text in words]
    english = sum(1 for text in folded if text in _ENGLISH)
    foreign = sum(1 for text in folded if text in _FOREIGN)
    return foreign > 12 and foreign > 2.5 * english


def _is_latin(sign: str) -> bool:
    return unicodedata.name(sign, "").startswith(("LATIN", "GREEK", "MICRO"))


def is_bill_document(pages: Sequence[Page]) -> bool:
    """Return whether the document is a bill: prices, not results."""
    text = " ".join(word.text for page in pages for word in page.words)
    return len({match.lower() for match in _BILL.findall(text)}) >= 2


def is_product_analysis_document(pages: Sequence[Page]) -> bool:
    """Return whether the document is about food, supplements or water."""
    text = " ".join(word.text for page in pages for word in page.words)
    found = {match.lower() for match in _NO_PERSON.findall(text)}
    return bool(found) and not _PERSON.search(text)


def find_unread_script(pages: Sequence[Page]) -> Script | None:
    """Return the script of most letters, or of a page that could not be read."""
    unread = [page.script for page in pages if page.script]
    if unread:
        return unread[0]
    signs = (sign for page in pages for word in page.words for sign in word.text)
    names = Counter(
        unicodedata.name(sign, "").partition(" ")[0].lower()
        for sign in signs
        if sign.isalpha()
    )
    most = names.most_common(1)
    return Script(most[0][0]) if most and most[0][0] in set(Script) else None


def find_reason_for_no_rows(pages: Sequence[Page]) -> FailureReason:
    """Return why pages gave no row; low_quality if hardly a word was read."""
    legible = [page for page in pages if page.words and page.legible]
    if any(page.script for page in pages) or is_unsupported_language(legible):
        return FailureReason.NOT_ENGLISH
    if sum(len(page.words) for page in legible) < 4 * len(pages):
        return FailureReason.LOW_QUALITY
    return FailureReason.INVALID_INPUT


_CONCENTRATION = re.compile(
    r"(?i)[/%]|^(?:fl|pg|secs?\.?|seconds?|ratio|index|inr|mm|cells|mmhg|ph|titre"
    r"|cumm|sek\.?)$"
)


def are_rows_plausible_lab_results(
    results: Sequence[ParsedResult], pages: Sequence[Page], *, titled: bool
) -> bool:
    """Return whether the rows are results of a lab.

    titled: whether some of them stand under titles of a table of results. A dose
    (500 mg), a price or a delay (2 days) is no measurement.
    """
    ranged = sum(1 for r in results if looks_like_range(r.reference_range or ""))
    measured = sum(
        1
        for result in results
        if looks_like_range(result.reference_range or "")
        or _CONCENTRATION.search(result.units or "")
    )
    known = sum(1 for result in results if _is_sound(result))
    united = sum(1 for result in results if result.units)
    if is_bill_document(pages) and measured < 0.5 * len(results):
        return False
    if is_product_analysis_document(pages):
        return False
    drugs = sum(1 for result in results if result.sensitivity is not None)
    if titled and drugs >= 2:
        return True
    if titled and known:
        return bool(measured) or known >= 2 or _mentions_lab(pages)
    if not known:
        told = ranged >= 3 and min(measured, united) >= 0.6 * len(results)
        return told and _mentions_lab(pages)
    if measured >= max(1, 0.3 * len(results)):
        return True
    # Findings in words, as of urine, have neither units nor ranges.
    many = known >= _MANY_KNOWN and known >= 0.8 * len(results)
    return many and _mentions_lab(pages)


_MANY_KNOWN = 6
_CONTRADICTED = {LoincReason.UNIT_CONTRADICTS, LoincReason.SCALE_CONTRADICTS}


def _is_sound(result: ParsedResult) -> bool:
    """Whether a row's name is that of a test and its value and unit may be."""
    best = result.loinc_matches[:1]
    return any(_CONTRADICTED.isdisjoint(match.reasons) for match in best)


def find_contradicted_pages(
    pages: Sequence[int], results: Sequence[ParsedResult]
) -> frozenset[int]:
    """Return the pages whose results do nothing but contradict the catalogue.

    `pages` are those of the results, one by one.

    'Low cortisol 39 %' is a share of symptoms: where no row of a page has a range, and
    each is in a unit that its test cannot have, the page has no results. None where all
    pages are so: a report with nothing else keeps its rows, for a person to look at.
    """
    by_page: dict[int, list[ParsedResult]] = {}
    for page, result in zip(pages, results, strict=True):
        by_page.setdefault(page, []).append(result)
    contradicted = frozenset(
        page
        for page, own in by_page.items()
        if all(result.loinc_matches for result in own)
        and not any(result.reference_range or _is_sound(result) for result in own)
    )
    return frozenset() if len(contradicted) == len(by_page) else contradicted


_LAB_WORDS = frozenset(_WORDS["laboratory"])
# Of a script without blanks between its words.
_LAB_WORDS_UNPARTED = _WORDS["laboratory unparted"]


def _mentions_lab(pages: Sequence[Page]) -> bool:
    words = {
        piece
        for page in pages
        for word in page.words
        for piece in normalize_letters_and_digits(word.text).split()
    }
    if len(words & _LAB_WORDS) >= 2:
        return True
    signs = "".join(word.text for page in pages for word in page.words)
    return sum(1 for word in _LAB_WORDS_UNPARTED if word in signs) >= 2

"""Reads pages from a PDF's text layer with pdfium."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from reports.parser.layout.kerning import (
    is_right_to_left_script,
    join_kerned_words,
    reorder_right_to_left_word,
)
from reports.parser.layout.watermarks import drop_watermark_words
from reports.parser.pages import Page, Word

# No page of a report holds so many; one that does was made to be slow.
_MOST_WORDS = 8000
_FAINT = range(200, 250)
_MOST = 0.6  # of the page's area
_FEW_WORDS = 25
# Pieces of one word stand at each other's end, to this share of the size.
_TOUCHING = 0.04
_TWO_WORDS = re.compile(r"[a-z]{4}[A-Z][a-z]")
# Numbers of glyphs and control codes, but for those that part words.
_ODD = re.compile(r"[\ue000-\uf8ff\ufffd]|(?!\s)[\x00-\x1f]")
_TOKEN = re.compile(r"[^\s\x00]+")
_SOFT_HYPHENS = str.maketrans({"\x02": "-", "￾": "-", "\xad": "-", "‐": "-", "‑": "-"})
_LINE_END_HYPHEN = re.compile(r"(?<=[\x02\ufffe])")


class _Look(NamedTuple):
    """What all characters of one text object share."""

    size: float
    bold: bool
    red: bool
    faint: bool
    angle: float
    quarter: int


class TooManyPages(Exception):
    """The document has more pages than the caller reads."""


def read_pdf_pages(path: Path, *, at_most: int = 1000) -> tuple[Page, ...]:
    """Read every page of a PDF.

    Raises: TooManyPages, and pdfium's own error for a file that it can't open.
    """
    document = pdfium.PdfDocument(path)
    try:
        if len(document) > at_most:
            raise TooManyPages
        return tuple(_read_page(document, index) for index in range(len(document)))
    finally:
        document.close()


def read_pdf_page(path: Path, number: int) -> Page:
    """Read one page of a PDF, counted from 1. Raises: pdfium's own error."""
    document = pdfium.PdfDocument(path)
    try:
        return _read_page(document, number - 1)
    finally:
        document.close()


def _read_page(document: pdfium.PdfDocument, index: int) -> Page:
    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            reader = _TextReader(text_page.raw, page.get_bbox())
            words, quarter, legible = reader.read()
        finally:
            text_page.close()
        width, height = page.get_size()
        rotation = page.get_rotation() // 90
        return Page(
            number=index + 1,
            width=width,
            height=height,
            words=words,
            turn=(rotation - quarter) % 4,
            legible=legible,
            pictured=_is_pictured(page, len(words)),
        )
    finally:
        page.close()


def _is_pictured(page: pdfium.PdfPage, words: int) -> bool:
    """Return whether an image fills the page, with or without hidden words.

    A scanner draws the picture first or last, so the objects between are not asked.
    """
    handle = ctypes.cast(page.raw, ctypes.c_void_p)
    count = _as_int(_object_count(handle))
    sampled = sorted({*range(min(count, 8)), *range(max(0, count - 4), count)})
    objects = [found for n in sampled if (found := _page_object(handle, n))]
    kinds = {found: _as_int(_object_kind(found)) for found in objects}
    area = page.get_width() * page.get_height()
    pictures = [o for o in objects if kinds[o] == pdfium_c.FPDF_PAGEOBJ_IMAGE]
    if not any(_area(picture) > _MOST * area for picture in pictures):
        return False
    texts = [o for o in objects if kinds[o] == pdfium_c.FPDF_PAGEOBJ_TEXT]
    modes = {_as_int(_text_mode(o)) for o in texts}
    return words < _FEW_WORDS or modes == {pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE}


def _as_int(answer: int | None) -> int:
    """An answer of 32 bits out of a register of 64."""
    return (answer or 0) & 0x7FFFFFFF


def _area(found: int) -> float:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    handle = ctypes.cast(found, pdfium_c.FPDF_PAGEOBJECT)
    pdfium_c.FPDFPageObj_GetBounds(handle, left, bottom, right, top)
    return (right.value - left.value) * (top.value - bottom.value)


def restore_signs_lost_in_pdf_text(text: str) -> str:
    """Restore two signs that fonts without a character map lose.

    pdfium answers NUL for them. Before a unit it was the micro sign, for 'mol/L'
    would be a million times 'µmol/L'; between two numbers it was a dash.
    """
    if "\x00" not in text:
        return text
    text = _LOST_MICRO.sub("µ", text)
    return _LOST_DASH.sub("-", text)


_LOST_MICRO = re.compile(
    r"(?<![A-Za-z])\x00(?=(?:g|mol|l|L|IU|U|kat|m|M|mol)\b)|(?<=/)\x00(?=[lL])"
)
_LOST_DASH = re.compile(r"(?<=\d)\x00(?=\d)|(?<=\d[ \xa0])\x00(?=[ \xa0]\d)")


def _plain(function: object, *arguments: type) -> Callable[..., int | None]:
    """The same pdfium function, answering an address as a plain integer.

    The binding makes an object of each pointer, which costs more than the call.
    """
    address = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
    kind = ctypes.CFUNCTYPE(ctypes.c_void_p, *arguments)
    return kind(address)  # type: ignore[arg-type]


_text_object = _plain(pdfium_c.FPDFText_GetTextObject, ctypes.c_void_p, ctypes.c_int)
_object_font = _plain(pdfium_c.FPDFTextObj_GetFont, ctypes.c_void_p)
_object_count = _plain(pdfium_c.FPDFPage_CountObjects, ctypes.c_void_p)
_page_object = _plain(pdfium_c.FPDFPage_GetObject, ctypes.c_void_p, ctypes.c_int)
_object_kind = _plain(pdfium_c.FPDFPageObj_GetType, ctypes.c_void_p)
_text_mode = _plain(pdfium_c.FPDFTextObj_GetTextRenderMode, ctypes.c_void_p)


class _TextReader:
    """Walks one text page. Calls into pdfium per token, not per character."""

    def __init__(
        self, raw: pdfium_c.FPDF_TEXTPAGE, bounds: tuple[float, float, float, float]
    ) -> None:
        self._raw = raw
        self._left, self._bottom, self._right, self._top = bounds
        self._rect = pdfium_c.FS_RECTF()
        self._rect_ref = ctypes.byref(self._rect)
        self._handle = ctypes.cast(raw, ctypes.c_void_p)
        self._matrix = pdfium_c.FS_MATRIX()
        self._matrix_ref = ctypes.byref(self._matrix)
        self._colour = tuple(ctypes.c_uint() for _ in range(4))
        self._bold_fonts: dict[int | None, bool] = {}
        self._looks: dict[int, _Look] = {}

    def read(self) -> tuple[tuple[Word, ...], int, bool]:
        """The words, the quarter turns of the text, and whether it is legible."""
        text = restore_signs_lost_in_pdf_text(self._text())
        tokens: list[tuple[str, int, int, _Look]] = []
        weights: Counter[int] = Counter()
        for match in _TOKEN.finditer(text):
            for start, end, owner in self._pieces(match):
                look = self._look(start, owner)
                tokens.append((text[start:end], start, end, look))
                weights[look.quarter] += end - start
        if not tokens:
            return (), 0, True
        if len(tokens) > _MOST_WORDS:
            return (), 0, False
        quarter = weights.most_common(1)[0][0]
        upright = quarter * math.pi / 2
        words = []
        for n, (token, start, end, look) in enumerate(tokens):
            away = look.angle - upright
            if away and abs(math.remainder(away, math.tau)) >= 0.035:
                continue
            follows = n > 0 and tokens[n - 1][2] == start
            word = self._word(token, start, end, look, quarter)
            words.append((word, look.faint, -1 if follows else start - 1))
        kept = drop_watermark_words(words)
        joined = join_kerned_words(kept, self._has_blank)
        if not text.isascii():
            joined = list(map(reorder_right_to_left_word, joined))
        return tuple(joined), quarter, _is_legible(text)

    def _text(self) -> str:
        count = pdfium_c.FPDFText_CountChars(self._raw)
        if count <= 0:
            return ""
        units = (ctypes.c_ushort * (count + 1))()
        written = pdfium_c.FPDFText_GetText(self._raw, 0, count, units) - 1
        if written == count:
            text = bytes(units)[: 2 * count].decode("utf-16-le", "surrogatepass")
            # A sign of two units is two here, so that indices agree.
            return text if len(text) == count else "".join(map(chr, units[:count]))
        # pdfium left characters out: ask one by one, so that indices agree.
        codes = [pdfium_c.FPDFText_GetUnicode(self._raw, n) for n in range(count)]
        return "".join(chr(code) if code < 0x110000 else " " for code in codes)

    def _pieces(self, match: re.Match[str]) -> list[tuple[int, int, int]]:
        """Start, end and text object; split where another object starts apart."""
        start, end = match.span()
        token = match.group()
        cuts = [start, end]
        if "\x02" in token or "\ufffe" in token:
            cuts = [start]
            for part in _LINE_END_HYPHEN.split(token):
                cuts.append(cuts[-1] + len(part))
        pieces: list[tuple[int, int, int]] = []
        for first, past in pairwise(cuts):
            owner = self._object(first)
            if past - first == 1 or owner == self._object(past - 1):
                pieces.append((first, past, owner))
            else:
                pieces.extend(self._split_objects(first, past))
        return pieces

    def _split_objects(self, start: int, end: int) -> list[tuple[int, int, int]]:
        pieces = []
        begin = start
        opened = owner = self._object(start)
        for n in range(start + 1, end):
            current = self._object(n)
            if current == owner:
                continue
            x0, _, x1, y1, height = self._box(n - 1)
            nx0, _, nx1, ny1, _ = self._box(n)
            before, after = self._look(n - 1, owner), self._look(n, current)
            owner = current
            size = min(before.size, after.size) or height
            level = abs(ny1 - y1) < 0.1 * size and before.size == after.size
            gap = nx0 - x1 if nx0 >= x0 or not self._is_leftwards(n) else x0 - nx1
            strange = self._starts_anew(n, exactly=abs(gap) < _TOUCHING * size)
            if level and -0.3 * size < gap < 0.15 * size and not strange:
                continue
            pieces.append((begin, n, opened))
            begin, opened = n, current
        pieces.append((begin, end, opened))
        return pieces

    def _starts_anew(self, index: int, *, exactly: bool) -> bool:
        """Whether a sign starts a word, though another touches it: 'antigenNegative'.

        exactly: whether it stands where the other ends, as the next piece of a word.
        """
        around = "".join(
            chr(pdfium_c.FPDFText_GetUnicode(self._raw, n) & 0xFFFF)
            for n in range(max(index - 4, 0), index + 2)
        )
        if exactly:
            return bool(_TWO_WORDS.fullmatch(around))
        before, sign = around[-3:-2], around[-2:-1]
        return before.islower() and (sign.isupper() or sign.isdigit())

    def _is_leftwards(self, index: int) -> bool:
        sign = chr(pdfium_c.FPDFText_GetUnicode(self._raw, index) & 0xFFFF)
        return is_right_to_left_script(sign)

    def _object(self, index: int) -> int:
        return _text_object(self._handle, index) or 0

    def _box(self, index: int) -> tuple[float, float, float, float, float]:
        pdfium_c.FPDFText_GetLooseCharBox(self._raw, index, self._rect_ref)
        rect = self._rect
        top, bottom = rect.top, rect.bottom
        return rect.left, top, rect.right, bottom, top - bottom

    def _look(self, index: int, owner: int) -> _Look:
        known = self._looks.get(owner)
        if known is None or owner == 0:
            known = self._looks[owner] = self._read_look(index, owner)
        return known

    def _read_look(self, index: int, owner: int) -> _Look:
        matrix = self._matrix
        size = pdfium_c.FPDFText_GetFontSize(self._raw, index)
        angle = 0.0
        if pdfium_c.FPDFText_GetMatrix(self._raw, index, self._matrix_ref):
            # A size below zero turns what the matrix turned back to upright.
            sign = -1 if size < 0 else 1
            angle = math.atan2(sign * matrix.b, sign * matrix.a)
            size = abs(size) * (math.hypot(matrix.b, matrix.d) or 1)
        if size < 1:
            size = max(self._box(index)[4], 1)
        pdfium_c.FPDFText_GetFillColor(self._raw, index, *self._colour)
        red, green, blue, alpha = (part.value for part in self._colour)
        grey = (3 * red + 6 * green + blue) // 10
        level = max(red, green, blue) - min(red, green, blue) < 60
        return _Look(
            size,
            self._is_bold(index, owner),
            red > 150 and green < 110 and blue < 110,
            (grey in _FAINT and level) or alpha < 110,
            angle,
            round(math.degrees(angle) / 90) % 4,
        )

    def _is_bold(self, index: int, owner: int) -> bool:
        font = _object_font(owner) if owner else None
        known = self._bold_fonts.get(font)
        if known is not None and font is not None:
            return known
        bold = bool(pdfium_c.FPDFText_GetFontWeight(self._raw, index) >= 600)
        flags = ctypes.c_int()
        length = pdfium_c.FPDFText_GetFontInfo(self._raw, index, None, 0, flags)
        if not bold and length > 0:
            name = ctypes.create_string_buffer(length)
            pdfium_c.FPDFText_GetFontInfo(self._raw, index, name, length, flags)
            bold = b"bold" in name.value.lower()
        self._bold_fonts[font] = bold
        return bold

    def _has_blank(self, index: int) -> bool:
        """Whether the sign at an index is a printed blank, not one that pdfium made."""
        if index < 0:
            return False
        generated = pdfium_c.FPDFText_IsGenerated(self._raw, index)
        return bool(generated == 0)

    def _word(self, text: str, start: int, end: int, look: _Look, quarter: int) -> Word:
        left, top, right, bottom, _ = self._box(start)
        if end - start > 1:
            left2, top2, right2, bottom2, _ = self._box(end - 1)
            if left2 < left and is_right_to_left_script(text):
                text = text[::-1]
            left, right = min(left, left2), max(right, right2)
            top, bottom = max(top, top2), min(bottom, bottom2)
        match quarter:
            case 0:
                box = (
                    left - self._left,
                    self._top - top,
                    right - self._left,
                    self._top - bottom,
                )
            case 1:
                box = (
                    bottom - self._bottom,
                    left - self._left,
                    top - self._bottom,
                    right - self._left,
                )
            case 2:
                box = (
                    self._right - right,
                    bottom - self._bottom,
                    self._right - left,
                    top - self._bottom,
                )
            case _:
                box = (
                    self._top - top,
                    self._right - right,
                    self._top - bottom,
                    self._right - left,
                )
        if not text.isascii() or "\x02" in text:
            text = text.translate(_SOFT_HYPHENS)
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return Word(text, *box, look.size, look.bold, look.red)


def _is_legible(text: str) -> bool:
    """Return whether signs are text, not glyph numbers or control codes."""
    odd = len(_ODD.findall(text))
    if not odd:
        return True
    signs = len("".join(text.split()))
    return signs < 20 or odd < 0.2 * signs

"""Numbers as people write them in their language, and measured values as anybody reads.

One rule (docs/reference/decisions.md): a count follows the language (format_number). A
measured value that we work out has a decimal point in every language. Its thousands are
parted by a comma in English and by a narrow space elsewhere (format_measured), where
1,234 or 1.234 could be read as one and a bit. Values of results pass neither: they stay
as reported. Files for machines have English headings and plain digits.
"""

from __future__ import annotations

from django.utils.translation import get_language

# By language: what groups thousands, and the decimal sign. Spanish as in the United
# States and Mexico. Source: Unicode CLDR 45, numbers of es-US, de, fr, pt.
_SIGNS = {
    "de": (".", ","),
    "es": (",", "."),
    "fr": ("\u202f", ","),
    "pt-br": (".", ","),
}
_ENGLISH = (",", ".")
# Languages that put a space before a percent sign.
_SPACED_PERCENT = frozenset({"de", "fr"})


def format_number(number: float, *, decimals: int = 0) -> str:
    """Write 2418 as 2,418 and 0.5 as 0.5, or as the language of the page does."""
    thousands, decimal = _SIGNS.get(get_language() or "en", _ENGLISH)
    text = f"{number:,.{decimals}f}" if decimals else f"{number:,}"
    return text.translate({ord(","): thousands, ord("."): decimal})


def format_measured(value: float, *, decimals: int = 2) -> str:
    """Write 8430.256 as 8,430.26, and as 8 430.26 in a language other than English.

    `decimals` is how many at most.
    """
    rounded = round(value, decimals)
    return part_thousands(
        f"{rounded:,.0f}" if rounded == int(rounded) else f"{rounded:,}"
    )


def part_thousands(text: str) -> str:
    """Part the thousands of a measured value, given with commas, for the language."""
    return text if (get_language() or "en") == "en" else text.replace(",", "\u202f")


def format_percent(share: float) -> str:
    """Write 0.971 as 97.1%; a share that is not all or nothing never reads so."""
    tenths = round(share * 1000)
    if 0 < share < 1:
        tenths = min(max(tenths, 1), 999)
    text = format_number(tenths / 10, decimals=1) if tenths % 10 else f"{tenths // 10}"
    return f"{text}\u00a0%" if get_language() in _SPACED_PERCENT else f"{text}%"

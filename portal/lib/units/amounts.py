"""Amounts in another unit of the same kind: exact factors between UCUM units.

For checks and for display beside what is printed. A stored value is never converted.
Mass and moles meet only by way of a molar mass, which the caller must have.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

_PREFIXES: dict[str, Fraction] = {
    "k": Fraction(1000),
    "d": Fraction(1, 10),
    "c": Fraction(1, 100),
    "m": Fraction(1, 10**3),
    "u": Fraction(1, 10**6),
    "n": Fraction(1, 10**9),
    "p": Fraction(1, 10**12),
    "f": Fraction(1, 10**15),
}
# Units that take a prefix, each a kind of its own.
_ROOTS = ("g", "mol", "eq", "L", "U", "kat", "[IU]", "osm")
_PLAIN: dict[str, tuple[Fraction, str]] = {
    "%": (Fraction(1, 100), "1"),
    "[ppth]": (Fraction(1, 1000), "1"),
    "{ratio}": (Fraction(1), "1"),
    "s": (Fraction(1), "s"),
    "min": (Fraction(60), "s"),
    "h": (Fraction(3600), "s"),
    "(24.h)": (Fraction(86400), "s"),
    "mm": (Fraction(1, 1000), "m"),
    "cm": (Fraction(1, 100), "m"),
    "mm[Hg]": (Fraction(133322387415, 10**9), "Pa"),
    "kPa": (Fraction(1000), "Pa"),
}
# One enzyme unit turns over a micromole a minute, one katal a mole a second.
_KATAL = Fraction(60 * 10**6)


@lru_cache(maxsize=8192)
def find_unit_conversion_factor(unit: str, to: str) -> Fraction | None:
    """Return what an amount in one UCUM unit is multiplied with to be in another.

    None where the two do not measure the same kind of thing, or one is unknown.
    """
    source, target = _resolve(unit), _resolve(to)
    if source is None or target is None or source[1] != target[1]:
        return None
    return source[0] / target[0]


def convert_amount(
    amount: Decimal | int, *, unit: str, to: str, molar_mass: Decimal | None = None
) -> Fraction | None:
    """Return an amount in another unit, exactly; None where that means nothing.

    molar_mass: grams in a mole of what is measured; with it mass and moles convert.
    Being exact and increasing, it keeps a value on its side of every bound.
    """
    factor = find_unit_conversion_factor(unit, to)
    if factor is None and molar_mass is not None:
        factor = _by_moles(unit, to, Fraction(molar_mass))
    return None if factor is None else Fraction(amount) * factor


def _by_moles(unit: str, to: str, molar_mass: Fraction) -> Fraction | None:
    source, target = _resolve(unit), _resolve(to)
    if source is None or target is None or molar_mass <= 0:
        return None
    for first, second, factor in (
        ("g", "mol", 1 / molar_mass),
        ("mol", "g", molar_mass),
    ):
        head, stroke, tail = source[1].partition("/")
        if head == first and target[1] == f"{second}{stroke}{tail}":
            return source[0] * factor / target[0]
    return None


@lru_cache(maxsize=1024)
def _resolve(unit: str) -> tuple[Fraction, str] | None:
    """The factor to base units, and what the unit measures in those."""
    plain = _PLAIN.get(unit)
    if plain is not None:
        return plain
    head, *tail = unit.split("/")
    factor, kinds = Fraction(1), []
    if head:
        top = _resolve_part(head)
        if top is None:
            return None
        factor, kind = top
        kinds.append(kind)
    else:
        kinds.append("1")
    for part in tail:
        below = _resolve_part(part)
        if below is None:
            return None
        factor /= below[0]
        kinds.append(below[1])
    if kinds == ["L", "L"]:
        return factor, "1"
    return factor, "/".join(kinds)


def _resolve_part(part: str) -> tuple[Fraction, str] | None:
    bare, brace, note = part.partition("{")
    remark = brace + note
    if not bare:
        return Fraction(1), remark
    if bare.startswith("10*") and bare[3:].isdigit():
        return Fraction(10 ** int(bare[3:])), "1"
    if bare in _PLAIN:
        factor, kind = _PLAIN[bare]
        return factor, kind + remark
    for root in _ROOTS:
        if not bare.endswith(root):
            continue
        prefix = bare.removesuffix(root)
        scale = Fraction(1) if not prefix else _PREFIXES.get(prefix)
        if scale is None:
            continue
        if root == "kat":
            return scale * _KATAL, "U" + remark
        if root == "eq":
            return scale, "eq" + remark
        return scale, root + remark
    if bare.startswith("[") and bare.endswith("]"):
        return Fraction(1), bare + remark
    return None

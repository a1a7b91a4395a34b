"""Units as laboratories print them: their UCUM text and what they measure."""

from __future__ import annotations

from .amounts import convert_amount, find_unit_conversion_factor
from .dimensions import Dimension, can_unit_express_loinc_property, find_unit_dimension
from .printing import format_unit
from .reading import (
    can_printed_unit_express_loinc_property,
    looks_like_unit,
    normalize_unit,
    parse_printed_unit,
)

__all__ = [
    "Dimension",
    "can_printed_unit_express_loinc_property",
    "can_unit_express_loinc_property",
    "convert_amount",
    "find_unit_conversion_factor",
    "find_unit_dimension",
    "format_unit",
    "looks_like_unit",
    "normalize_unit",
    "parse_printed_unit",
]

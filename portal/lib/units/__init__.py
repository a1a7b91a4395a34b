"""Units as laboratories print them: their UCUM text and what they measure."""

from __future__ import annotations

from .amounts import convert_amount, unit_factor
from .dimensions import Dimension, dimension_of, property_agrees
from .printing import show_units
from .reading import looks_like_units, normalise_units, read_units, unit_agrees

__all__ = [
    "Dimension",
    "convert_amount",
    "dimension_of",
    "looks_like_units",
    "normalise_units",
    "property_agrees",
    "read_units",
    "show_units",
    "unit_agrees",
    "unit_factor",
]

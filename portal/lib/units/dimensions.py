"""What a UCUM unit measures, and whether that agrees with a LOINC property."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache


class Dimension(StrEnum):
    """What a unit measures, fine enough to distinguish homonyms in a report."""

    MASS_CONCENTRATION = "mass/volume"
    SUBSTANCE_CONCENTRATION = "moles/volume"
    NUMBER_CONCENTRATION = "count/volume"
    NUMBER_AREA = "count/field"
    NUMBER_CONTENT = "count/specimen"
    FRACTION = "fraction"
    UNIT_CONCENTRATION = "units/volume"
    UNITS = "units"
    INDEX = "index"
    RATIO = "ratio"
    MASS_RATIO = "mass/mass"
    SUBSTANCE_RATIO = "moles/moles"
    MASS_PER_SUBSTANCE = "mass/moles"
    SUBSTANCE_CONTENT = "moles/mass"
    UNIT_CONTENT = "units/mass"
    TITRE = "titre"
    TIME = "time"
    SEDIMENTATION = "length/time"
    PRESSURE = "pressure"
    VOLUME_RATE = "volume/time"
    CLEARANCE = "volume/time/area"
    MASS_RATE = "mass/time"
    SUBSTANCE_RATE = "moles/time"
    RENIN_ACTIVITY = "mass/volume/time"
    OSMOLALITY = "osmoles"
    VOLUME = "volume"
    MASS = "mass"
    COUNT = "count"
    ACIDITY = "pH"
    LOGARITHM = "logarithm"
    TEMPERATURE = "temperature"
    LENGTH = "length"
    OTHER = "other"


_VOLUME = r"(?:[dmunpf]?L)"
_MASS = r"(?:[kmunpf]?g)"
_MOLES = r"(?:[munpf]?(?:mol|eq))"
_UNITS = (
    r"(?:[munk]?(?:U|kat|\[IU\])|\[(?:arb|GPL|MPL|APL|beth)'U\]|\{Ehrlich'U\}"
    r")"
)
_TIME = r"(?:\(24\.h\)|h|min|s)"
_NOTE = r"(?:\{\w+\})?"

# Tried in order on the canonical text.
_SHAPES: tuple[tuple[re.Pattern[str], Dimension], ...] = tuple(
    (re.compile(shape), dimension)
    for shape, dimension in (
        (rf"%|\[ppth\]|{_VOLUME}/{_VOLUME}", Dimension.FRACTION),
        (rf"{_MASS}/{_VOLUME}/h", Dimension.RENIN_ACTIVITY),
        (rf"{_MASS}/{_VOLUME}{_NOTE}", Dimension.MASS_CONCENTRATION),
        (rf"{_MOLES}/{_VOLUME}", Dimension.SUBSTANCE_CONCENTRATION),
        (
            rf"(?:10\*\d+|\{{copies\}}|\[CFU\])?/{_VOLUME}",
            Dimension.NUMBER_CONCENTRATION,
        ),
        (r"10\*\d+", Dimension.COUNT),
        (r"/\[[HL]PF\]", Dimension.NUMBER_AREA),
        (rf"{_UNITS}/{_VOLUME}", Dimension.UNIT_CONCENTRATION),
        (rf"{_UNITS}/(?:{_MASS}|10\*12){_NOTE}", Dimension.UNIT_CONTENT),
        (_UNITS, Dimension.UNITS),
        (rf"{_MASS}/{_MASS}{_NOTE}", Dimension.MASS_RATIO),
        (rf"{_MASS}/{_MOLES}{_NOTE}", Dimension.MASS_PER_SUBSTANCE),
        (rf"{_MOLES}/{_MOLES}{_NOTE}", Dimension.SUBSTANCE_RATIO),
        (rf"{_MOLES}/{_MASS}{_NOTE}", Dimension.SUBSTANCE_CONTENT),
        (rf"{_MASS}/{_TIME}", Dimension.MASS_RATE),
        (rf"{_MOLES}/{_TIME}", Dimension.SUBSTANCE_RATE),
        (rf"{_VOLUME}/{_TIME}", Dimension.VOLUME_RATE),
        (rf"{_VOLUME}/{_TIME}/\{{1\.73_m2\}}", Dimension.CLEARANCE),
        (r"\{(?:ratio|INR|M\.o\.M)\}", Dimension.RATIO),
        (r"\{(?:index|cutoff_index|s_co_ratio|score|od)\}", Dimension.INDEX),
        (r"\{titer\}", Dimension.TITRE),
        (r"\[pH\]", Dimension.ACIDITY),
        (_TIME, Dimension.TIME),
        (r"mm/h", Dimension.SEDIMENTATION),
        (r"mm\[Hg\]|kPa", Dimension.PRESSURE),
        (r"mosm/(?:kg|L)", Dimension.OSMOLALITY),
        (_VOLUME, Dimension.VOLUME),
        (_MASS, Dimension.MASS),
        (r"\{cells\}", Dimension.COUNT),
        (r"10\*6/\{ejaculate\}", Dimension.NUMBER_CONTENT),
        (r"\{Log\w*\}(?:/mL)?", Dimension.LOGARITHM),
        (r"Cel|\[degF\]", Dimension.TEMPERATURE),
        (r"[cm]m", Dimension.LENGTH),
    )
)

# LOINC property to the dimensions a laboratory prints it in. Enzymes and antibodies
# share U and IU, and a relative activity may be a percentage or a plain ratio.
_PROPERTIES: dict[str, frozenset[Dimension]] = {
    "MCnc": frozenset({Dimension.MASS_CONCENTRATION}),
    "SCnc": frozenset({Dimension.SUBSTANCE_CONCENTRATION}),
    "NCnc": frozenset({Dimension.NUMBER_CONCENTRATION, Dimension.COUNT}),
    "Naric": frozenset({Dimension.NUMBER_AREA}),
    "CCnc": frozenset({Dimension.UNIT_CONCENTRATION, Dimension.RENIN_ACTIVITY}),
    "ACnc": frozenset(
        {
            Dimension.UNIT_CONCENTRATION,
            Dimension.UNITS,
            Dimension.INDEX,
            Dimension.RATIO,
        }
    ),
    "NFr": frozenset({Dimension.FRACTION}),
    "MFr": frozenset({Dimension.FRACTION}),
    "SFr": frozenset({Dimension.FRACTION, Dimension.SUBSTANCE_RATIO}),
    "VFr": frozenset({Dimension.FRACTION}),
    "CFr": frozenset({Dimension.FRACTION}),
    "RelACnc": frozenset({Dimension.FRACTION, Dimension.UNIT_CONCENTRATION}),
    "RelTime": frozenset({Dimension.RATIO, Dimension.INDEX}),
    "Ratio": frozenset({Dimension.RATIO, Dimension.INDEX, Dimension.FRACTION}),
    "MRto": frozenset({Dimension.RATIO, Dimension.INDEX, Dimension.MASS_RATIO}),
    "SRto": frozenset(
        {
            Dimension.RATIO,
            Dimension.INDEX,
            Dimension.SUBSTANCE_RATIO,
        }
    ),
    "MSRto": frozenset({Dimension.MASS_PER_SUBSTANCE}),
    "EntVol": frozenset({Dimension.VOLUME}),
    "EntMass": frozenset({Dimension.MASS}),
    "EntSub": frozenset({Dimension.OTHER}),
    "MRat": frozenset({Dimension.MASS_RATE}),
    "SRat": frozenset({Dimension.SUBSTANCE_RATE}),
    "VRat": frozenset({Dimension.VOLUME_RATE, Dimension.CLEARANCE}),
    "ArVRat": frozenset({Dimension.CLEARANCE, Dimension.VOLUME_RATE}),
    # The hour of a sedimentation rate is often left out: "mm".
    "Vel": frozenset({Dimension.SEDIMENTATION, Dimension.LENGTH}),
    "PPres": frozenset({Dimension.PRESSURE}),
    "Time": frozenset({Dimension.TIME}),
    "Osmol": frozenset({Dimension.OSMOLALITY, Dimension.SUBSTANCE_CONCENTRATION}),
    "LsCnc": frozenset({Dimension.ACIDITY}),
    # 'kg/L', on Polish and Italian reports.
    "Rden": frozenset({Dimension.RATIO, Dimension.INDEX, Dimension.MASS_CONCENTRATION}),
    "Titr": frozenset({Dimension.TITRE, Dimension.RATIO}),
    "MCnt": frozenset({Dimension.MASS_RATIO}),
    "CCnt": frozenset({Dimension.UNIT_CONTENT}),
    "LogNCnc": frozenset({Dimension.LOGARITHM}),
    "Vol": frozenset({Dimension.VOLUME}),
    "Score": frozenset({Dimension.INDEX, Dimension.RATIO}),
    "Num": frozenset({Dimension.COUNT}),
}


@lru_cache(maxsize=2048)
def find_unit_dimension(unit: str) -> Dimension:
    """Return what the canonical UCUM text measures; OTHER where no shape fits."""

    for shape, dimension in _SHAPES:
        if shape.fullmatch(unit):
            return dimension
    return Dimension.OTHER


def can_unit_express_loinc_property(*, property: str, unit: str) -> bool | None:
    """Return whether a canonical unit can express a LOINC property.

    None where the property has no units of its own (presence, type, appearance) or
    the unit says nothing about one.
    """

    expected = _PROPERTIES.get(property)
    dimension = find_unit_dimension(unit)
    if expected is None or dimension is Dimension.OTHER:
        return None
    return dimension in expected

"""Units of measures in files, and their conversion.

Laboratory units are in portal.lib.units; these are the everyday ones of files.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from users.wearables.timeseries import TimeseriesResource

# Grams in a mole of glucose, and of cholesterol and of triglycerides as laboratories
# convert them.
_GLUCOSE = 180.156
_CHOLESTEROL = 386.65
_TRIGLYCERIDES = 885.4


class Conversion(NamedTuple):
    """value x factor + offset."""

    factor: float
    offset: float = 0.0

    def apply(self, value: float) -> float:
        """Convert a value; arithmetic noise is rounded off."""
        if self == _SAME:
            return value
        return float(f"{value * self.factor + self.offset:.12g}")


_SAME = Conversion(1.0)
# What a unit measures, and how many of the first of its kind it is.
_UNITS: dict[str, tuple[str, float]] = {
    "m": ("length", 1),
    "km": ("length", 1000),
    "cm": ("length", 0.01),
    "mm": ("length", 0.001),
    "mi": ("length", 1609.344),
    "yd": ("length", 0.9144),
    "ft": ("length", 0.3048),
    "in": ("length", 0.0254),
    "kg": ("mass", 1000),
    "g": ("mass", 1),
    "mg": ("mass", 0.001),
    "mcg": ("mass", 1e-6),
    "oz": ("mass", 28.349523125),
    "lb": ("mass", 453.59237),
    "st": ("mass", 6350.29318),
    "kcal": ("energy", 1),
    "Cal": ("energy", 1),
    "cal": ("energy", 0.001),
    "kJ": ("energy", 1 / 4.184),
    "J": ("energy", 1 / 4184),
    "ml": ("volume", 1),
    "mL": ("volume", 1),
    "L": ("volume", 1000),
    "fl_oz_us": ("volume", 29.5735295625),
    "fl_oz_imp": ("volume", 28.4130625),
    "cup_us": ("volume", 236.5882365),
    "pt_us": ("volume", 473.176473),
    "s": ("time", 1 / 60),
    "min": ("time", 1),
    "minute": ("time", 1),
    "hr": ("time", 60),
    "h": ("time", 60),
    "mmHg": ("pressure", 1),
    "cmAq": ("pressure", 0.735559240),
    "kPa": ("pressure", 7.50061683),
    "bpm": ("rate", 1),
    "count/min": ("rate", 1),
    "count/s": ("rate", 60),
    "Hz": ("rate", 60),
    "count": ("number", 1),
    "index": ("number", 1),
    "unit": ("insulin", 1),
    "IU": ("insulin", 1),
    "%": ("share", 1),
    "L/min": ("flow", 1),
    "mL/kg/min": ("oxygen", 1),
    "mL/min·kg": ("oxygen", 1),
    "m/s": ("speed", 1),
    "km/hr": ("speed", 1 / 3.6),
    "mi/hr": ("speed", 0.44704),
    "W": ("power", 1),
    "mmol/L": ("amount", 1),
    "mV": ("voltage", 1),
    "µV": ("voltage", 0.001),
    "uV": ("voltage", 0.001),
    "rmssd": ("variability", 1),
    "ms": ("variability", 1),
}
_TEMPERATURES = {
    "°C": _SAME,
    "degC": _SAME,
    "°F": Conversion(5 / 9, -160 / 9),
    "degF": Conversion(5 / 9, -160 / 9),
    "K": Conversion(1.0, -273.15),
}
_AMOUNTS = {
    "glucose": _GLUCOSE,
    "cholesterol": _CHOLESTEROL,
}


@lru_cache(maxsize=1024)
def find_unit_conversion(unit: str, to: str) -> Conversion | None:
    """Return the conversion between two units, or None."""
    if unit == to:
        return _SAME
    if to in _TEMPERATURES:
        return _TEMPERATURES.get(unit)
    source, target = _UNITS.get(unit), _UNITS.get(to)
    if source is None or target is None or source[0] != target[0]:
        return None
    return Conversion(source[1] / target[1])


def find_conversion_to_resource_unit(
    resource: TimeseriesResource, unit: str, *, type_: str | None = None
) -> Conversion | None:
    """Return the conversion from `unit` to the resource's unit, or None.

    Mass and moles of glucose and lipids convert. Source: Ours: a push converts nothing,
    files have the unit their owner reads.
    """
    molar = _AMOUNTS.get(resource.slug)
    if type_ == "triglycerides":
        molar = _TRIGLYCERIDES
    if molar is not None:
        if unit == "mg/dL":
            return Conversion(10 / molar)
        if unit.startswith("mmol<"):  # HealthKit: mmol<180.1558800000541>/L
            return _SAME
    return find_unit_conversion(unit, resource.unit)

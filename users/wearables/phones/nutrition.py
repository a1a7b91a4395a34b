"""Read meals of Health Connect's nutrition records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from users.states.imports import DropReason
from users.wearables.formats.uploads.forms import make_summary
from users.wearables.phones.records import clean_text, read_number

if TYPE_CHECKING:
    from datetime import datetime

    from users.wearables.formats.rows import Origin
    from users.wearables.phones.records import ReadBatch, Where

# MealType of Health Connect.
_MEALS = {1: "Breakfast", 2: "Lunch", 3: "Dinner", 4: "Snack"}
# Our nutrient and its name in the record, in grams. The contract states no unit of
# others: cholesterol, minerals and vitamins stay out, as milligrams would pass for
# grams.
_MACROS = {
    "carbs": "totalCarbohydrate",
    "protein": "protein",
    "fibre": "dietaryFiber",
    "sugar": "sugar",
}
_FATS = {
    "saturated": "saturatedFat",
    "monounsaturated": "monounsaturatedFat",
    "polyunsaturated": "polyunsaturatedFat",
    "total": "totalFat",
}


def read_meal(
    batch: ReadBatch,
    where: Where,
    type_: str,
    record: dict[str, Any],
    origin: Origin,
    start: datetime | None,
) -> None:
    """Add a meal of energy and macronutrients, with its name or its kind."""
    if start is None:
        batch.refuse(where, type_, DropReason.BAD_TIME)
        return
    energy = _walk(record, "energy", "inKilocalories")
    macros: dict[str, Any] = {
        ours: _walk(record, name, "inGrams") for ours, name in _MACROS.items()
    }
    macros["fats"] = _without_none(
        {ours: _walk(record, name, "inGrams") for ours, name in _FATS.items()}
    )
    kept = _without_none(macros)
    if energy is None and not kept:
        batch.refuse(where, type_, DropReason.NO_VALUE)
        return
    kind = record.get("mealType")
    name = clean_text(record.get("name")) or (
        _MEALS.get(kind, "Meal") if isinstance(kind, int) else "Meal"
    )
    element = {
        "timestamp": start.isoformat(),
        "name": name,
        "provider_id": where.id,
        "energy": None if energy is None else {"unit": "kcal", "value": energy},
        "macros": kept,
    }
    row = make_summary("meal", origin, element)
    batch.add_summary(where, type_, "meal", origin, row.element)


def _walk(record: dict[str, Any], name: str, unit: str) -> float | None:
    given = record.get(name)
    return read_number(given.get(unit)) if isinstance(given, dict) else None


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in values.items() if each not in (None, {})}

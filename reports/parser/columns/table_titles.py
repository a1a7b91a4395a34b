"""Titles of columns in company: what they mean beside each other, and do they head a
table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reports.parser.text.folding import normalize_letters_and_digits
from reports.parser.text.roles import (
    ZONES,
    Role,
    find_column_role,
    is_goal_range_title,
    is_name_column_title,
)

_TWO = 2
# Of a table's width, left of its titles where none stands over the names.
_ROOM = 0.3
# Beside no column for what is out of range these are a status, as on a card.
_INSIDE = frozenset(
    ["in range", "within range", "within normal range", "dentro de rango"]
)
_OUTSIDE = frozenset(
    [
        *("out of range", "outside range", "outside normal range", "abnormal"),
        *("fuera de rango", "fora da faixa", "fuori range", "hors norme"),
        *("out of range result", "abnormal result"),
    ]
)
# Results in one of two systems of units: the one that stands first is answered.
_OF_SYSTEM = frozenset(["si result", "si results", "si value"])


@dataclass(frozen=True, slots=True)
class Title:
    """A column's title: what it announces, its words and where they stand.

    unit is printed in it where every value below is in that unit.
    """

    role: Role
    text: str
    x0: float
    x1: float
    unit: str | None = None


def find_result_level_columns(
    titles: Sequence[Title], unknown: Sequence[Title]
) -> list[Title]:
    """Return columns of which one has the result, each for a level."""
    if any(
        title.role is Role.VALUE
        and normalize_letters_and_digits(title.text) not in ZONES
        for title in titles
    ):
        return []
    zones = [
        title
        for title in (*titles, *unknown)
        if normalize_letters_and_digits(title.text) in ZONES
    ]
    ranged = any(t.role is Role.RANGE and t not in zones for t in titles)
    return zones if len(zones) > 1 and ranged else []


def resolve_ambiguous_column_titles(titles: list[Title]) -> list[Title]:
    """Resolve titles that mean different things beside others."""
    titles = _with_results(titles)
    roles = {title.role for title in titles}
    settled: list[Title] = []
    bands = roles >= {Role.LOW, Role.HIGH}
    ranges = [title for title in titles if title.role is Role.RANGE]
    goals = [title for title in ranges if is_goal_range_title(title.text)]
    of_lab = len(ranges) > len(goals)
    outside = any(t.text in _OUTSIDE for t in titles)
    plain = any(t.role is Role.VALUE and not _is_of_kind(t) for t in titles)
    for title in titles:
        role = title.role
        if of_lab and title in goals:
            role = Role.OTHER
        if role in (Role.LOW, Role.HIGH) and (Role.RANGE in roles or not bands):
            role = Role.OTHER
        if role is Role.RANGE and title.text in ("normal", "normals"):
            abnormal = any(t.text == "abnormal" for t in titles)
            role = Role.VALUE if abnormal else role
        if (
            role is Role.VALUE
            and title.text == "abnormal"
            and not any(t.text in ("normal", "normals") for t in titles)
        ):
            role = Role.FLAG
        if role is Role.VALUE and title.text in _INSIDE and not outside:
            role = Role.OTHER
        if role is Role.VALUE and _is_of_kind(title) and plain:
            role = Role.OTHER
        if title.text in _OF_SYSTEM and Role.VALUE not in {t.role for t in settled}:
            role = Role.VALUE
        settled.append(replace(title, role=role))
    return settled


def _is_of_kind(title: Title) -> bool:
    """Whether a title of values says of which kind: 'Ct Value', beside 'Result'."""
    kind, _, value = title.text.rpartition(" ")
    return (
        bool(kind)
        and find_column_role(value) is Role.VALUE
        and find_column_role(title.text) is None
    )


def _with_results(titles: list[Title]) -> list[Title]:
    """Take 'Result (previous)' for the results where no other column has them."""
    held = [n for n, title in enumerate(titles) if title.role is Role.PREVIOUS]
    others = {title.role for title in titles}
    if len(held) != 1 or Role.VALUE in others or not others & {Role.UNIT, Role.RANGE}:
        return titles
    at = held[0]
    if find_column_role(titles[at].text.split()[0]) is not Role.VALUE:
        return titles
    return [*titles[:at], replace(titles[at], role=Role.VALUE), *titles[at + 1 :]]


def are_titles_of_result_table(titles: list[Title], unread: int) -> bool:
    """Return whether these titles, in this order, are of a table of results."""
    roles = [title.role for title in titles]
    kinds = set(roles)
    if Role.VALUE not in kinds:
        return kinds >= {Role.NAME, Role.UNIT, Role.RANGE}
    first = roles.index(Role.VALUE)
    names = [t for t in titles[:first] if t.role is Role.NAME]
    named = any(is_name_column_title(t.text) for t in names)
    if named and titles[first].x0 - max(t.x1 for t in names) < 6:
        return False
    if any(t.role is Role.NAME and t.text[:1].isdigit() for t in titles):
        return False
    beside = kinds & {Role.UNIT, Role.RANGE, Role.LOW, Role.FLAG, Role.PREVIOUS}
    beside |= kinds & {Role.SPECIMEN}
    if len({t.unit for t in titles if t.unit}) == _TWO:
        # Results in each of two units: 'Percent Values', 'Absolute Values (10^9/L)'.
        beside.add(Role.UNIT)
    if named:
        return bool(beside) or Role.METHOD in kinds or unread == 0
    beside.discard(Role.FLAG)
    if first == 0 and unread == 0 and beside:
        # Above names without a title of their own.
        return titles[0].x0 > _ROOM * titles[-1].x1
    if Role.METHOD in kinds and unread <= 2 and first > 0:
        return True
    if any(is_name_column_title(t.text) for t in titles[first:] if t.role is Role.NAME):
        return bool(beside) and unread <= 2
    return bool(beside) and unread <= 8 and first > 0

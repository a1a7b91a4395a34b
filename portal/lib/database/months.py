"""Marks of months: numbers that change with the rows of a month."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import date


class MonthMark(NamedTuple):
    """A number that changes with the rows of a month.

    Of the users of a tenant whose uuid begins with `prefix` (two hex digits). `month`
    is its first day, `number` how many rows there are; marks of several are joined by
    XOR.
    """

    tenant_pk: int
    prefix: str
    month: date
    number: int
    mark: int

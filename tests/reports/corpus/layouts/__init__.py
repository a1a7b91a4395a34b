"""The layouts of the corpus, one module a family; importing it fills the registry."""

from __future__ import annotations

from tests.reports.corpus.layouts import (
    europe,
    exports,
    india,
    india_clinics,
    india_profiles,
    not_reports,
    numbered,
    samples,
    traps,
    typesetting,
    uk_australia,
    us,
    us_hospitals,
    us_offices,
)

__all__ = [
    "europe",
    "exports",
    "india",
    "india_clinics",
    "india_profiles",
    "not_reports",
    "numbered",
    "samples",
    "traps",
    "typesetting",
    "uk_australia",
    "us",
    "us_hospitals",
    "us_offices",
]

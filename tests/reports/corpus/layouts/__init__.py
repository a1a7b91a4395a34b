"""The layouts of the corpus, one module a family; importing it fills the registry."""

from __future__ import annotations

from tests.reports.corpus.layouts import (
    europe,
    india,
    not_reports,
    uk_australia,
    us,
)

__all__ = ["europe", "india", "not_reports", "uk_australia", "us"]

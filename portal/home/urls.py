"""Paths of the landing page."""

from __future__ import annotations

urlpatterns: list[object] = []

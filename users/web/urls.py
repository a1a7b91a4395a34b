"""Paths; see portal/urls.py for where they are mounted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.urls import URLPattern

urlpatterns: list[URLPattern] = []

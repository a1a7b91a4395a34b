"""Reads of a tenant's provider of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import TextProvider

if TYPE_CHECKING:
    from accounts.models import Tenant


def find_text_provider(*, tenant: Tenant) -> TextProvider | None:
    """Return the tenant's provider of texts, or None. One query."""
    found: TextProvider | None = TextProvider.objects.for_tenant(tenant).first()
    return found

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


def are_texts_sent(*, tenant: Tenant) -> bool:
    """Return whether texts to a tenant's patients are sent, not only logged.

    Never in the sandbox; in production with a provider, unless the team turned texts
    off.
    """
    return (
        not tenant.is_sandbox
        and tenant.lab_tests_patient_sms_communication_enabled
        and find_text_provider(tenant=tenant) is not None
    )

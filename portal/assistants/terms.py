"""What the terms of sources let an assistant see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.gateways.sources import SOURCE_GATEWAYS
from users.states.terms import Permission, SourceUse
from users.wearables.providers import KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable

_REASONS = {
    Permission.FORBIDDEN: "terms_forbid_assistants",
    Permission.WITH_CONSENT: "terms_want_the_users_consent",
    Permission.UNKNOWN: "terms_do_not_say",
}


def find_source_exclusion(provider: str) -> str:
    """Return why a source's data is kept from assistants; empty where it is not.

    An unknown source is kept from them.

    Of a source without terms that bind us, such as a file or a phone, nothing is. Ours:
    no consent to this use is recorded, and what terms do not say they do not allow.
    """
    gateway = SOURCE_GATEWAYS.get(provider)
    if gateway is None:
        return "" if provider in KNOWN else "source_unknown"
    permissions = gateway.terms.permissions if gateway.terms else {}
    permission = permissions.get(SourceUse.ASSISTANTS, Permission.UNKNOWN)
    return _REASONS.get(permission, "")


def name_excluded_sources(providers: Iterable[str]) -> list[dict[str, str]]:
    """Return the sources among these that are left out, each with its reason."""
    return [
        {"slug": provider, "reason": reason}
        for provider in sorted(set(providers))
        if (reason := find_source_exclusion(provider))
    ]

"""The branding of a team: name, logo, color and how to reach it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accounts.models import Tenant

_COLOR = re.compile(r"[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class Brand:
    """Branding of a team (contract 9.2); `color` is six hexadecimal digits.

    What the team has not set is empty, but for the company's name, which is its own.
    """

    company: str
    logo_url: str = ""
    color: str = ""
    website: str = ""
    support_email: str = ""
    support_contact: str = ""


def find_team_branding(tenant: Tenant) -> Brand:
    """Return the branding of a team in one environment."""
    stored = tenant.brand_information or {}
    color = str(stored.get("brand_color") or "").removeprefix("#").lower()
    return Brand(
        company=stored.get("company_name") or tenant.team.name,
        logo_url=tenant.logo_url or "",
        color=color if _COLOR.fullmatch(color) else "",
        website=stored.get("company_website") or "",
        support_email=stored.get("support_email") or "",
        support_contact=stored.get("support_contact") or "",
    )
